//! A histogram as the family of one column: bins of equal width by the rule of Freedman and
//! Diaconis, the same for all components, and the share of each bin. The number of bins is chosen
//! by that rule and not by likelihood.

use crate::Result;
use crate::data::Rows;
use crate::density::{Bins, Edges, Histogram, Points};
use crate::family::continuous::point_stats::PointStats;
use crate::family::{
    Components, Domain, Family, Fill, PriorStrength, Scale, Stats, Unconstrained, Validate,
    draw_index, merged, most_probable, nothing_seen,
};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A weight spread evenly over all bins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistogramPrior {
    /// The weight.
    pub smoothing: f64,
}

impl Histogram {
    fn in_bins(stats: &PointStats, edges: Edges, prior: &HistogramPrior) -> Result<Histogram> {
        if stats.weight() <= 0.0 {
            return Err(nothing_seen());
        }
        Histogram::with_edges(&stats.points()?, vec![edges], prior.smoothing)
    }

    /// A row with its missing values filled, from the cells that it may lie in; from all cells,
    /// if it lies in none.
    pub(crate) fn filled(&self, place: &[Option<f64>], how: Fill, rng: &mut dyn Rng) -> Vec<f64> {
        let shares = self.shares(place);
        let shares = shares.or_else(|| self.shares(&vec![None; place.len()]));
        let shares = shares.unwrap_or_default();
        let middle = |share: usize, column: usize| {
            let (start, end) = self.interval(share, column);
            start + 0.5 * (end - start)
        };
        let chosen = match (how, shares.split_last()) {
            (Fill::Draw, _) => draw_index(&shares, rng),
            // The last share is spread over the whole box, and is chosen where no cell has a
            // share.
            (_, Some((_, cells))) if cells.iter().any(|share| *share > 0.0) => most_probable(cells),
            _ => self.cells.len(),
        };
        let mut fill = |column: usize| match how {
            Fill::Mean => {
                let each = shares.iter().enumerate();
                each.map(|(share, p)| p * middle(share, column)).sum()
            }
            Fill::Mode => middle(chosen, column),
            Fill::Draw => {
                let (start, end) = self.interval(chosen, column);
                start + rng.random::<f64>() * (end - start)
            }
        };
        let cells = place.iter().enumerate();
        cells
            .map(|(column, x)| x.unwrap_or_else(|| fill(column)))
            .collect()
    }
}

impl Family for Histogram {
    const NAME: &'static str = "histogram";
    type Stats = PointStats;
    type Shape = ();
    type Prior = HistogramPrior;

    fn zero(_: &()) -> PointStats {
        PointStats::default()
    }

    fn shape(&self) {}

    fn observe(rows: &Rows, weights: &[f64], stats: &mut PointStats) {
        stats.observe(rows, weights);
    }

    fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
        let cells = rows.only();
        for (row, (l, x)) in out.iter_mut().zip(cells.reals()).enumerate() {
            if cells.is_seen(row) {
                *l += self.log_density(&[Some(*x)]).unwrap_or(f64::NEG_INFINITY);
            }
        }
    }

    fn map(stats: &PointStats, prior: &HistogramPrior) -> Result<Self> {
        let edges = Edges::of(&stats.values, &stats.weights, Bins::Fd);
        Histogram::in_bins(stats, edges, prior)
    }

    fn log_prior(&self, _: &HistogramPrior) -> f64 {
        0.0
    }

    fn log_likelihood(&self, stats: &PointStats) -> f64 {
        let pairs = stats.values.iter().zip(&stats.weights);
        let log_density = |x: f64| self.log_density(&[Some(x)]).unwrap_or(f64::NEG_INFINITY);
        pairs.map(|(x, weight)| weight * log_density(*x)).sum()
    }

    fn parameters(_: &()) -> usize {
        1
    }

    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        out[0] = row[0].unwrap_or_else(|| self.filled(row, how, rng)[0]);
    }
}

impl Domain for Histogram {
    const HAS_UNITS: bool = true;

    fn shape_of_column(_: usize) -> Option<()> {
        Some(())
    }

    fn supports(x: f64) -> bool {
        x.abs() <= Points::LARGEST
    }
}

impl Components for Histogram {
    fn map_all(
        _: &(),
        stats: &[&PointStats],
        prior: &HistogramPrior,
        fallback: &Self,
    ) -> Vec<Self> {
        let all = merged(stats.iter().copied());
        let edges = Edges::of(&all.values, &all.weights, Bins::Fd);
        let one = |component: &PointStats| {
            Histogram::in_bins(component, edges, prior)
                .or_else(|_| Histogram::in_bins(&all, edges, prior))
                .unwrap_or_else(|_| fallback.clone())
        };
        stats.iter().copied().map(one).collect()
    }

    fn weak_prior(_: &[Scale], strength: &PriorStrength) -> HistogramPrior {
        HistogramPrior {
            smoothing: strength.smoothing,
        }
    }

    fn fallback(_: &(), scales: &[Scale]) -> Self {
        let (mean, reach) = (scales[0].mean, 2.0 * scales[0].variance.sqrt());
        let edges = Edges {
            start: mean - reach,
            end: mean + reach,
            bins: 1,
        };
        Histogram {
            edges: vec![edges],
            cells: Vec::new(),
            smoothing: 1.0,
        }
    }

    fn shrink_together(stats: &mut [PointStats]) {
        PointStats::shrink_together(stats);
    }
}

impl Unconstrained for Histogram {}

impl Validate for Histogram {
    fn is_valid(&self, _: &()) -> bool {
        self.edges.len() == 1 && self.check().is_ok()
    }

    fn describes(_: &(), stats: &PointStats) -> bool {
        stats.is_valid()
    }

    fn accepts(_: &(), prior: &HistogramPrior) -> bool {
        prior.smoothing >= 0.0
    }
}

#[cfg(test)]
impl crate::family::laws::Examples for Histogram {
    const BY_LIKELIHOOD: bool = false;

    fn examples() -> Vec<Self> {
        let spread = |n: usize, f: f64| (0..n).map(move |i| (i as f64 * f).sin());
        let two: Vec<f64> = spread(60, 0.7)
            .chain(spread(30, 1.3).map(|x| 3.0 + x))
            .collect();
        let far: Vec<f64> = spread(40, 2.1).map(|x| 1e6 + 20.0 * x).collect();
        let fit = |x: Vec<f64>| {
            let points = Points::from_columns(&[x], None);
            points.and_then(|points| Histogram::fit(&points, Bins::Fd, 0.0))
        };
        [two, far].into_iter().filter_map(|x| fit(x).ok()).collect()
    }
}
