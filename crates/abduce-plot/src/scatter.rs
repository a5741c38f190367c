//! Scatter plots of pairs of columns: one panel for two columns, a triangle of panels for more,
//! with the density of each column on the diagonal. Each plot draws the contents of its panels.

use super::curves;
use super::panel::{Corner, Labels, Panel, single};
use super::sheet::{Frame, Legend, legend_above, legend_in, sheet};
use super::svg::{Svg, Symbols};
use super::{Axis, Cloud};

/// With more rows than this, symbols are small.
const CROWD: usize = 1500;

/// A plot of two or more columns; `draw` draws the contents of the panel of two columns.
pub(super) fn pairs(
    frame: &Frame,
    cloud: &Cloud,
    (description, caption): (&str, &str),
    legend: &Legend,
    draw: impl Fn(&mut Svg, &Panel, usize, usize),
) -> String {
    let variables = &cloud.variables;
    let symbols = Symbols {
        count: cloud.groups.len().max(1),
        small: variables.len() > 2 || cloud.rows() > CROWD,
    };
    let (mut svg, mut room) = sheet(frame, description, caption, symbols);
    let axis = |variable: usize| cloud.axis(variable);
    if variables.len() == 2 {
        legend_above(&mut svg, legend, &mut room);
        let across = Labels {
            name: &variables[0].name,
            numbers: true,
            whole: false,
        };
        let panel = single(
            &mut svg,
            room,
            (axis(0), axis(1)),
            across,
            &variables[1].name,
        );
        panel.open(&mut svg);
        draw(&mut svg, &panel, 0, 1);
        svg.close();
        return svg.finish();
    }
    let names: Vec<&str> = variables
        .iter()
        .map(|variable| variable.name.as_str())
        .collect();
    let axes: Vec<Axis> = (0..variables.len()).map(axis).collect();
    let corner = Corner::new(axes, room);
    for row in 0..variables.len() {
        for column in 0..row {
            let panel = corner.pair(&mut svg, column, row, &names);
            panel.open(&mut svg);
            svg.group("small");
            draw(&mut svg, &panel, column, row);
            svg.close();
            svg.close();
        }
        let shape = curves::Shape::of(cloud, row);
        let panel = corner.diagonal(&mut svg, row, shape.upward(), &names);
        panel.open(&mut svg);
        shape.draw(&mut svg, &panel);
        svg.close();
    }
    legend_in(&mut svg, legend, corner.free());
    svg.finish()
}

/// The rows that can be drawn in a panel, with their positions.
pub(super) fn places<'a>(
    cloud: &'a Cloud,
    panel: &'a Panel,
    x: usize,
    y: usize,
) -> impl Iterator<Item = (usize, (f64, f64))> + 'a {
    let (x, y) = (&cloud.variables[x], &cloud.variables[y]);
    (0..cloud.rows()).filter_map(move |row| {
        let place = panel.place(x.drawn_at(row, false)?, y.drawn_at(row, true)?)?;
        Some((row, place))
    })
}

/// The description of a plot of rows for screen readers.
pub(super) fn described(what: &str, cloud: &Cloud) -> String {
    let variables = cloud.variables.iter();
    let names: Vec<&str> = variables.map(|variable| variable.name.as_str()).collect();
    let mut text = format!("{what} of {}, {} rows", names.join(", "), cloud.rows());
    if !cloud.group.is_empty() {
        let mut counts = vec![0; cloud.groups.len()];
        cloud.group.iter().for_each(|group| counts[*group] += 1);
        let groups = cloud.groups.iter().zip(counts).take(24);
        let groups: Vec<String> = groups
            .map(|(name, rows)| format!("{name}: {rows}"))
            .collect();
        text.push_str(&format!(
            " in {} groups ({})",
            cloud.groups.len(),
            groups.join(", ")
        ));
    }
    text
}
