//! A single column: the density of a model with the contribution of each group, and a histogram
//! of the rows as a density. The bar width follows Freedman & Diaconis (1981), rounded to a round
//! number.

use super::look;
use super::panel::{Labels, Panel, single};
use super::sheet::Room;
use super::svg::{Svg, pixel};
use super::{Axis, Cloud, Marginal, Scale};
use std::fmt::Write;

/// A bar of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bar {
    pub from: f64,
    pub to: f64,
    pub density: f64,
}

/// The density and the histogram of one column.
pub(super) struct Shape<'a> {
    pub bars: Vec<Bar>,
    pub marginal: Option<&'a Marginal>,
}

impl<'a> Shape<'a> {
    /// The density of a column, or its histogram if there is no density.
    pub fn of(cloud: &'a Cloud, variable: usize) -> Shape<'a> {
        let marginal = cloud.variables[variable].marginal.as_ref();
        let bars = match marginal {
            Some(_) => Vec::new(),
            None => bars(cloud, variable),
        };
        Shape { bars, marginal }
    }

    /// The density and the histogram of a column.
    pub fn with_bars(cloud: &'a Cloud, variable: usize) -> Shape<'a> {
        Shape {
            bars: bars(cloud, variable),
            marginal: cloud.variables[variable].marginal.as_ref(),
        }
    }

    /// The axis of densities.
    pub fn upward(&self) -> Axis {
        let bars = self.bars.iter().map(|bar| bar.density);
        let curve = self.marginal.iter();
        let curve = curve.flat_map(|marginal| marginal.density.iter().copied());
        let highest = bars
            .chain(curve)
            .filter(|d| d.is_finite())
            .fold(0.0, f64::max);
        Axis::between(
            0.0,
            if highest > 0.0 {
                (1.06 * highest).min(f64::MAX)
            } else {
                1.0
            },
        )
    }

    /// Draws the only column of a cloud in a panel of its own.
    pub fn draw_single(&self, svg: &mut Svg, cloud: &Cloud, room: Room, across: Labels) -> Panel {
        let axes = (cloud.axis(0), self.upward());
        let upward = if cloud.variables[0].whole {
            "probability"
        } else {
            "density"
        };
        let panel = single(svg, room, axes, across, upward);
        panel.open(svg);
        self.draw(svg, &panel);
        svg.close();
        panel
    }

    /// Draws the bars, the contributions of groups, and the density.
    pub fn draw(&self, svg: &mut Svg, panel: &Panel) {
        for bar in &self.bars {
            let ends = (
                panel.across(bar.from),
                panel.across(bar.to),
                panel.up(bar.density),
            );
            if let (Some(left), Some(right), Some(top)) = ends {
                let bottom = panel.room.top + panel.room.height;
                // Bars are a pixel apart.
                let width = (right - left - 1.0).max(0.6);
                svg.rectangle("bar", left + 0.5, top, width, bottom - top);
            }
        }
        let Some(marginal) = self.marginal else {
            return;
        };
        let at = marginal.at.iter().copied();
        let several = marginal.groups.len() > 1;
        for (group, density) in marginal.groups.iter().enumerate().filter(|_| several) {
            let curve = panel.line(at.clone().zip(density.iter().copied()), false);
            let ends = (marginal.at.first(), marginal.at.last());
            let (Some(first), Some(last)) = (ends.0, ends.1) else {
                continue;
            };
            let mut under = curve.clone();
            if let (Some((x, _)), Some((end, bottom))) =
                (panel.place(*first, 0.0), panel.place(*last, 0.0))
            {
                let _ = write!(under, "L{} {}H{}Z", pixel(end), pixel(bottom), pixel(x));
            }
            svg.group(&look::class_of(group));
            svg.path("under", &under);
            svg.path("line", &curve);
            svg.close();
        }
        let all = at.zip(marginal.density.iter().copied());
        svg.path(
            "total",
            &panel.line(all.filter(|(_, d)| d.is_finite()), false),
        );
    }
}

/// The histogram of a column as a density.
pub(super) fn bars(cloud: &Cloud, variable: usize) -> Vec<Bar> {
    let column = &cloud.variables[variable];
    let rows = column.values.iter().enumerate();
    let has_place = |x: &f64| x.is_finite() && (column.scale == Scale::Linear || *x > 0.0);
    let mut rows: Vec<(f64, f64)> = rows
        .filter_map(|(row, x)| Some((x.filter(has_place)?, cloud.weight(row))))
        .filter(|(_, weight)| *weight > 0.0)
        .collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some((low, _)), Some((high, _))) = (rows.first().copied(), rows.last().copied()) else {
        return Vec::new();
    };
    let edges = edges(&rows, column.whole, column.scale, (low, high));
    let total: f64 = rows.iter().map(|row| row.1).sum();
    let mut bars = Vec::new();
    let mut next = 0;
    for pair in edges.windows(2) {
        let mut weight = 0.0;
        let last = pair[1] >= *edges.last().unwrap_or(&f64::INFINITY);
        while next < rows.len() && (rows[next].0 < pair[1] || last) {
            weight += rows[next].1;
            next += 1;
        }
        let density = weight / total / (pair[1] - pair[0]);
        if weight > 0.0 && density.is_finite() {
            bars.push(Bar {
                from: pair[0],
                to: pair[1],
                density,
            });
        }
    }
    bars
}

/// The edges of the bars, for sorted rows.
fn edges(rows: &[(f64, f64)], whole: bool, scale: Scale, (low, high): (f64, f64)) -> Vec<f64> {
    if low == high {
        let around = Axis::covering([low], scale);
        return if whole {
            vec![low - 0.5, low + 0.5]
        } else {
            vec![around.at(0.3), around.at(0.7)]
        };
    }
    let total: f64 = rows.iter().map(|row| row.1).sum();
    if scale == Scale::Logarithmic && !whole {
        let count = total.cbrt().mul_add(3.0, 0.0).clamp(5.0, 40.0).round();
        let (from, to) = (low.ln(), high.ln());
        let edge = |k: usize| (from + (to - from) * k as f64 / count).exp();
        let mut edges: Vec<f64> = (0..=count as usize).map(edge).collect();
        (edges[0], edges[count as usize]) = (low, high);
        return edges;
    }
    let quantile = |share: f64| {
        let mut sum = 0.0;
        let reached = rows.iter().find(|row| {
            sum += row.1;
            sum >= share * total
        });
        reached.map_or(high, |row| row.0)
    };
    let half_range = high / 2.0 - low / 2.0;
    let wide = (quantile(0.75) / 2.0 - quantile(0.25) / 2.0) / total.cbrt();
    // The ratio of half of the range to half of the interquartile range.
    let count = if wide > 0.0 {
        (half_range / (2.0 * wide)).clamp(5.0, 40.0)
    } else {
        12.0
    };
    // `nice_step` rounds up, so half of the width gives the nearest step.
    let step = super::axes::nice_step(half_range, 2 * count.round() as usize);
    let step = if whole { step.max(1.0).round() } else { step };
    let shift = if whole { 0.5 } else { 0.0 };
    let first = ((low + shift) / step).floor();
    let edge = |k: usize| (first + k as f64) * step - shift;
    let count = ((high + shift) / step).floor() - first + 1.0;
    let edges: Vec<f64> = if count < 1e3 && step > 0.0 {
        (0..=count as usize).map(edge).collect()
    } else {
        Vec::new()
    };
    if edges.windows(2).all(|pair| pair[0] < pair[1]) && edges.len() > 1 {
        edges
    } else {
        vec![low, high]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Variable;

    fn cloud(values: Vec<f64>, weights: Vec<f64>, whole: bool, scale: Scale) -> Cloud {
        let variable = Variable {
            whole,
            scale,
            ..Variable::new("x", values.into_iter().map(Some).collect())
        };
        Cloud {
            variables: vec![variable],
            weights,
            ..Cloud::default()
        }
    }

    #[test]
    fn bars_have_area_one_and_contain_every_row() {
        let even: Vec<f64> = (0..300).map(|k| f64::from(k * k) / 17.0 + 1.0).collect();
        let large: Vec<f64> = even.iter().map(|x| x * 1e150).collect();
        let counts: Vec<f64> = (0..200).map(|k| f64::from(k % 13)).collect();
        for (values, whole) in [
            (even, false),
            (large, false),
            (counts, true),
            (vec![7.0], true),
        ] {
            for scale in [Scale::Linear, Scale::Logarithmic] {
                let bars = bars(&cloud(values.clone(), vec![], whole, scale), 0);
                let area: f64 = bars
                    .iter()
                    .map(|bar| bar.density * (bar.to - bar.from))
                    .sum();
                assert!((area - 1.0).abs() < 1e-9, "{area} {whole} {scale:?}");
                let held = |x: &&f64| bars.iter().any(|bar| (bar.from..=bar.to).contains(*x));
                let places = values
                    .iter()
                    .filter(|x| scale == Scale::Linear || **x > 0.0);
                assert!(places.clone().filter(held).count() == places.count());
            }
        }
    }

    #[test]
    fn weight_two_is_the_row_twice_and_weight_zero_no_row() {
        let weighed = cloud(
            vec![1.0, 2.0, 5.0, 90.0],
            vec![1.0, 2.0, 1.0, 0.0],
            false,
            Scale::Linear,
        );
        let twice = cloud(vec![1.0, 2.0, 2.0, 5.0], vec![], false, Scale::Linear);
        assert_eq!(bars(&weighed, 0), bars(&twice, 0));
        assert!(bars(&cloud(vec![], vec![], false, Scale::Linear), 0).is_empty());
    }
}
