//! What a model was chosen by: a criterion against the number of components, a line
//! with a marker of its own for each covariance structure, and a ring around the best.

use super::look;
use super::panel::{Labels, single};
use super::sheet::{Frame, Key, legend_above, of_groups, sheet};
use super::svg::{Symbols, pixel};
use super::{Axis, Scale};
use crate::{Error, Result};

/// The values of a criterion for the models that were tried.
///
/// ```
/// use abduce_plot::{Criteria, Frame, Line, criteria};
/// let tried = Criteria {
///     name: "BIC".into(),
///     less_is_better: true,
///     lines: vec![Line {
///         name: "VVV".into(),
///         points: vec![(1.0, Some(2607.6)), (2.0, Some(2322.2)), (3.0, None)],
///     }],
/// };
/// assert_eq!(tried.best(), Some((0, 1)));
/// assert!(criteria(&Frame::new("Choice"), &tried)?.contains("VVV"));
/// # Ok::<(), abduce_plot::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Criteria {
    /// The name of the criterion.
    pub name: String,
    /// Whether the least value is the best, and not the greatest.
    pub less_is_better: bool,
    /// A line for each kind of model.
    pub lines: Vec<Line>,
}

/// The values of a criterion for one kind of model.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The kind of model, such as the structure of its covariances.
    pub name: String,
    /// The number of components and the value, which is nothing where the fit failed.
    pub points: Vec<(f64, Option<f64>)>,
}

impl Line {
    fn seen(&self) -> impl Iterator<Item = (usize, (f64, f64))> + '_ {
        let points = self.points.iter().enumerate();
        let seen = points.filter_map(|(place, (x, y))| Some((place, (*x, (*y)?))));
        seen.filter(|(_, (x, y))| x.is_finite() && y.is_finite())
    }
}

impl Criteria {
    /// The line and the point on it of the best value, the first of equals.
    pub fn best(&self) -> Option<(usize, usize)> {
        let sign = if self.less_is_better { 1.0 } else { -1.0 };
        let lines = self.lines.iter().enumerate();
        let all = lines.flat_map(|(number, line)| {
            let seen = line.seen();
            seen.map(move |(place, (_, y))| (sign * y, (number, place)))
        });
        all.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, best)| best)
    }

    /// The worst value that is drawn. Values more than [`FAR`] times as far from the best as
    /// the median value is would press all others together, and are left out.
    fn worst_drawn(&self) -> f64 {
        let sign = if self.less_is_better { 1.0 } else { -1.0 };
        let values = self.lines.iter().flat_map(Line::seen);
        let mut losses: Vec<f64> = values.map(|(_, (_, y))| sign * y).collect();
        losses.sort_by(f64::total_cmp);
        let (Some(best), Some(worst)) = (losses.first(), losses.last()) else {
            return 0.0;
        };
        let median = losses[losses.len() / 2];
        if median == *best {
            return sign * worst;
        }
        sign * worst.min(best + FAR * (median - best))
    }

    fn is_drawn(&self, value: f64) -> bool {
        let worst = self.worst_drawn();
        if self.less_is_better {
            value <= worst
        } else {
            value >= worst
        }
    }
}

/// See [`Criteria::worst_drawn`]: of numbers spread evenly, the worst is twice as far from
/// the best as the median is.
const FAR: f64 = 3.0;

/// Draws a criterion against the number of components.
///
/// # Errors
/// If there is no value to draw.
pub fn criteria(frame: &Frame, criteria: &Criteria) -> Result<String> {
    let Some((line, place)) = criteria.best() else {
        return Err(Error::new("there is no value of a criterion to draw"));
    };
    let (components, value) = criteria.lines[line].points[place];
    let best = format!(
        "Best {}: {}, {components} components, {}.",
        criteria.name,
        criteria.lines[line].name,
        super::axes::number(value.unwrap_or_default(), 0.1),
    );
    let left_out = criteria.lines.iter().flat_map(Line::seen);
    let left_out = left_out
        .filter(|(_, (_, y))| !criteria.is_drawn(*y))
        .count();
    let caption = match left_out {
        0 => best.clone(),
        1 => format!("{best} 1 much worse value lies beyond the axis."),
        _ => format!("{best} {left_out} much worse values lie beyond the axis."),
    };
    let better = match criteria.less_is_better {
        true => "less is better",
        false => "more is better",
    };
    let description = format!("{} against the number of components. {best}", criteria.name);
    let (mut svg, mut room) = sheet(
        frame,
        &description,
        &caption,
        Symbols::new(criteria.lines.len()),
    );
    let names: Vec<String> = criteria.lines.iter().map(|own| own.name.clone()).collect();
    legend_above(&mut svg, &of_groups(&names, Key::Both), &mut room);
    let all = || {
        criteria
            .lines
            .iter()
            .flat_map(|line| line.seen().map(|(_, at)| at))
    };
    let x = Axis::covering(all().map(|at| at.0), Scale::Linear);
    let drawn = all().map(|at| at.1).filter(|y| criteria.is_drawn(*y));
    let y = Axis::covering(drawn, Scale::Linear);
    let across = Labels {
        name: "number of components",
        numbers: true,
        whole: true,
    };
    let upward = format!("{} ({better})", criteria.name);
    let panel = single(&mut svg, room, (x, y), across, &upward);
    panel.open(&mut svg);
    for (number, own) in criteria.lines.iter().enumerate() {
        svg.group(&look::class_of(number));
        // A fit that failed is a gap in its line.
        for run in own.points.split(|(_, y)| y.is_none_or(|y| !y.is_finite())) {
            let points = run.iter().filter_map(|(x, y)| Some((*x, (*y)?)));
            if run.len() > 1 {
                svg.path("line", &panel.line(points, false));
            }
        }
        svg.group("key");
        let drawn = own.seen().filter(|(_, (_, y))| criteria.is_drawn(*y));
        for (x, y) in drawn.filter_map(|(_, (x, y))| panel.place(x, y)) {
            svg.symbol(number, x, y);
        }
        svg.close();
        svg.close();
    }
    svg.close();
    if let Some((x, y)) = value.and_then(|value| panel.place(components, value)) {
        let (left, y) = (pixel(x - 9.0), pixel(y));
        svg.group("total");
        svg.path(
            "best",
            &format!("M{left} {y}a9 9 0 1 0 18 0a9 9 0 1 0-18 0Z"),
        );
        svg.close();
    }
    Ok(svg.finish())
}
