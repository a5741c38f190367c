//! Conversion of the statistics of columns to those of a leaf of another schema.

use crate::data::{Cells, Rows, Translation};
use crate::family::{GaussianStats, MultivariateStats, Statistics};
use crate::leaf::Leaf;

/// The statistics from which those of a column are converted.
pub(super) struct Origin<'a> {
    pub leaf: &'a Leaf,
    pub statistics: &'a Statistics,
    /// The position of the column in its leaf.
    pub position: usize,
    pub translation: &'a Translation,
    /// Whether the statistics contain no expectations of missing cells.
    pub exact: bool,
}

impl Origin<'_> {
    /// The statistics of a leaf over this column only; `mean` is the mean of the column.
    pub fn to_single_column(&self, leaf: &Leaf, mean: f64) -> Option<Statistics> {
        if leaf.fixed {
            return self.as_constant(mean);
        }
        if self.leaf.fixed {
            return self.statistics_of_constant(leaf);
        }
        let mut converted = leaf.family.zero();
        match (self.translation, levels(self.statistics), &mut converted) {
            (Translation::Numbers(numbers), Some(counts), converted) => {
                observe(leaf, numbers, &counts, converted);
            }
            (translation, Some(counts), Statistics::Categorical(to)) => {
                add_translated(translation, &counts, &mut to.counts);
            }
            (translation, Some(counts), Statistics::Bernoulli(to)) => {
                let mut pair = [0.0; 2];
                add_translated(translation, &counts, &mut pair);
                [to.failures, to.successes] = pair;
            }
            (translation, None, Statistics::Words(to)) => {
                let Statistics::Words(from) = self.statistics else {
                    return None;
                };
                to.documents = from.documents;
                add_translated(translation, &from.counts, &mut to.counts);
            }
            (translation, None, Statistics::Presence(to)) => {
                let Statistics::Presence(from) = self.statistics else {
                    return None;
                };
                to.documents = from.documents;
                add_translated(translation, &from.counts, &mut to.counts);
            }
            (_, None, converted) => {
                let kind = std::mem::discriminant::<Statistics>;
                if kind(converted) != kind(self.statistics) {
                    return None;
                }
                converted.clone_from(self.statistics);
            }
            _ => return None,
        }
        Some(converted)
    }

    /// The statistics of a constant column with value `x`.
    fn as_constant(&self, x: f64) -> Option<Statistics> {
        // The expectations of missing cells vary.
        if matches!(self.statistics, Statistics::Multivariate(_)) && !self.exact {
            return None;
        }
        let weight = self.moments().map(|moments| moments.weight);
        let weight = weight.unwrap_or_else(|| self.statistics.weight());
        Some(Statistics::Gaussian(constant(x, weight)))
    }

    /// The statistics of rows that all have the constant of this column.
    fn statistics_of_constant(&self, leaf: &Leaf) -> Option<Statistics> {
        let mut converted = leaf.family.zero();
        let moments = self.moments()?;
        if let Translation::Constant(code) = self.translation {
            match &mut converted {
                Statistics::Categorical(to) => to.counts[*code as usize] = moments.weight,
                Statistics::Bernoulli(to) if *code == 0 => to.failures = moments.weight,
                Statistics::Bernoulli(to) => to.successes = moments.weight,
                _ => return None,
            }
            return Some(converted);
        }
        if moments.weight > 0.0 && !leaf.family.supports(moments.mean) {
            return None;
        }
        observe(leaf, &[moments.mean], &[moments.weight], &mut converted);
        Some(converted)
    }

    /// The weight, mean and scatter of the column.
    fn moments(&self) -> Option<GaussianStats> {
        match self.statistics {
            Statistics::Gaussian(stats) => Some(stats.clone()),
            Statistics::Multivariate(MultivariateStats::Columns { columns, .. }) => {
                columns.get(self.position).cloned()
            }
            Statistics::Multivariate(MultivariateStats::Full {
                weight,
                mean,
                scatter,
            }) => Some(GaussianStats {
                weight: *weight,
                mean: mean[self.position],
                scatter: scatter[self.position * (mean.len() + 1)],
            }),
            _ => None,
        }
    }
}

