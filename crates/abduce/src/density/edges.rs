//! The bins of a column: all of equal width, their number by the rules of Freedman &
//! Diaconis (1981), Scott (1979) and Sturges (1926), as in NumPy, or with the highest
//! posterior probability by Knuth (2006),
//!
//!   n ln M + ln Γ(M/2) − M ln Γ(1/2) − ln Γ(n + M/2) + Σ ln Γ(n_k + 1/2).
//!
//! With repeated numbers this can grow with M without bound, and for rounded numbers it
//! jumps as bins hold one or two rounding steps in turn. If there are repeated numbers, bins
//! are therefore a whole number of rounding steps wide and end midway between two steps.

use super::points::{Points, scale_of_constant};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The maximum number of bins of a column.
const MAX_BINS: usize = 1 << 16;

/// The maximum number of bins that Knuth's rule tries.
const MAX_BINS_OF_KNUTH: usize = 1000;

/// How the number of bins is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bins {
    /// The Freedman–Diaconis rule, of width 2 · interquartile range · n^(−1/3); where that is
    /// 0, [`Bins::Scott`].
    #[default]
    Fd,
    /// Scott's rule, of width σ (24 √π / n)^(1/3).
    Scott,
    /// Sturges' rule, log₂ n + 1 bins.
    Sturges,
    /// Knuth's rule, the most probable number up to 1000; [`Bins::Fd`] where so many numbers
    /// are equal that the probability has no maximum.
    Knuth,
    /// This number of bins.
    Number(usize),
}

impl FromStr for Bins {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "fd" => Ok(Bins::Fd),
            "scott" => Ok(Bins::Scott),
            "sturges" => Ok(Bins::Sturges),
            "knuth" => Ok(Bins::Knuth),
            _ => match text.parse::<usize>() {
                Ok(number) if (1..=MAX_BINS).contains(&number) => Ok(Bins::Number(number)),
                _ => Err(
                    Error::parameter(format!("\"{text}\" is not a number of bins"))
                        .with_hint(format!("use fd, scott, sturges, knuth or 1 to {MAX_BINS}")),
                ),
            },
        }
    }
}

/// Bins of equal width in one column; the last includes its upper edge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edges {
    /// The lower edge of the first bin.
    pub start: f64,
    /// The upper edge of the last bin.
    pub end: f64,
    /// The number of bins.
    pub bins: usize,
}

impl Edges {
    /// The edges for one column of points.
    ///
    /// ```
    /// use abduce::density::{Bins, Edges};
    /// let edges = Edges::of(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0], &[1.0; 8], Bins::Sturges);
    /// assert_eq!(edges, Edges { start: 0.0, end: 8.0, bins: 4 });
    /// ```
    pub fn of(x: &[f64], weights: &[f64], bins: Bins) -> Edges {
        Edges::choose(x, weights, bins).0
    }

    /// The edges, and whether their number is by the rule asked for: where repeated numbers
    /// leave Knuth's rule without a maximum, it is by that of Freedman and Diaconis.
    pub(crate) fn choose(x: &[f64], weights: &[f64], bins: Bins) -> (Edges, bool) {
        let mut sorted: Vec<(f64, f64)> = x.iter().copied().zip(weights.iter().copied()).collect();
        sorted.retain(|(_, weight)| *weight > 0.0);
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        // Repeated numbers are merged into one of their total weight.
        sorted.dedup_by(|next, kept| {
            let equal = next.0 == kept.0;
            if equal {
                kept.1 += next.1;
            }
            equal
        });
        let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else {
            let unit = Edges {
                start: -0.5,
                end: 0.5,
                bins: 1,
            };
            return (unit, true);
        };
        let (start, end) = (first.0, last.0);
        let range = end - start;
        if range <= f64::EPSILON * start.abs() || range <= 0.0 {
            let width = scale_of_constant(start);
            let single = Edges {
                start: start - 0.5 * width,
                end: end + 0.5 * width,
                bins: 1,
            };
            return (single, true);
        }
        let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
        let scott =
            || deviation(&sorted, total) * (24.0 * std::f64::consts::PI.sqrt() / total).cbrt();
        let fd = || {
            let middle = quantile(&sorted, total, 0.75) - quantile(&sorted, total, 0.25);
            let width = 2.0 * middle / total.cbrt();
            range / if width > 0.0 { width } else { scott() }
        };
        let number = match bins {
            Bins::Number(number) => number as f64,
            Bins::Sturges => total.max(1.0).log2() + 1.0,
            Bins::Scott => range / scott(),
            Bins::Fd => fd(),
            Bins::Knuth => return knuth(&sorted, total, fd()),
        };
        let edges = Edges {
            start,
            end,
            bins: number.ceil().clamp(1.0, MAX_BINS as f64) as usize,
        };
        (edges, true)
    }

