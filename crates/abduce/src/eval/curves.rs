//! The two calibration curves, fitted to scores, truth and weights. Platt's targets are
//! (n₁ + 1)/(n₁ + 2) and 1/(n₀ + 2) instead of 1 and 0, so that the slope is finite even if the
//! scores separate the classes.

use super::calibration::{Curve, log_odds};
use super::logistic::{LogisticProblem, logistic};

impl Curve {
    /// The calibrated probability of a class in a row with these probabilities.
    ///
    /// # Panics
    /// If there is no such class.
    pub fn at(&self, p: &[f64], class: usize) -> f64 {
        match self {
            Curve::Logistic { slope, intercept } => {
                logistic(slope * log_odds(p, class) + intercept)
            }
            Curve::Steps {
                scores,
                shares,
                least,
                most,
            } => interpolated(scores, shares, p[class]).clamp(*least, *most),
        }
    }

    /// The same curve without its bounds: plain isotonic regression, which may return exactly
    /// 0 or 1.
    pub fn unbounded(mut self) -> Curve {
        if let Curve::Steps { least, most, .. } = &mut self {
            (*least, *most) = (0.0, 1.0);
        }
        self
    }

    /// Platt's curve: the maximum-likelihood fit to the targets, by Newton's method with step
    /// halving.
    ///
    /// ```
    /// use abduce::eval::Curve;
    /// let scores = [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0];
    /// let truth = [false, false, true, false, true, true];
    /// let Curve::Logistic { slope, .. } = Curve::logistic(&scores, &truth, &[1.0; 6]) else {
    ///     unreachable!()
    /// };
    /// assert!(slope > 0.0);
    /// ```
    pub fn logistic(scores: &[f64], truth: &[bool], weights: &[f64]) -> Curve {
        let sum = |of: &dyn Fn(usize) -> f64| (0..scores.len()).map(of).sum::<f64>();
        let total = sum(&|i| weights[i]);
        let positive = sum(&|i| if truth[i] { weights[i] } else { 0.0 });
        let target = |i: usize| {
            if truth[i] {
                (positive + 1.0) / (positive + 2.0)
            } else {
                1.0 / (total - positive + 2.0)
            }
        };
        // The scores are standardised, so that both parameters are of similar size.
        let share = |x: f64| if total > 0.0 { x / total } else { 0.0 };
        let centre = share(sum(&|i| weights[i] * scores[i]));
        let spread = share(sum(&|i| weights[i] * (scores[i] - centre).powi(2))).sqrt();
        let unit = if spread > 0.0 { spread } else { 1.0 };
        let problem = LogisticProblem {
            scores: scores.iter().map(|score| (score - centre) / unit).collect(),
            targets: (0..scores.len()).map(target).collect(),
            weights,
        };
        let start = ((positive + 1.0) / (total - positive + 1.0)).ln();
        let [slope, intercept] = problem.solve([0.0, start]);
        Curve::Logistic {
            slope: slope / unit,
            intercept: intercept - slope * centre / unit,
        }
    }

    /// Isotonic regression: the nondecreasing shares closest to the truth in weighted squares.
    /// Rows of equal score are pooled; points within a constant stretch are left out.
    ///
    /// The curve is bounded away from 0 and 1 by Laplace's rule: if none of the n rows of the
    /// lowest block is of the class, the lower bound is 1/(n + 2); if all of the highest block
    /// are, the upper bound is (n + 1)/(n + 2). Neither bound exceeds the share of the
    /// neighbouring block, so that the curve stays monotone and no other block changes.
    ///
    /// ```
    /// use abduce::eval::Curve;
    /// let scores = [0.1, 0.2, 0.4, 0.6];
    /// let truth = [false, true, false, true];
    /// let curve = Curve::steps(&scores, &truth, &[1.0; 4]);
    /// let Curve::Steps { scores, shares, least, most } = &curve else {
    ///     unreachable!()
    /// };
    /// assert_eq!(scores, &[0.1, 0.2, 0.4, 0.6]);
    /// assert_eq!(shares, &[0.0, 0.5, 0.5, 1.0]);
    /// assert!((least - 1.0 / 3.0).abs() < 1e-15 && (most - 2.0 / 3.0).abs() < 1e-15);
    /// assert_eq!(curve.at(&[0.9, 0.1], 1), *least);
    /// ```
    pub fn steps(scores: &[f64], truth: &[bool], weights: &[f64]) -> Curve {
        let mut order: Vec<usize> = (0..scores.len()).filter(|i| weights[*i] > 0.0).collect();
        order.sort_by(|a, b| scores[*a].total_cmp(&scores[*b]));
        let mut blocks: Vec<Block> = Vec::new();
        for equal in order.chunk_by(|a, b| scores[*a] == scores[*b]) {
            let weight: f64 = equal.iter().map(|i| weights[*i]).sum();
            let right = equal.iter().filter(|i| truth[**i]).map(|i| weights[*i]);
            let mut block = Block {
                first: scores[equal[0]],
                last: scores[equal[0]],
                weight,
                right: right.sum(),
            };
            while let Some(before) = blocks.pop_if(|before| before.share() >= block.share()) {
                block = Block {
                    first: before.first,
                    last: block.last,
                    weight: before.weight + block.weight,
                    right: before.right + block.right,
                };
            }
            blocks.push(block);
        }
        let (mut knots, mut shares) = (Vec::new(), Vec::new());
        for block in &blocks {
            knots.push(block.first);
            shares.push(block.share());
            if block.last > block.first {
                knots.push(block.last);
                shares.push(block.share());
            }
        }
        if knots.is_empty() {
            (knots, shares) = (vec![0.0, 1.0], vec![0.0, 1.0]);
        }
        let (least, most) = bounds(&blocks);
        Curve::Steps {
            scores: knots,
            shares,
            least,
            most,
        }
    }
}

