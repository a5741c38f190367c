//! How a fit went: the log-likelihood, or what else was to rise or fall, before each
//! iteration and at the end, and whether it converged.

use super::panel::{Labels, single};
use super::sheet::{Frame, sheet};
use super::svg::{Symbols, pixel};
use super::{Axis, Scale};
use crate::{Error, Result};

/// How a fit went.
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
    /// What the values are.
    pub name: &'a str,
    /// The values before each iteration and at the end; nothing where one is not
    /// finite.
    pub values: &'a [Option<f64>],
    /// The number of iterations.
    pub iterations: usize,
    /// Whether the fit converged.
    pub converged: bool,
}

/// Draws how a fit went.
///
/// # Errors
/// If there is no value to draw.
pub fn trace(frame: &Frame, trace: &Trace) -> Result<String> {
    let values = trace.values.iter().enumerate();
    let seen = values.filter_map(|(k, y)| Some((k as f64, (*y).filter(|y| y.is_finite())?)));
    let seen: Vec<(f64, f64)> = seen.collect();
    let Some((_, last)) = seen.last().copied() else {
        return Err(Error::new(format!(
            "there is no finite {} to draw",
            trace.name
        )));
    };
    let iterations = match trace.iterations {
        1 => "1 iteration".to_string(),
        many => format!("{many} iterations"),
    };
    let how = match (trace.converged, trace.values.len()) {
        (true, 1) => "computed at once, without iterations".to_string(),
        (true, _) => format!("converged after {iterations}"),
        (false, _) => format!("not converged after {iterations}"),
    };
    let end = super::axes::number(last, last.abs() * 1e-6);
    let told = format!(
        "The fit {}; {} {end}.",
        match trace.converged {
            true if trace.values.len() == 1 => format!("was {how}"),
            true => how,
            false => format!("had {how}"),
        },
        trace.name
    );
    let (mut svg, room) = sheet(frame, &told, &told, Symbols::new(1));
    let across = Labels {
        name: "iteration",
        numbers: true,
        whole: true,
    };
    let x = Axis::covering(seen.iter().map(|at| at.0), Scale::Linear);
    let y = Axis::covering(seen.iter().map(|at| at.1), Scale::Linear);
    let panel = single(&mut svg, room, (x, y), across, trace.name);
    svg.group("c0");
    for run in trace
        .values
        .iter()
        .enumerate()
        .collect::<Vec<_>>()
        .split(|(_, y)| y.is_none())
    {
        let points = run.iter().filter_map(|(k, y)| Some((*k as f64, (**y)?)));
        if run.len() > 1 {
            svg.path("line", &panel.line(points, false));
        }
    }
    // Hundreds of symbols would only be a thick line.
    const MARKED: usize = 60;
    let marked = if seen.len() > MARKED {
        &seen[seen.len() - 1..]
    } else {
        &seen[..]
    };
    svg.group("key");
    for (x, y) in marked.iter().filter_map(|(x, y)| panel.place(*x, *y)) {
        svg.symbol(0, x, y);
    }
    svg.close();
    svg.close();
    if let Some((x, y)) = panel.place(seen[seen.len() - 1].0, last) {
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