    /// The width of a bin.
    pub fn width(&self) -> f64 {
        (self.end - self.start) / self.bins as f64
    }

    /// The lower edge of a bin, or the upper edge of the last one.
    pub fn edge(&self, bin: usize) -> f64 {
        if bin == self.bins {
            self.end
        } else {
            self.start + (self.end - self.start) * (bin as f64 / self.bins as f64)
        }
    }

    /// The bin of a number; `None` if it is outside.
    pub fn bin(&self, x: f64) -> Option<usize> {
        if !(x >= self.start && x <= self.end) {
            return None;
        }
        let share = (x - self.start) / (self.end - self.start);
        let mut bin = ((share * self.bins as f64) as usize).min(self.bins - 1);
        // The product may round across an edge.
        if x < self.edge(bin) {
            bin -= 1;
        } else if bin + 1 < self.bins && x >= self.edge(bin + 1) {
            bin += 1;
        }
        Some(bin)
    }

    pub(super) fn is_valid(&self) -> bool {
        self.bins >= 1 && self.start < self.end && (self.end - self.start).is_finite()
    }
}

fn deviation(sorted: &[(f64, f64)], total: f64) -> f64 {
    let mean: f64 = sorted.iter().map(|(x, weight)| weight / total * x).sum();
    let squares = sorted
        .iter()
        .map(|(x, weight)| weight / total * (x - mean) * (x - mean));
    squares.sum::<f64>().sqrt()
}

/// A quantile of numbers repeated by their weights, interpolated linearly.
fn quantile(sorted: &[(f64, f64)], total: f64, share: f64) -> f64 {
    let rank = share * (total - 1.0).max(0.0);
    // The number at a whole rank, counted from 0.
    let at = |rank: f64| {
        let mut before = 0.0;
        for (x, weight) in sorted {
            before += weight;
            if rank < before * (1.0 - 1e-12) {
                return *x;
            }
        }
        sorted[sorted.len() - 1].0
    };
    let (low, high) = (at(rank.floor()), at(rank.floor() + 1.0));
    low + (high - low) * (rank - rank.floor())
}

/// The bins of highest posterior probability, and true; or about `otherwise` bins, and false,
/// if repeated numbers leave the probability without a maximum.
fn knuth(sorted: &[(f64, f64)], total: f64, otherwise: f64) -> (Edges, bool) {
    let log_posterior = log_posterior(sorted, total);
    let (start, end) = (sorted[0].0, sorted[sorted.len() - 1].0);
    let is_tied = sorted.iter().any(|(_, weight)| *weight > 1.0);
    let step = Points::resolution(sorted.iter().map(|(x, _)| *x)).filter(|_| is_tied);
    let candidate = |bins: usize| match step {
        None => Edges { start, end, bins },
        Some(step) => {
            let steps = ((end - start) / step).round() + 1.0;
            let steps_of_bin = (steps / bins as f64).ceil();
            let bins = (steps / steps_of_bin).ceil();
            let start = start - 0.5 * step;
            Edges {
                start,
                end: (start + bins * steps_of_bin * step).max(end),
                bins: bins as usize,
            }
        }
    };
    // More than twice as many bins as distinct numbers only add empty ones.
    let most = MAX_BINS_OF_KNUTH.min(2 * sorted.len());
    let mut candidates: Vec<Edges> = (1..=most).map(candidate).collect();
    candidates.dedup();
    let scored = candidates
        .into_iter()
        .map(|edges| (log_posterior(&edges), edges));
    let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
    match best {
        Some((_, best)) if !is_tied || 2 * best.bins <= most => (best, true),
        _ => (
            candidate(otherwise.ceil().clamp(1.0, most as f64) as usize),
            false,
        ),
    }
}