/// Consecutive scores with the same share.
struct Block {
    first: f64,
    last: f64,
    weight: f64,
    right: f64,
}

impl Block {
    fn share(&self) -> f64 {
        (self.right / self.weight).clamp(0.0, 1.0)
    }
}

/// The bounds of a curve: Laplace's estimates for a first block without a success and a last
/// block without a failure, limited by the shares of their neighbours.
fn bounds(blocks: &[Block]) -> (f64, f64) {
    let laplace = |block: &Block| 1.0 / (block.weight + 2.0);
    let least = match blocks {
        [first, rest @ ..] if first.share() == 0.0 => {
            let next = rest.first().map_or(1.0, Block::share);
            laplace(first).min(next)
        }
        _ => 0.0,
    };
    let most = match blocks {
        [rest @ .., last] if last.share() == 1.0 => {
            let next = rest.last().map_or(0.0, Block::share);
            (1.0 - laplace(last)).max(next)
        }
        _ => 1.0,
    };
    (least, most)
}

fn interpolated(knots: &[f64], levels: &[f64], x: f64) -> f64 {
    let after = knots.partition_point(|knot| *knot <= x);
    match (after, knots.len()) {
        (0, _) => levels[0],
        (after, all) if after == all => levels[all - 1],
        _ => {
            let (left, right) = (knots[after - 1], knots[after]);
            let part = (x - left) / (right - left);
            levels[after - 1] + part * (levels[after] - levels[after - 1])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores() -> (Vec<f64>, Vec<bool>, Vec<f64>) {
        let scores = (0..60).map(|i| f64::from(i * 37 % 50) / 50.0);
        let truth = (0..60).map(|i| (i * 37 % 50) + (i * 11 % 23) > 35);
        (
            scores.collect(),
            truth.collect(),
            (0..60).map(|i| f64::from(i % 4)).collect(),
        )
    }

    fn repeated(weights: &[f64]) -> Vec<usize> {
        let times = weights.iter().enumerate();
        times.flat_map(|(i, w)| vec![i; *w as usize]).collect()
    }

    #[test]
    fn steps_are_nondecreasing_and_keep_the_mean() {
        let (scores, truth, weights) = scores();
        let curve = Curve::steps(&scores, &truth, &weights).unbounded();
        let Curve::Steps {
            scores: knots,
            shares,
            ..
        } = &curve
        else {
            panic!("no steps");
        };
        assert!(knots.is_sorted() && shares.is_sorted());
        let rows = || scores.iter().zip(&truth).zip(&weights);
        let mean = |of: &dyn Fn(f64, bool) -> f64| -> f64 {
            rows().map(|((s, t), w)| w * of(*s, *t)).sum()
        };
        let predicted = mean(&|score, _| curve.at(&[1.0 - score, score], 1));
        let observed = mean(&|_, truth| f64::from(u8::from(truth)));
        assert!(
            (predicted - observed).abs() < 1e-10,
            "{predicted} {observed}"
        );
    }

    #[test]
    fn weight_two_is_the_row_twice_and_the_order_of_rows_is_irrelevant() {
        let (scores, truth, weights) = scores();
        let mut rows = repeated(&weights);
        rows.reverse();
        let again: Vec<f64> = rows.iter().map(|i| scores[*i]).collect();
        let came: Vec<bool> = rows.iter().map(|i| truth[*i]).collect();
        let ones = vec![1.0; rows.len()];
        assert_eq!(
            Curve::steps(&scores, &truth, &weights),
            Curve::steps(&again, &came, &ones)
        );
        let weighted = Curve::logistic(&scores, &truth, &weights);
        let repeated = Curve::logistic(&again, &came, &ones);
        for score in [0.0, 0.3, 0.9] {
            let p = [1.0 - score, score];
            assert!((weighted.at(&p, 1) - repeated.at(&p, 1)).abs() < 1e-10);
        }
    }

    #[test]
    fn no_other_logistic_curve_is_likelier() {
        let (scores, truth, weights) = scores();
        let Curve::Logistic { slope, intercept } = Curve::logistic(&scores, &truth, &weights)
        else {
            panic!("no curve");
        };
        let positive: f64 = (0..60).filter(|i| truth[*i]).map(|i| weights[i]).sum();
        let negative: f64 = weights.iter().sum::<f64>() - positive;
        let loss = |slope: f64, intercept: f64| -> f64 {
            let of = |i: usize| {
                let p = logistic(slope * scores[i] + intercept);
                let t = if truth[i] {
                    (positive + 1.0) / (positive + 2.0)
                } else {
                    1.0 / (negative + 2.0)
                };
                -weights[i] * (t * p.ln() + (1.0 - t) * (1.0 - p).ln())
            };
            (0..60).map(of).sum()
        };
        let best = loss(slope, intercept);
        for (s, i) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
            assert!(loss(slope + s, intercept + i) > best);
        }
    }

    #[test]
    fn curves_of_no_rows_one_class_or_equal_scores_are_valid() {
        let cases: [(&[f64], &[bool]); 4] = [
            (&[], &[]),
            (&[0.3, 0.7], &[false, false]),
            (&[0.5, 0.5, 0.5], &[true, false, true]),
            (&[-745.0, 745.0], &[false, true]),
        ];
        for (scores, truth) in cases {
            let ones = vec![1.0; scores.len()];
            for curve in [
                Curve::logistic(scores, truth, &ones),
                Curve::steps(scores, truth, &ones),
            ] {
                for p in [0.0, 0.5, 1.0] {
                    let share = curve.at(&[1.0 - p, p], 1);
                    assert!((0.0..=1.0).contains(&share), "{curve:?} at {p}: {share}");
                }
            }
        }
    }

    #[test]
    fn isotonic_answers_are_bounded_by_the_size_of_the_end_blocks() {
        // 3 rows without the class, one with, one without, 4 with it.
        let scores = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
        let truth = [false, false, false, true, false, true, true, true, true];
        let curve = Curve::steps(&scores, &truth, &[1.0; 9]);
        let at = |p: f64| curve.at(&[1.0 - p, p], 1);
        assert_eq!((at(0.0), at(0.3)), (1.0 / 5.0, 1.0 / 5.0));
        assert_eq!((at(0.4), at(0.5)), (0.5, 0.5));
        assert!((at(0.6) - 5.0 / 6.0).abs() < 1e-15 && at(1.0) == at(0.6));
        let plain = curve.clone().unbounded();
        assert_eq!(plain.at(&[1.0, 0.0], 1), 0.0);
        // A class that no row has, or all rows have.
        for all in [false, true] {
            let curve = Curve::steps(&[0.2, 0.8], &[all; 2], &[1.0; 2]);
            let expected = if all { 0.75 } else { 0.25 };
            assert_eq!(curve.at(&[0.5, 0.5], 1), expected);
        }
    }

    #[test]
    fn bounds_keep_the_curve_monotone_beside_a_small_share() {
        // One failure, then one success in a hundred: 1/3 would exceed 1/100.
        let scores: Vec<f64> = (0..101).map(|i| f64::from(u8::from(i > 0))).collect();
        let truth: Vec<bool> = (0..101).map(|i| i == 1).collect();
        let curve = Curve::steps(&scores, &truth, &[1.0; 101]);
        assert_eq!(curve.at(&[1.0, 0.0], 1), 0.01);
        assert_eq!(curve.at(&[0.0, 1.0], 1), 0.01);
    }
}