/// The statistics of columns in one Gaussian, from those of a Gaussian and of constant columns.
/// With correlations, all columns must come from the same rows: they do if they come from one
/// leaf; for several leaves, no row of the component, whose weight is `rows`, may lack a value.
pub(super) fn joint_gaussian(
    leaf: &Leaf,
    origins: &[Option<Origin>],
    rows: f64,
) -> Option<Statistics> {
    let moments_of = |origin: &Option<Origin>| {
        let origin = origin.as_ref();
        origin.map_or(Some(GaussianStats::default()), Origin::moments)
    };
    let moments = origins.iter().map(moments_of);
    let moments: Vec<GaussianStats> = moments.collect::<Option<_>>()?;
    let mut converted = leaf.family.zero();
    let Statistics::Multivariate(statistics) = &mut converted else {
        return None;
    };
    match statistics {
        MultivariateStats::Columns { columns, .. } => columns.clone_from_slice(&moments),
        MultivariateStats::Full {
            weight,
            mean,
            scatter,
        } => {
            *weight = moments.first()?.weight;
            let mut leaves = origins.iter().flatten().map(|origin| origin.leaf);
            let first = leaves.next()?;
            if leaves.any(|leaf| !std::ptr::eq(leaf, first)) && (rows - *weight).abs() > 1e-9 * rows
            {
                return None;
            }
            let differs = |stats: &GaussianStats| (stats.weight - *weight).abs() > 1e-9 * *weight;
            if moments.iter().any(differs) {
                return None;
            }
            let d = mean.len();
            for (i, moments) in moments.iter().enumerate() {
                mean[i] = moments.mean;
                for (j, other) in origins.iter().enumerate() {
                    scatter[j * d + i] = covariation(origins[i].as_ref()?, other.as_ref()?);
                }
            }
        }
    }
    Some(converted)
}

/// The statistics of a leaf over the same columns. Those of a Student t cannot be converted to
/// other columns, as its latent scales are expected from all of them.
pub(super) fn same_columns(leaf: &Leaf, origins: &[Option<Origin>]) -> Option<Statistics> {
    let first = origins.first()?.as_ref()?;
    let is_same = |(position, origin): (usize, &Option<Origin>)| {
        let origin = origin.as_ref();
        origin.is_some_and(|o| std::ptr::eq(o.leaf, first.leaf) && o.position == position)
    };
    let same_positions =
        first.leaf.columns.len() == origins.len() && origins.iter().enumerate().all(is_same);
    let kind = std::mem::discriminant::<Statistics>;
    let same_kind = kind(&leaf.family.zero()) == kind(first.statistics);
    (same_positions && same_kind).then(|| first.statistics.clone())
}

/// The joint scatter of two columns; 0 if one of them was constant.
fn covariation(a: &Origin, b: &Origin) -> f64 {
    match (a.statistics, b.statistics) {
        (
            Statistics::Multivariate(MultivariateStats::Full { mean, scatter, .. }),
            Statistics::Multivariate(_),
        ) => scatter[b.position * mean.len() + a.position],
        _ => 0.0,
    }
}

/// The statistics of count columns that are the word counts of documents.
pub(super) fn word_counts(leaf: &Leaf, origins: &[Option<Origin>]) -> Option<Statistics> {
    let mut converted = leaf.family.zero();
    let (Statistics::Words(to) | Statistics::Presence(to)) = &mut converted else {
        return None;
    };
    for (count, origin) in to.counts.iter_mut().zip(origins) {
        let Some(origin) = origin else {
            continue;
        };
        let (Statistics::Words(from) | Statistics::Presence(from)) = origin.statistics else {
            return None;
        };
        *count = from.counts[origin.position];
        to.documents = from.documents;
    }
    Some(converted)
}

/// The weight of each level; `None` for statistics that are not over levels.
pub(crate) fn levels(statistics: &Statistics) -> Option<Vec<f64>> {
    match statistics {
        Statistics::Categorical(stats) => Some(stats.counts.clone()),
        Statistics::Bernoulli(stats) => Some(vec![stats.failures, stats.successes]),
        _ => None,
    }
}

/// The moments of rows with the same value.
pub(super) fn constant(x: f64, weight: f64) -> GaussianStats {
    if weight <= 0.0 {
        return GaussianStats::default();
    }
    GaussianStats {
        weight,
        mean: x,
        scatter: 0.0,
    }
}

/// Adds numbers of positive weight to the statistics of a leaf.
fn observe(leaf: &Leaf, numbers: &[f64], weights: &[f64], statistics: &mut Statistics) {
    let cells = numbers.iter().zip(weights).filter(|(_, w)| **w > 0.0);
    let (numbers, weights): (Vec<f64>, Vec<f64>) = cells.map(|(x, w)| (*x, *w)).unzip();
    if !numbers.is_empty() {
        let cells = [Cells::real(&numbers)];
        leaf.family
            .observe(&Rows::new(&cells), &weights, statistics);
    }
}

/// Adds counts to those of the same levels or terms under their new codes.
fn add_translated(translation: &Translation, from: &[f64], to: &mut [f64]) {
    for (code, count) in from.iter().enumerate() {
        let code = match translation {
            // A binary column of one level has counts for two.
            Translation::Codes(codes) => codes.get(code).map(|code| *code as usize),
            _ => Some(code),
        };
        if let Some(sum) = code.and_then(|code| to.get_mut(code)) {
            *sum += count;
        }
    }
}
