//! The density of a model: of two columns as highest-density regions with given masses; of one
//! column as a curve over the histogram of the rows, with the contribution of each group.

use super::curves::Shape;
use super::panel::{Labels, Panel};
use super::scatter::{described, pairs, places};
use super::sheet::{Frame, Key, Legend, legend_above, of_groups, sheet};
use super::svg::{Svg, Symbols, pixel};
use super::{Cloud, Surface};
use crate::{Error, Result};
use std::fmt::Write;

/// The masses within the contours, from the outermost.
const SHARES: [f64; 5] = [0.95, 0.8, 0.6, 0.4, 0.2];

const CAPTION: &str = "Contours hold 20, 40, 60, 80 and 95 % of the model's mass.";

/// Draws the density of a model and the rows, two columns at a time. There must be a surface
/// for each pair of columns, with the earlier one on the horizontal axis; a single column needs
/// its marginal density instead.
///
/// # Errors
/// If the cloud or a grid is invalid, or a density is missing.
pub fn density(frame: &Frame, cloud: &Cloud, surfaces: &[Surface]) -> Result<String> {
    cloud.check()?;
    surfaces
        .iter()
        .try_for_each(|surface| surface.density.check())?;
    let description = described("Density", cloud);
    if cloud.variables.len() == 1 {
        return curve(frame, cloud, &description);
    }
    let of_pair = |x: usize, y: usize| {
        surfaces
            .iter()
            .find(|surface| (surface.x, surface.y) == (x, y))
    };
    for y in 0..cloud.variables.len() {
        if let Some(x) = (0..y).find(|x| of_pair(*x, y).is_none()) {
            return Err(no_density(
                &cloud.variables[x].name,
                &cloud.variables[y].name,
            ));
        }
    }
    let legend = match cloud.variables.len() {
        2 => Legend::new(),
        _ => curve_legend(cloud, 0, false),
    };
    let texts = (description.as_str(), CAPTION);
    Ok(pairs(frame, cloud, texts, &legend, |svg, panel, x, y| {
        if let Some(surface) = of_pair(x, y) {
            contours(svg, panel, surface);
        }
        let mut dots = String::new();
        for (_, (x, y)) in places(cloud, panel, x, y) {
            let _ = write!(dots, "M{} {}h0", pixel(x), pixel(y));
        }
        svg.path("dots", &dots);
    }))
}

fn no_density(x: &str, y: &str) -> Error {
    Error::new(format!("the density of {x} and {y} is missing"))
}

fn contours(svg: &mut Svg, panel: &Panel, surface: &Surface) {
    svg.group("c0");
    for share in SHARES {
        let Some(level) = surface.density.level_of_mass(share) else {
            continue;
        };
        let rings = surface.density.contour(level);
        let paths = rings.into_iter().map(|ring| panel.line(ring, true));
        svg.path("level", &paths.collect::<String>());
    }
    svg.close();
}

/// The legend of the curves of a column.
fn curve_legend(cloud: &Cloud, variable: usize, bars: bool) -> Legend {
    let marginal = cloud.variables[variable].marginal.as_ref();
    let several = marginal.is_some_and(|marginal| marginal.groups.len() > 1);
    let mut legend = if several {
        of_groups(&cloud.groups, Key::Line)
    } else {
        Legend::new()
    };
    legend.push((Key::Total, if several { "all" } else { "model" }.into()));
    if bars {
        legend.push((Key::Bar, "rows".into()));
    }
    legend
}

fn curve(frame: &Frame, cloud: &Cloud, description: &str) -> Result<String> {
    let variable = &cloud.variables[0];
    if variable.marginal.is_none() {
        let missing = format!("the density of {} is missing", variable.name);
        return Err(Error::new(missing));
    }
    let (mut svg, mut room) = sheet(frame, description, "", Symbols::new(0));
    let shape = Shape::with_bars(cloud, 0);
    let legend = curve_legend(cloud, 0, !shape.bars.is_empty());
    legend_above(&mut svg, &legend, &mut room);
    let across = Labels {
        name: &variable.name,
        numbers: true,
        whole: variable.whole,
    };
    shape.draw_single(&mut svg, cloud, room, across);
    Ok(svg.finish())
}
