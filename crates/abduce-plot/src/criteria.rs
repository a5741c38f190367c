//! The plot of a model selection: a criterion against the number of components, a line with its
//! marker for each covariance structure, and a ring around the best.

use super::look;
use super::panel::{Labels, Panel, single};
use super::sheet::{Frame, Key, legend_above, of_groups, sheet};
use super::svg::{Svg, Symbols, pixel};
use super::{Axis, Scale};
use crate::{Error, Result};

/// The values of a criterion for the candidate models.
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
    /// Whether the least value is the best, instead of the greatest.
    pub less_is_better: bool,
    /// A line for each kind of model.
    pub lines: Vec<Line>,
}

/// The values of a criterion for one kind of model.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The kind of model, such as the structure of its covariances.
    pub name: String,
    /// The number of components and the value, which is `None` if the fit failed.
    pub points: Vec<(f64, Option<f64>)>,
}

impl Line {
    /// The finite values, with their positions among the points.
    fn finite(&self) -> impl Iterator<Item = (usize, (f64, f64))> + '_ {
        let points = self.points.iter().enumerate();
        let points = points.filter_map(|(place, (x, y))| Some((place, (*x, (*y)?))));
        points.filter(|(_, (x, y))| x.is_finite() && y.is_finite())
    }
}

impl Criteria {
    /// The line and the point on it of the best value, the first of ties.
    pub fn best(&self) -> Option<(usize, usize)> {
        let sign = if self.less_is_better { 1.0 } else { -1.0 };
        let lines = self.lines.iter().enumerate();
        let all = lines.flat_map(|(number, line)| {
            let points = line.finite();
            points.map(move |(place, (_, y))| (sign * y, (number, place)))
        });
        all.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, best)| best)
    }

    /// The worst value that is drawn. A value more than [`FAR`] times as far from the best as
    /// the median is left out, as the others would be too close together.
    fn worst_drawn(&self) -> f64 {
        let sign = if self.less_is_better { 1.0 } else { -1.0 };
        let values = self.lines.iter().flat_map(Line::finite);
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

    /// A sentence about the values that are not drawn, if there are any.
    fn note_of_omitted(&self) -> String {
        let values = self.lines.iter().flat_map(Line::finite);
        match values.filter(|(_, (_, y))| !self.is_drawn(*y)).count() {
            0 => String::new(),
            1 => " 1 much worse value lies beyond the axis.".to_string(),
            omitted => format!(" {omitted} much worse values lie beyond the axis."),
        }
    }

    /// Draws a line and its symbols; a failed fit is a gap in the line.
    fn draw_line(&self, number: usize, svg: &mut Svg, panel: &Panel) {
        let line = &self.lines[number];
        let failed = |y: &Option<f64>| y.is_none_or(|y| !y.is_finite());
        svg.group(&look::class_of(number));
        for run in line.points.split(|(_, y)| failed(y)) {
            let points = run.iter().filter_map(|(x, y)| Some((*x, (*y)?)));
            if run.len() > 1 {
                svg.path("line", &panel.line(points, false));
            }
        }
        svg.group("key");
        let drawn = line.finite().filter(|(_, (_, y))| self.is_drawn(*y));
        for (x, y) in drawn.filter_map(|(_, (x, y))| panel.place(x, y)) {
            svg.symbol(number, x, y);
        }
        svg.close();
        svg.close();
    }
}

/// See [`Criteria::worst_drawn`]; for evenly spread values the factor is 2.
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
    let caption = format!("{best}{}", criteria.note_of_omitted());
    let better = if criteria.less_is_better {
        "less is better"
    } else {
        "more is better"
    };
    let description = format!("{} against the number of components. {best}", criteria.name);
    let (mut svg, mut room) = sheet(
        frame,
        &description,
        &caption,
        Symbols::new(criteria.lines.len()),
    );
    let lines = criteria.lines.iter();
    let names: Vec<String> = lines.clone().map(|line| line.name.clone()).collect();
    legend_above(&mut svg, &of_groups(&names, Key::Both), &mut room);
    let points = lines.flat_map(Line::finite).map(|(_, at)| at);
    let points: Vec<(f64, f64)> = points.collect();
    let x = Axis::covering(points.iter().map(|at| at.0), Scale::Linear);
    let drawn = points
        .iter()
        .map(|at| at.1)
        .filter(|y| criteria.is_drawn(*y));
    let y = Axis::covering(drawn, Scale::Linear);
    let across = Labels {
        name: "number of components",
        numbers: true,
        whole: true,
    };
    let upward = format!("{} ({better})", criteria.name);
    let panel = single(&mut svg, room, (x, y), across, &upward);
    panel.open(&mut svg);
    for number in 0..criteria.lines.len() {
        criteria.draw_line(number, &mut svg, &panel);
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
