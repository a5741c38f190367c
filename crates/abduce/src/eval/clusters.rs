//! Agreement of two groupings of the same rows, from their contingency table n_ij: the adjusted
//! Rand index (Hubert & Arabie 1985),
//!
//!   ARI = (Σ C(n_ij, 2) − E) / ((Σ C(a_i, 2) + Σ C(b_j, 2)) / 2 − E),
//!   E = Σ C(a_i, 2) Σ C(b_j, 2) / C(n, 2),
//!
//! and the mutual information divided by the mean of both entropies. Neither depends on the
//! names of the groups.

/// A contingency table: the weights of rows by two groupings.
///
/// ```
/// use abduce::eval::Contingency;
/// let mut table = Contingency::new(2, 3);
/// for (truth, cluster) in [(0, 2), (0, 2), (1, 0), (1, 0), (1, 1)] {
///     table.observe(truth, cluster, 1.0);
/// }
/// assert!((table.adjusted_rand_index() - 0.5454545454545454).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Contingency {
    clusters: usize,
    counts: Vec<f64>,
    /// The number of rows of positive weight.
    rows: f64,
}

impl Contingency {
    /// An empty table for these numbers of groups.
    pub fn new(truths: usize, clusters: usize) -> Contingency {
        Contingency {
            clusters,
            counts: vec![0.0; truths * clusters],
            rows: 0.0,
        }
    }

    /// Adds a row, which counts as `weight` rows.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn observe(&mut self, truth: usize, cluster: usize, weight: f64) {
        assert!(cluster < self.clusters);
        self.counts[truth * self.clusters + cluster] += weight;
        self.rows += if weight > 0.0 { 1.0 } else { 0.0 };
    }

    /// Adds the rows of another table.
    ///
    /// # Panics
    /// If the tables have different sizes.
    pub fn merge(&mut self, other: &Contingency) {
        assert_eq!(self.counts.len(), other.counts.len());
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.rows += other.rows;
    }

    /// The adjusted Rand index: 1 if both groupings are the same, 0 on average if they are
    /// independent.
    pub fn adjusted_rand_index(&self) -> f64 {
        // Weights with a mean below 1 are scaled to a mean of 1; lighter rows would have no
        // pairs.
        let unit = (self.rows / self.counts.iter().sum::<f64>()).max(1.0);
        let pair = |n: f64| n * (n - 1.0) / 2.0;
        let pairs = |counts: &[f64]| counts.iter().map(|n| pair(unit * n)).sum::<f64>();
        let (truths, clusters) = self.margins();
        let (both, a, b) = (pairs(&self.counts), pairs(&truths), pairs(&clusters));
        let all = pairs(&[self.counts.iter().sum()]);
        // The formula would be 0/0.
        if a == both && b == both {
            return 1.0;
        }
        let expected = if all > 0.0 { a * (b / all) } else { 0.0 };
        (both - expected) / ((a + b) / 2.0 - expected)
    }

    /// The mutual information divided by the mean of both entropies: 1 if both groupings are
    /// the same, 0 if they are independent.
    pub fn normalized_mutual_information(&self) -> f64 {
        let total: f64 = self.counts.iter().sum();
        let entropy = |counts: &[f64]| {
            let seen = counts.iter().filter(|n| **n > 0.0);
            seen.map(|n| -(n / total) * (n / total).ln()).sum::<f64>()
        };
        let (truths, clusters) = self.margins();
        let (a, b) = (entropy(&truths), entropy(&clusters));
        // Both groupings have a single group, so they are the same.
        if a + b <= 0.0 {
            return 1.0;
        }
        let mutual = a + b - entropy(&self.counts);
        (mutual / ((a + b) / 2.0)).clamp(0.0, 1.0)
    }

    fn margins(&self) -> (Vec<f64>, Vec<f64>) {
        let rows = self.counts.chunks(self.clusters.max(1));
        let truths = rows.clone().map(|row| row.iter().sum()).collect();
        let sum = |cluster: usize| rows.clone().map(|row| row[cluster]).sum();
        (truths, (0..self.clusters).map(sum).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(usize, usize)]) -> Contingency {
        let mut table = Contingency::new(4, 4);
        for (a, b) in pairs {
            table.observe(*a, *b, 1.0);
        }
        table
    }

    const PAIRS: [(usize, usize); 9] = [
        (0, 1),
        (0, 1),
        (1, 1),
        (1, 0),
        (2, 0),
        (2, 2),
        (2, 2),
        (3, 2),
        (0, 3),
    ];

    #[test]
    fn renaming_and_exchanging_groups_changes_nothing() {
        let table = of(&PAIRS);
        let renamed: Vec<_> = PAIRS.iter().map(|(a, b)| ((a + 1) % 4, 3 - b)).collect();
        let exchanged: Vec<_> = PAIRS.iter().map(|(a, b)| (*b, *a)).collect();
        for other in [of(&renamed), of(&exchanged)] {
            let ari = table.adjusted_rand_index() - other.adjusted_rand_index();
            let nmi = table.normalized_mutual_information() - other.normalized_mutual_information();
            assert!(ari.abs() < 1e-14 && nmi.abs() < 1e-14);
        }
    }

    #[test]
    fn a_grouping_agrees_with_itself_and_a_single_group_with_none() {
        let same: Vec<_> = PAIRS.iter().map(|(a, _)| (*a, (a + 2) % 4)).collect();
        assert_eq!(of(&same).adjusted_rand_index(), 1.0);
        assert!((of(&same).normalized_mutual_information() - 1.0).abs() < 1e-14);
        let single: Vec<_> = PAIRS.iter().map(|(a, _)| (*a, 0)).collect();
        assert_eq!(of(&single).adjusted_rand_index(), 0.0);
        assert!(of(&single).normalized_mutual_information() < 1e-14);
        for few in [vec![], vec![(1, 1)], vec![(1, 1), (1, 1)]] {
            assert_eq!(of(&few).adjusted_rand_index(), 1.0);
            assert_eq!(of(&few).normalized_mutual_information(), 1.0);
        }
    }

    #[test]
    fn merging_two_halves_equals_the_whole() {
        let (a, b) = PAIRS.split_at(4);
        let mut merged = of(a);
        merged.merge(&of(b));
        assert_eq!(merged, of(&PAIRS));
    }

    #[test]
    fn small_weights_do_not_change_the_agreement() {
        let whole = of(&PAIRS).adjusted_rand_index();
        for weight in [0.3, 0.01] {
            let mut light = Contingency::new(4, 4);
            for (a, b) in PAIRS {
                light.observe(a, b, weight);
            }
            assert!((light.adjusted_rand_index() - whole).abs() < 1e-12);
        }
    }
}
