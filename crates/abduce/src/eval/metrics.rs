//! Metrics of predicted probabilities, accumulated row by row and mergeable. With p the
//! probabilities of a row, y its class and w its weight,
//!
//!   log-loss = Σ w (−ln p_y) / Σ w,    Brier = Σ w Σ_k (p_k − [k = y])² / Σ w,
//!   calibration error = Σ_b w_b |accuracy_b − confidence_b| / Σ w,
//!
//! the last over bins of the top probability (Naeini, Cooper & Hauskrecht 2015).

use crate::ask::MIN_PROBABILITY;
use crate::family::most_probable;

/// The number of equally wide bins of the top probability in a reliability table.
pub const CALIBRATION_BINS: usize = 15;

/// Metrics of predictions; those of other rows can be merged.
///
/// ```
/// use abduce::eval::Metrics;
/// let mut metrics = Metrics::new(2);
/// metrics.observe(&[0.9, 0.1], 0, 1.0);
/// metrics.observe(&[0.6, 0.4], 1, 1.0);
/// assert_eq!(metrics.accuracy(), 0.5);
/// assert!((metrics.brier() - (0.02 + 0.72) / 2.0).abs() < 1e-15);
/// assert_eq!(metrics.confusion(1, 0), 1.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    classes: usize,
    rows: u64,
    weight: f64,
    log_loss: f64,
    clipped_log_loss: f64,
    squares: f64,
    impossible: f64,
    /// Weights of rows, by true class and predicted class.
    confusion: Vec<f64>,
    bins: Vec<Bin>,
}

/// The rows whose top probability lies in one bin, above its lower edge and at most its upper
/// edge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// The weight of the rows.
    pub weight: f64,
    /// The sum of their top probabilities.
    confidence: f64,
    /// The weight of the rows predicted correctly.
    right: f64,
}

impl Bin {
    /// The mean top probability.
    pub fn confidence(&self) -> f64 {
        self.confidence / self.weight
    }

    /// The share of the rows that are predicted correctly.
    pub fn accuracy(&self) -> f64 {
        self.right / self.weight
    }
}

/// The metrics of one class; a ratio 0/0 is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassMetrics {
    /// The share of the rows predicted as this class that are of this class.
    pub precision: f64,
    /// The share of the rows of this class that are predicted as this class.
    pub recall: f64,
    /// The harmonic mean of both.
    pub f1: f64,
    /// The weight of the rows of this class.
    pub support: f64,
    /// The weight of the rows predicted as this class.
    pub predicted: f64,
}

impl Metrics {
    /// The metrics of no rows, for this many classes.
    pub fn new(classes: usize) -> Metrics {
        Metrics {
            classes,
            rows: 0,
            weight: 0.0,
            log_loss: 0.0,
            clipped_log_loss: 0.0,
            squares: 0.0,
            impossible: 0.0,
            confusion: vec![0.0; classes * classes],
            bins: vec![Bin::default(); CALIBRATION_BINS],
        }
    }

    /// Adds a row with its probabilities, its true class and its weight; a row of weight 0 is
    /// ignored.
    ///
    /// # Panics
    /// If the number of probabilities is not that of classes, or there is no such class.
    pub fn observe(&mut self, probabilities: &[f64], truth: usize, weight: f64) {
        self.observe_log(probabilities, truth, probabilities[truth].ln(), weight);
    }

    /// Adds a row with the logarithm of the true class's probability, which may be finite even
    /// if the probability underflows.
    ///
    /// # Panics
    /// As [`observe`](Metrics::observe).
    pub fn observe_log(&mut self, p: &[f64], truth: usize, log_probability: f64, weight: f64) {
        assert!(p.len() == self.classes && truth < self.classes);
        if weight <= 0.0 {
            return;
        }
        let predicted = most_probable(p);
        self.rows += 1;
        self.weight += weight;
        self.log_loss -= weight * log_probability;
        let clipped = p[truth].clamp(MIN_PROBABILITY, 1.0 - MIN_PROBABILITY);
        self.clipped_log_loss -= weight * clipped.ln();
        if log_probability == f64::NEG_INFINITY {
            self.impossible += weight;
        }
        let error = |k: usize| p[k] - f64::from(u8::from(k == truth));
        self.squares += weight * (0..p.len()).map(|k| error(k) * error(k)).sum::<f64>();
        self.confusion[truth * self.classes + predicted] += weight;
        let bins = CALIBRATION_BINS as f64;
        let bin = ((p[predicted] * bins).ceil() as usize).clamp(1, CALIBRATION_BINS) - 1;
        let bin = &mut self.bins[bin];
        bin.weight += weight;
        bin.confidence += weight * p[predicted];
        if predicted == truth {
            bin.right += weight;
        }
    }