/// Knuth's log-posterior of bins, up to a constant.
fn log_posterior(sorted: &[(f64, f64)], total: f64) -> impl Fn(&Edges) -> f64 {
    let mut weight_before = Vec::with_capacity(sorted.len() + 1);
    let mut sum = 0.0;
    weight_before.push(sum);
    for (_, weight) in sorted {
        sum += weight;
        weight_before.push(sum);
    }
    move |edges| {
        let m = edges.bins as f64;
        let mut log_posterior = -total * edges.width().ln() + libm::lgamma(0.5 * m)
            - m * libm::lgamma(0.5)
            - libm::lgamma(total + 0.5 * m);
        let mut first = 0;
        for bin in 1..=edges.bins {
            // The last bin includes its upper edge.
            let past = if bin == edges.bins {
                sorted.len()
            } else {
                sorted.partition_point(|(x, _)| *x < edges.edge(bin))
            };
            log_posterior += libm::lgamma(weight_before[past] - weight_before[first] + 0.5);
            first = past;
        }
        log_posterior
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(n: usize) -> Vec<f64> {
        (0..n)
            .map(|i| (i as f64 * 0.7548).sin() * (1 + i % 4) as f64)
            .collect()
    }

    #[test]
    fn weight_two_is_the_point_twice_in_every_rule() {
        let x = wave(90);
        let twice = [x.clone(), x.clone()].concat();
        for bins in [Bins::Fd, Bins::Scott, Bins::Sturges, Bins::Knuth] {
            let weighted = Edges::of(&x, &[2.0; 90], bins);
            assert_eq!(weighted, Edges::of(&twice, &[1.0; 180], bins), "{bins:?}");
        }
    }

    #[test]
    fn bins_by_knuth_of_rounded_numbers_are_whole_steps_wide() {
        let rounded = |steps: f64| -> Vec<f64> {
            let score = |i: usize| (i as f64 + 0.5) / 2000.0;
            let logit = |p: f64| (p / (1.0 - p)).ln();
            (0..2000)
                .map(|i| (logit(score(i)) * steps).round() / steps)
                .collect()
        };
        let weights = [1.0; 2000];
        let smooth = Edges::of(&rounded(1e9), &weights, Bins::Knuth);
        for steps in [100.0, 10.0, 4.0, 2.0, 1.0] {
            let x = rounded(steps);
            let (edges, by_knuth) = Edges::choose(&x, &weights, Bins::Knuth);
            let whole = edges.width() * steps;
            assert!(
                by_knuth && (whole - whole.round()).abs() < 1e-9,
                "{edges:?}"
            );
            assert!(edges.bins <= 2 * smooth.bins, "{edges:?} {smooth:?}");
            assert!(x.iter().all(|x| edges.bin(*x).is_some()));
        }
        // About a hundred distinct even numbers, and three odd ones.
        let mixed: Vec<f64> = rounded(10.0).iter().map(|x| (20.0 * x).round()).collect();
        let mixed = [mixed, vec![1.0, 3.0, 13.0]].concat();
        let edges = Edges::of(&mixed, &[1.0; 2003], Bins::Knuth);
        assert!(edges.bins < 50, "{edges:?}");
        // If every number occurs three times, the probability has no maximum.
        let x = wave(90);
        let (edges, by_knuth) = Edges::choose(&x, &[3.0; 90], Bins::Knuth);
        assert!(!by_knuth && edges.bins < 30, "{edges:?}");
    }

    #[test]
    fn every_number_is_between_the_edges_of_its_bin() {
        let edges = Edges {
            start: -0.3,
            end: 0.7,
            bins: 10,
        };
        for i in 0..=1000 {
            let x = -0.3 + i as f64 / 1000.0;
            if let Some(bin) = edges.bin(x) {
                assert!(
                    edges.edge(bin) <= x && (x < edges.edge(bin + 1) || bin == 9),
                    "{x}"
                );
            }
        }
        assert_eq!(edges.bin(0.7), Some(9));
        assert_eq!(edges.bin(0.71), None);
        assert_eq!(edges.bin(f64::NAN), None);
    }
}
