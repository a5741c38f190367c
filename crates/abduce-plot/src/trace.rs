//! The progress of a fit: the log-likelihood, or another objective, before each iteration and at
//! the end, and whether the fit converged.

use super::panel::{Labels, single};
use super::sheet::{Frame, sheet};
use super::svg::{Symbols, pixel};
use super::{Axis, Scale};
use crate::{Error, Result};

/// The progress of a fit.
///
/// ```
/// use abduce_plot::{Frame, Trace, trace};
/// let fit = Trace {
///     name: "log-likelihood",
///     values: &[Some(-9.0), Some(-5.0), Some(-4.8)],
///     iterations: 2,
///     converged: true,
/// };
/// assert!(trace(&Frame::new("Fit"), &fit)?.contains("converged after 2 iterations"));
/// # Ok::<(), abduce_plot::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trace<'a> {
    /// The name of the values.
    pub name: &'a str,
    /// The values before each iteration and at the end; `None` if one is not finite.
    pub values: &'a [Option<f64>],
    /// The number of iterations.
    pub iterations: usize,
    /// Whether the fit converged.
    pub converged: bool,
}

/// Draws the progress of a fit.
///
/// # Errors
/// If there is no value to draw.
pub fn trace(frame: &Frame, trace: &Trace) -> Result<String> {
    let values = trace.values.iter().enumerate();
    let finite = values.filter_map(|(k, y)| Some((k as f64, (*y).filter(|y| y.is_finite())?)));
    let finite: Vec<(f64, f64)> = finite.collect();
    let Some((iteration, last)) = finite.last().copied() else {
        return Err(Error::new(format!(
            "there is no finite {} to draw",
            trace.name
        )));
    };
    let caption = trace.caption(last);
    let (mut svg, room) = sheet(frame, &caption, &caption, Symbols::new(1));
    let across = Labels {
        name: "iteration",
        numbers: true,
        whole: true,
    };
    let x = Axis::covering(finite.iter().map(|at| at.0), Scale::Linear);
    let y = Axis::covering(finite.iter().map(|at| at.1), Scale::Linear);
    let panel = single(&mut svg, room, (x, y), across, trace.name);
    svg.group("c0");
    let points: Vec<(usize, &Option<f64>)> = trace.values.iter().enumerate().collect();
    for run in points.split(|(_, y)| y.is_none()) {
        let points = run.iter().filter_map(|(k, y)| Some((*k as f64, (**y)?)));
        if run.len() > 1 {
            svg.path("line", &panel.line(points, false));
        }
    }
    // With more values than this, symbols would merge into a thick line.
    const MARKED: usize = 60;
    let marked = if finite.len() > MARKED {
        &finite[finite.len() - 1..]
    } else {
        &finite[..]
    };
    svg.group("key");
    for (x, y) in marked.iter().filter_map(|(x, y)| panel.place(*x, *y)) {
        svg.symbol(0, x, y);
    }
    svg.close();
    svg.close();
    if let Some((x, y)) = panel.place(iteration, last) {
        svg.group("total");
        let (left, y) = (pixel(x - 7.0), pixel(y));
        svg.path(
            "best",
            &format!("M{left} {y}a7 7 0 1 0 14 0a7 7 0 1 0-14 0Z"),
        );
        svg.close();
    }
    Ok(svg.finish())
}

impl Trace<'_> {
    /// A sentence about the outcome of the fit and its last value.
    fn caption(&self, last: f64) -> String {
        let iterations = match self.iterations {
            1 => "1 iteration".to_string(),
            many => format!("{many} iterations"),
        };
        let outcome = match (self.converged, self.values.len()) {
            (true, 1) => "was computed at once, without iterations".to_string(),
            (true, _) => format!("converged after {iterations}"),
            (false, _) => format!("had not converged after {iterations}"),
        };
        let end = super::axes::number(last, last.abs() * 1e-6);
        format!("The fit {outcome}; {} {end}.", self.name)
    }
}
