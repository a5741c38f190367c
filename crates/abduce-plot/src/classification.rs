//! The classification plot: each row with the colour and symbol of its group, and for Gaussian
//! groups a cross at the mean and ellipses that contain 50 % and 90 % of the mass. A single
//! column is drawn as densities, with a strip of rows for each group below.

use super::Cloud;
use super::curves::Shape;
use super::look;
use super::panel::{BELOW, Labels, Panel};
use super::scatter::{described, pairs, places};
use super::sheet::{Frame, Key, Room, legend_above, of_groups, sheet};
use super::svg::{Svg, Symbols, pixel};
use crate::Result;
use std::fmt::Write;

/// The mass of a group within its inner ellipse.
pub(super) const INNER: f64 = 0.5;
/// The mass of a group within its outer ellipse.
pub(super) const OUTER: f64 = 0.9;

/// Draws the rows with their groups, two columns at a time if there are more.
///
/// # Errors
/// If the cloud is [invalid](Cloud::check).
pub fn classification(frame: &Frame, cloud: &Cloud) -> Result<String> {
    cloud.check()?;
    let description = described("Classification", cloud);
    if cloud.variables.len() == 1 {
        return Ok(strips(frame, cloud, &description));
    }
    let caption = caption(cloud);
    let legend = of_groups(&cloud.groups, Key::Symbol);
    Ok(pairs(
        frame,
        cloud,
        (&description, caption),
        &legend,
        |svg, panel, x, y| {
            let places: Vec<_> = places(cloud, panel, x, y).collect();
            for group in 0..cloud.groups.len().max(1) {
                svg.group(&format!("{} points", look::class_of(group)));
                for (row, (x, y)) in &places {
                    if cloud.group_of(*row) == group {
                        svg.symbol(group, *x, *y);
                    }
                }
                svg.close();
            }
            ellipses(svg, panel, cloud, x, y);
        },
    ))
}

/// The caption about crosses and ellipses, if there are any.
pub(super) fn caption(cloud: &Cloud) -> &'static str {
    let mut means = cloud.gaussians.iter().flat_map(|group| &group.mean);
    if has_ellipses(cloud) {
        ELLIPSES
    } else if means.any(Option::is_some) {
        "A cross is the centre of a group."
    } else {
        ""
    }
}

/// The caption about ellipses.
const ELLIPSES: &str = "Ellipses hold 50 % and 90 % of a group, a cross is its mean.";

/// Whether any group is Gaussian in two of the columns.
fn has_ellipses(cloud: &Cloud) -> bool {
    let columns = 0..cloud.variables.len();
    let mut pairs = columns
        .clone()
        .flat_map(|x| columns.clone().map(move |y| (x, y)));
    pairs.any(|(x, y)| {
        let mut all = cloud.gaussians.iter();
        x < y && all.any(|group| group.ellipse(x, y, INNER).is_some())
    })
}

/// Draws the ellipses and means of groups that are Gaussian in two columns.
pub(super) fn ellipses(svg: &mut Svg, panel: &Panel, cloud: &Cloud, x: usize, y: usize) {
    for (number, gaussian) in cloud.gaussians.iter().enumerate() {
        svg.group(&look::class_of(number));
        for mass in [OUTER, INNER] {
            if let Some(ring) = gaussian.ellipse(x, y, mass) {
                svg.path("ellipse", &panel.line(ring, true));
            }
        }
        svg.close();
    }
    for gaussian in &cloud.gaussians {
        let mean = |variable: usize| gaussian.mean.get(variable).copied().flatten();
        let (Some(x), Some(y)) = (mean(x), mean(y)) else {
            continue;
        };
        let inside =
            |axis: &super::Axis, x| axis.fraction(x).is_some_and(|f| (0.0..=1.0).contains(&f));
        if let (true, true, Some((x, y))) =
            (inside(&panel.x, x), inside(&panel.y, y), panel.place(x, y))
        {
            let (l, m, t) = (pixel(x - 4.0), pixel(x), pixel(y - 4.0));
            let cross = format!("M{l} {}h8M{m} {t}v8", pixel(y));
            svg.path("halo", &cross);
            svg.path("mean", &cross);
        }
    }
}

/// A single column: densities, and below them the rows of each group.
fn strips(frame: &Frame, cloud: &Cloud, description: &str) -> String {
    let (mut svg, mut room) = sheet(frame, description, "", Symbols::new(0));
    let variable = &cloud.variables[0];
    let marginal = variable.marginal.as_ref();
    let several = marginal.is_some_and(|marginal| marginal.groups.len() > 1);
    let mut legend = of_groups(&cloud.groups, Key::Line);
    if several {
        legend.push((Key::Total, "all".into()));
    }
    legend_above(&mut svg, &legend, &mut room);
    let strip = 16.0_f64.min(0.4 * room.height / cloud.groups.len().max(1) as f64);
    let below = strip * cloud.groups.len() as f64 + 8.0;
    let shape = Shape::of(cloud, 0);
    let upper = Room {
        height: (room.height - below).max(BELOW + 10.0),
        ..room
    };
    // The numbers of the axis are written below the strips, outside of this panel.
    let across = Labels {
        name: "",
        numbers: false,
        whole: variable.whole,
    };
    let panel = shape.draw_single(&mut svg, cloud, upper, across);
    let top = panel.room.top + panel.room.height + 8.0;
    draw_strips(&mut svg, cloud, &panel, top, strip);
    let numbers = Panel {
        room: Room {
            top,
            height: below - 8.0,
            ..panel.room
        },
        x: panel.x,
        y: super::Axis::between(0.0, 1.0),
    };
    numbers.number_across(
        &mut svg,
        Labels {
            name: &variable.name,
            numbers: true,
            whole: variable.whole,
        },
    );
    svg.finish()
}

/// Draws the rows of each group as lines in a strip of some height.
fn draw_strips(svg: &mut Svg, cloud: &Cloud, panel: &Panel, top: f64, height: f64) {
    for group in 0..cloud.groups.len() {
        let mut d = String::new();
        let y = top + height * group as f64;
        for (row, x) in cloud.variables[0].values.iter().enumerate() {
            let at = x.and_then(|x| panel.across(x));
            if let (Some(x), true) = (at, cloud.group_of(row) == group) {
                let _ = write!(d, "M{} {}v{}", pixel(x), pixel(y), pixel(height - 3.0));
            }
        }
        svg.group(&look::class_of(group));
        svg.path("strip", &d);
        svg.close();
    }
}