    /// Adds the rows of other metrics.
    ///
    /// # Panics
    /// If the numbers of classes differ.
    pub fn merge(&mut self, other: &Metrics) {
        assert_eq!(self.classes, other.classes);
        self.rows += other.rows;
        self.weight += other.weight;
        self.log_loss += other.log_loss;
        self.clipped_log_loss += other.clipped_log_loss;
        self.squares += other.squares;
        self.impossible += other.impossible;
        for (weight, more) in self.confusion.iter_mut().zip(&other.confusion) {
            *weight += more;
        }
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            bin.weight += more.weight;
            bin.confidence += more.confidence;
            bin.right += more.right;
        }
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The number of rows of positive weight.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Their total weight.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The share of the rows whose most probable class is the true one.
    pub fn accuracy(&self) -> f64 {
        let right: f64 = (0..self.classes).map(|k| self.confusion(k, k)).sum();
        right / self.weight
    }

    /// The mean of −ln p of the true class, without clipping: infinite if a true class has
    /// probability 0.
    pub fn log_loss(&self) -> f64 {
        self.log_loss / self.weight
    }

    /// The log-loss with probabilities clipped to [`MIN_PROBABILITY`] from 0 and 1, as
    /// scikit-learn's `log_loss`.
    pub fn clipped_log_loss(&self) -> f64 {
        self.clipped_log_loss / self.weight
    }

    /// The weight of the rows whose true class has probability 0.
    pub fn impossible(&self) -> f64 {
        self.impossible
    }

    /// The Brier score over all classes, from 0 to 2.
    pub fn brier(&self) -> f64 {
        self.squares / self.weight
    }

    /// For two classes, the mean of (p₁ − y)², which is half of [`brier`](Metrics::brier), as
    /// scikit-learn's `brier_score_loss`.
    pub fn brier_of_two(&self) -> Option<f64> {
        (self.classes == 2).then(|| self.brier() / 2.0)
    }

    /// The expected calibration error: the mean absolute difference between the top
    /// probability and the accuracy over [`CALIBRATION_BINS`] bins.
    pub fn calibration_error(&self) -> f64 {
        let gaps = self
            .bins
            .iter()
            .map(|bin| (bin.right - bin.confidence).abs());
        gaps.sum::<f64>() / self.weight
    }

    /// The reliability table: the bins of the top probability, ascending.
    pub fn reliability(&self) -> &[Bin] {
        &self.bins
    }

    /// The weight of the rows of class `truth` that are predicted as class `predicted`.
    pub fn confusion(&self, truth: usize, predicted: usize) -> f64 {
        self.confusion[truth * self.classes + predicted]
    }

    /// The metrics of one class.
    pub fn class(&self, class: usize) -> ClassMetrics {
        let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        let right = self.confusion(class, class);
        let support = (0..self.classes).map(|k| self.confusion(class, k)).sum();
        let predicted = (0..self.classes).map(|k| self.confusion(k, class)).sum();
        ClassMetrics {
            precision: ratio(right, predicted),
            recall: ratio(right, support),
            f1: ratio(2.0 * right, support + predicted),
            support,
            predicted,
        }
    }

    /// The mean recall of the classes with rows.
    pub fn balanced_accuracy(&self) -> f64 {
        self.mean_of_classes(|class| class.recall, |class| class.support > 0.0)
    }

    /// The mean F1 of the classes that have rows or are predicted.
    pub fn macro_f1(&self) -> f64 {
        self.mean_of_classes(
            |class| class.f1,
            |class| class.support + class.predicted > 0.0,
        )
    }

    /// The mean F1 of the classes, weighted by their support.
    pub fn weighted_f1(&self) -> f64 {
        let classes = (0..self.classes).map(|k| self.class(k));
        let sum: f64 = classes.map(|class| class.support * class.f1).sum();
        sum / self.weight
    }

