//! Which group each row is in: colour and symbol say it, and for Gaussian groups a cross
//! says the mean and ellipses where half and nine tenths of the group are. One
//! column alone is drawn as densities, with a strip of rows for each group below.

use super::Cloud;
use super::curves::Shape;
use super::look;
use super::panel::{BELOW, Labels, Panel, single};
use super::scatter::{described, pairs, places};
use super::sheet::{Frame, Key, Room, legend_above, of_groups, sheet};
use super::svg::{Svg, Symbols, pixel};
use crate::Result;
use std::fmt::Write;

/// The share of a group within its inner ellipse.
pub(super) const INNER: f64 = 0.5;
/// The share of a group within its outer ellipse.
pub(super) const OUTER: f64 = 0.9;

/// Draws which group each row is in; two columns at a time where there are more.
///
/// # Errors
/// If the parts of the cloud do not fit together.
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

/// What is said of crosses and ellipses, where there are any.
pub(super) fn caption(cloud: &Cloud) -> &'static str {
    let mut means = cloud.gaussians.iter().flat_map(|own| &own.mean);
    if has_ellipses(cloud) {
        ELLIPSES
    } else if means.any(Option::is_some) {
        "A cross is the centre of a group."
    } else {
        ""
    }
}

/// What is said where there are ellipses.
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

/// The ellipses and means of groups that are Gaussian in two columns.
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

/// One column: densities, and below them the rows of each group.
fn strips(frame: &Frame, cloud: &Cloud, description: &str) -> String {
    let (mut svg, mut room) = sheet(frame, description, "", Symbols::new(0));
    let variable = &cloud.variables[0];
    let several = variable
        .marginal
        .as_ref()
        .is_some_and(|own| own.groups.len() > 1);
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
    let across = Labels {
        name: "",
        numbers: false,
        whole: variable.whole,
    };
    let axes = (cloud.axis(0), shape.upward());
    let upward = if variable.whole {
        "probability"
    } else {
        "density"
    };
    // The numbers of this panel stand below the strips, in the room it leaves.
    let panel = single(&mut svg, upper, axes, across, upward);
    panel.open(&mut svg);
    shape.draw(&mut svg, &panel);
    svg.close();
    let top = panel.room.top + panel.room.height + 8.0;
    for group in 0..cloud.groups.len() {
        let mut d = String::new();
        let y = top + strip * group as f64;
        for (row, x) in variable.values.iter().enumerate() {
            let at = x.and_then(|x| panel.across(x));
            if let (Some(x), true) = (at, cloud.group_of(row) == group) {
                let _ = write!(d, "M{} {}v{}", pixel(x), pixel(y), pixel(strip - 3.0));
            }
        }
        svg.group(&look::class_of(group));
        svg.path("strip", &d);
        svg.close();
    }
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
