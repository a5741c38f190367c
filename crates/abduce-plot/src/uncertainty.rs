//! The uncertainty of the groups: symbols are larger and darker for more uncertain rows, from 0
//! to 1 − 1/groups, and these are drawn last. A single column is drawn with the uncertainty on
//! the vertical axis.

use super::classification::{self, ellipses};
use super::look;
use super::panel::{Labels, single};
use super::scatter::{described, pairs, places};
use super::sheet::{Frame, Key, legend_above, of_groups, sheet};
use super::svg::Symbols;
use super::{Axis, Cloud};
use crate::{Error, Result};

/// Draws the rows with the uncertainty of their groups.
///
/// # Errors
/// If the cloud is [invalid](Cloud::check), or its uncertainties are missing or not from 0 to 1.
pub fn uncertainty(frame: &Frame, cloud: &Cloud) -> Result<String> {
    cloud.check()?;
    let valid = cloud.uncertainty.iter().all(|u| (0.0..=1.0).contains(u));
    if cloud.uncertainty.len() != cloud.rows() || !valid {
        return Err(Error::new(
            "a plot of uncertainty needs a number from 0 to 1 for each row",
        ));
    }
    let description = described("Uncertainty", cloud);
    let mut order: Vec<usize> = (0..cloud.rows()).collect();
    order.sort_by(|a, b| cloud.uncertainty[*a].total_cmp(&cloud.uncertainty[*b]));
    let mut legend = of_groups(&cloud.groups, Key::Symbol);
    if cloud.variables.len() == 1 {
        return Ok(upward(frame, cloud, &description, &order));
    }
    let groups = cloud.groups.len();
    for share in [0.0, 0.5, 1.0] {
        let (scale, opacity) = look_of(share);
        let uncertainty = most(groups) * share;
        let name = if share == 0.0 { "uncertainty " } else { "" };
        legend.push((
            Key::Sized(scale, opacity),
            format!("{name}{uncertainty:.2}"),
        ));
    }
    let caption = format!("{UNCERTAINTY} {}", classification::caption(cloud));
    let caption = caption.trim_end().to_string();
    Ok(pairs(
        frame,
        cloud,
        (&description, &caption),
        &legend,
        |svg, panel, x, y| {
            ellipses(svg, panel, cloud, x, y);
            let mut place = vec![None; cloud.rows()];
            places(cloud, panel, x, y).for_each(|(row, at)| place[row] = Some(at));
            for row in &order {
                let Some((x, y)) = place[*row] else { continue };
                let group = cloud.group_of(*row);
                let (scale, opacity) = look_of(cloud.uncertainty[*row] / most(groups));
                let class = format!("{} points", look::class_of(group));
                svg.scaled_symbol(&class, group, (x, y), scale, opacity);
            }
        },
    ))
}

const UNCERTAINTY: &str = "Uncertainty is 1 minus the probability of the row's group.";

/// The greatest possible uncertainty.
fn most(groups: usize) -> f64 {
    if groups > 1 {
        1.0 - 1.0 / groups as f64
    } else {
        1.0
    }
}

/// The scale and opacity of symbols for a share of the greatest uncertainty.
fn look_of(share: f64) -> (f64, f64) {
    let share = share.clamp(0.0, 1.0);
    (0.6 + 1.6 * share, 0.45 + 0.55 * share)
}

/// A single column, with the uncertainty on the vertical axis.
fn upward(frame: &Frame, cloud: &Cloud, description: &str, order: &[usize]) -> String {
    let (mut svg, mut room) = sheet(
        frame,
        description,
        UNCERTAINTY,
        Symbols::new(cloud.groups.len()),
    );
    legend_above(&mut svg, &of_groups(&cloud.groups, Key::Symbol), &mut room);
    let variable = &cloud.variables[0];
    let highest = cloud.uncertainty.iter().copied().fold(0.0, f64::max);
    let highest = if highest > 0.0 {
        highest
    } else {
        most(cloud.groups.len())
    };
    let across = Labels {
        name: &variable.name,
        numbers: true,
        whole: variable.whole,
    };
    let axes = (
        cloud.axis(0),
        Axis::between(-0.03 * highest, 1.06 * highest),
    );
    let panel = single(&mut svg, room, axes, across, "uncertainty");
    panel.open(&mut svg);
    for row in order {
        let place = variable.values[*row].and_then(|x| panel.place(x, cloud.uncertainty[*row]));
        if let Some((x, y)) = place {
            let group = cloud.group_of(*row);
            svg.group(&format!("{} points", look::class_of(group)));
            svg.symbol(group, x, y);
            svg.close();
        }
    }
    svg.close();
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_uncertain_rows_are_larger_and_darker() {
        let looks: Vec<(f64, f64)> = (0..=10).map(|k| look_of(f64::from(k) / 10.0)).collect();
        assert!(
            looks
                .windows(2)
                .all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1)
        );
        assert_eq!(look_of(1.0).1, 1.0);
        assert_eq!(most(2), 0.5);
    }
}