    fn mean_of_classes(
        &self,
        metric: impl Fn(&ClassMetrics) -> f64,
        counts: impl Fn(&ClassMetrics) -> bool,
    ) -> f64 {
        let classes: Vec<ClassMetrics> = (0..self.classes).map(|k| self.class(k)).collect();
        let metrics: Vec<f64> = classes.iter().filter(|c| counts(c)).map(metric).collect();
        metrics.iter().sum::<f64>() / metrics.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probabilities that are fractions of 64, so that all sums are exact.
    fn rows() -> Vec<([f64; 3], usize, f64)> {
        (0..40u32)
            .map(|i| {
                let (a, b) = (f64::from(i * 7 % 32), f64::from(i * 5 % 32));
                let p = [a / 64.0, b / 64.0, (64.0 - a - b) / 64.0];
                (p, (i % 3) as usize, f64::from(1 + i % 4))
            })
            .collect()
    }

    fn of(rows: &[([f64; 3], usize, f64)]) -> Metrics {
        let mut metrics = Metrics::new(3);
        for (p, truth, weight) in rows {
            metrics.observe(p, *truth, *weight);
        }
        metrics
    }

    #[test]
    fn merging_two_halves_equals_the_whole() {
        let rows = rows();
        let (a, b) = rows.split_at(17);
        let mut merged = of(a);
        merged.merge(&of(b));
        let whole = of(&rows);
        assert_eq!(merged.rows(), whole.rows());
        assert_eq!(merged.confusion, whole.confusion);
        assert_eq!(merged.bins, whole.bins);
        assert_eq!(merged.brier(), whole.brier());
        let of_none = Metrics::new(3);
        let mut same = whole.clone();
        same.merge(&of_none);
        assert_eq!(same, whole);
    }

    #[test]
    fn weight_two_is_the_row_twice_and_weight_zero_no_row() {
        let twice = rows().into_iter().flat_map(|(p, y, _)| [(p, y, 1.0); 2]);
        let twice: Vec<_> = twice.chain([([1.0, 0.0, 0.0], 2, 0.0)]).collect();
        let heavy: Vec<_> = rows().into_iter().map(|(p, y, _)| (p, y, 2.0)).collect();
        let (twice, heavy) = (of(&twice), of(&heavy));
        assert_eq!(twice.confusion, heavy.confusion);
        assert_eq!(twice.calibration_error(), heavy.calibration_error());
        assert!((twice.clipped_log_loss() - heavy.clipped_log_loss()).abs() < 1e-12);
    }

    #[test]
    fn a_true_class_of_probability_zero_has_infinite_loss_and_is_counted() {
        let mut metrics = Metrics::new(2);
        metrics.observe(&[1.0, 0.0], 1, 3.0);
        metrics.observe(&[1.0, 0.0], 0, 1.0);
        assert_eq!(metrics.log_loss(), f64::INFINITY);
        assert_eq!(metrics.impossible(), 3.0);
        let clipped = -MIN_PROBABILITY.ln() * 0.75;
        assert!((metrics.clipped_log_loss() - clipped).abs() < 1e-12);
        assert_eq!(metrics.brier_of_two(), Some(0.75));
    }

    #[test]
    fn the_loss_of_an_underflowing_probability_is_that_of_its_logarithm() {
        let mut metrics = Metrics::new(2);
        metrics.observe_log(&[1.0, 0.0], 1, -5000.0, 1.0);
        assert_eq!(metrics.log_loss(), 5000.0);
        assert_eq!(metrics.impossible(), 0.0);
    }

    #[test]
    fn perfect_predictions_have_perfect_metrics() {
        let mut metrics = Metrics::new(3);
        for class in 0..3 {
            let p: Vec<f64> = (0..3).map(|k| f64::from(u8::from(k == class))).collect();
            metrics.observe(&p, class, 2.0);
        }
        let ones = [
            metrics.accuracy(),
            metrics.balanced_accuracy(),
            metrics.macro_f1(),
            metrics.weighted_f1(),
        ];
        assert_eq!(ones, [1.0; 4]);
        let zeros = [
            metrics.log_loss(),
            metrics.brier(),
            metrics.calibration_error(),
        ];
        assert_eq!(zeros, [0.0; 3]);
    }
}
