//! The matrices of a mixture over many correlated columns, in a compact form for the model file:
//! half of a symmetric matrix, in base64 of little-endian 64-bit numbers. Of a covariance that
//! follows from the scatter, only the diagonal is stored. Every number is restored to its last bit.
//! Files with such matrices have version 2 of the format.

use crate::Result;
use crate::family::{
    Covariance, Distribution, LeafFamily, MultivariateGaussian, MultivariateStats, Statistics,
};
use crate::leaf::Leaf;
use crate::model::mixture::{FittedMixture, MixtureStatistics};
use crate::validate::contradiction;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The minimum number of columns of a compact matrix; smaller matrices are lists of numbers.
const MIN_COLUMNS: usize = 64;

/// The maximum number of columns of a matrix in a file; a damaged file must not exhaust the memory.
const MAX_COLUMNS: usize = 40_000;

/// A matrix stored separately; its place in the model has an empty list of numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredMatrix {
    leaf: usize,
    of: Owner,
    numbers: Numbers,
}

/// What a matrix belongs to; components are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Owner {
    /// The scatter of a component.
    Scatter(usize),
    /// The covariance of a component.
    Covariance(usize),
    /// The distribution of columns without values.
    #[serde(rename = "vague")]
    Fallback,
}

/// The numbers of a matrix.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Numbers {
    /// All entries, column by column.
    Whole(Binary),
    /// The entries of a symmetric matrix at and above the diagonal, column by column.
    Triangle(Binary),
    /// The diagonal; the other entries are 0.
    Diagonal(Binary),
    /// The diagonal; the other entries are those of the component's scatter times a factor.
    OfScatter { factor: f64, diagonal: Binary },
    /// The same with the sum of the scatters of all components.
    OfPooledScatter { factor: f64, diagonal: Binary },
    /// The same matrix as the covariance of an earlier component.
    Same(usize),
}

/// Numbers as text: base64 of 64-bit floating point numbers in little-endian order.
#[derive(Clone, Debug)]
struct Binary(Vec<f64>);

impl Serialize for Binary {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|x| x.to_le_bytes()).collect();
        serializer.serialize_str(&STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for Binary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Binary;

            fn expecting(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
                out.write_str("numbers in base64")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Binary, E> {
                let bytes = STANDARD.decode(text).map_err(E::custom)?;
                let (numbers, rest) = bytes.as_chunks::<8>();
                if !rest.is_empty() {
                    return Err(E::custom("the length is not a multiple of 8 bytes"));
                }
                Ok(Binary(
                    numbers.iter().map(|x| f64::from_le_bytes(*x)).collect(),
                ))
            }
        }
        let Binary(numbers) = deserializer.deserialize_str(Text)?;
        if numbers.iter().all(|x| x.is_finite()) {
            Ok(Binary(numbers))
        } else {
            Err(D::Error::custom("a number is not finite"))
        }
    }
}

impl FittedMixture {
    /// The same mixture with compact matrices, for a file; `None` if no matrix is large.
    pub(super) fn compacted(&self) -> Option<FittedMixture> {
        let mut matrices = Vec::new();
        for (leaf, order) in wide_leaves(&self.leaves) {
            let mut push = |of, numbers| matrices.push(StoredMatrix { leaf, of, numbers });
            let numbers = |matrix: &[f64]| Numbers::of(matrix, order);
            if let Some(fallback) = fallback(&self.leaves[leaf].family).and_then(matrix_of) {
                push(Owner::Fallback, numbers(fallback));
            }
            for (j, component) in self.statistics.leaves[leaf].iter().enumerate() {
                if let Some((_, scatter)) = scatter_of(component) {
                    push(Owner::Scatter(j), numbers(scatter));
                }
            }
            for (j, numbers) in covariances(self, leaf, order) {
                push(Owner::Covariance(j), numbers);
            }
        }
        if matrices.is_empty() {
            return None;
        }
        let mut compact = self.clone();
        for stored in &matrices {
            if let Some(matrix) = compact.matrix_mut(stored.leaf, stored.of) {
                *matrix = Vec::new();
            }
        }
        compact.matrices = matrices;
        Some(compact)
    }

    /// Moves the matrices of a file to their places in the model.
    pub(super) fn restore_matrices(&mut self) -> Result<()> {
        let matrices = std::mem::take(&mut self.matrices);
        for (number, stored) in matrices.into_iter().enumerate() {
            let damaged = |what: &str| contradiction(&format!("body.matrices[{number}]"), what);
            let StoredMatrix { leaf, of, numbers } = stored;
            let order = self.leaves.get(leaf).map_or(0, |leaf| leaf.columns.len());
            let matrix = self.matrix(leaf, of, numbers, order);
            let matrix =
                matrix.ok_or_else(|| damaged("the numbers do not form a matrix of this leaf"))?;
            let place = self.matrix_mut(leaf, of);
            *place.ok_or_else(|| damaged("there is no such matrix"))? = matrix;
        }
        Ok(())
    }

    /// The whole matrix with these numbers; `None` if their number is wrong, or they refer to a
    /// matrix that does not exist.
    fn matrix(&self, leaf: usize, of: Owner, numbers: Numbers, order: usize) -> Option<Vec<f64>> {
        if order > MAX_COLUMNS {
            return None;
        }
        let is_diagonal = |numbers: &Binary| numbers.0.len() == order;
        match (numbers, of) {
            (Numbers::Whole(Binary(all)), _) => (all.len() == order * order).then_some(all),
            (Numbers::Triangle(Binary(upper)), _) => {
                (upper.len() == order * (order + 1) / 2).then(|| mirrored(&upper, order))
            }
            (Numbers::Diagonal(diagonal), _) if is_diagonal(&diagonal) => {
                Some(with_diagonal(vec![0.0; order * order], &diagonal.0))
            }
            (Numbers::OfScatter { factor, diagonal }, Owner::Covariance(j))
                if is_diagonal(&diagonal) =>
            {
                let (_, scatter) = scatter_of(self.statistics.leaves.get(leaf)?.get(j)?)?;
                let scaled: Vec<f64> = scatter.iter().map(|s| factor * s).collect();
                (scaled.len() == order * order).then(|| with_diagonal(scaled, &diagonal.0))
            }
            (Numbers::OfPooledScatter { factor, diagonal }, Owner::Covariance(_))
                if is_diagonal(&diagonal) =>
            {
                let mut scaled = pooled_scatter(&self.statistics, leaf, order)?;
                scaled.iter_mut().for_each(|s| *s *= factor);
                Some(with_diagonal(scaled, &diagonal.0))
            }
            (Numbers::Same(other), Owner::Covariance(j)) if other < j => {
                let same = self.parameters.leaves.get(leaf)?.get(other)?;
                let same = gaussian(same).and_then(matrix_of)?;
                (same.len() == order * order).then(|| same.to_vec())
            }
            _ => None,
        }
    }

    fn matrix_mut(&mut self, leaf: usize, of: Owner) -> Option<&mut Vec<f64>> {
        let gaussian = match of {
            Owner::Scatter(j) => {
                let moments = match self.statistics.leaves.get_mut(leaf)?.get_mut(j)? {
                    Statistics::Multivariate(moments) => moments,
                    Statistics::MultivariateStudentT(stats) => &mut stats.moments,
                    _ => return None,
                };
                return match moments {
                    MultivariateStats::Full { scatter, .. } => Some(scatter),
                    MultivariateStats::Columns { .. } => None,
                };
            }
            Owner::Covariance(j) => match self.parameters.leaves.get_mut(leaf)?.get_mut(j)? {
                Distribution::Multivariate(gaussian) => gaussian,
                Distribution::MultivariateStudentT(t) => &mut t.gaussian,
                _ => return None,
            },
            Owner::Fallback => match &mut self.leaves.get_mut(leaf)?.family {
                LeafFamily::Multivariate { fallback, .. } => fallback.as_mut()?,
                LeafFamily::MultivariateStudentT { fallback, .. } => {
                    &mut fallback.as_mut()?.gaussian
                }
                _ => return None,
            },
        };
        match &mut gaussian.covariance {
            Covariance::Full(matrix) => Some(matrix),
            _ => None,
        }
    }
}

/// The leaves over many columns, and their number of columns.
fn wide_leaves(leaves: &[Leaf]) -> impl Iterator<Item = (usize, usize)> {
    let orders = leaves.iter().map(|leaf| leaf.columns.len()).enumerate();
    orders.filter(|(_, order)| *order >= MIN_COLUMNS)
}

fn fallback(family: &LeafFamily) -> Option<&MultivariateGaussian> {
    match family {
        LeafFamily::Multivariate { fallback, .. } => fallback.as_ref(),
        LeafFamily::MultivariateStudentT { fallback, .. } => fallback.as_ref().map(|t| &t.gaussian),
        _ => None,
    }
}

fn gaussian(distribution: &Distribution) -> Option<&MultivariateGaussian> {
    match distribution {
        Distribution::Multivariate(gaussian) => Some(gaussian),
        Distribution::MultivariateStudentT(t) => Some(&t.gaussian),
        _ => None,
    }
}

fn matrix_of(gaussian: &MultivariateGaussian) -> Option<&[f64]> {
    match &gaussian.covariance {
        Covariance::Full(matrix) => Some(matrix),
        _ => None,
    }
}

/// The weight and the scatter of a component.
fn scatter_of(statistics: &Statistics) -> Option<(f64, &[f64])> {
    let moments = match statistics {
        Statistics::Multivariate(moments) => moments,
        Statistics::MultivariateStudentT(stats) => &stats.moments,
        _ => return None,
    };
    match moments {
        MultivariateStats::Full {
            weight, scatter, ..
        } => Some((*weight, scatter)),
        MultivariateStats::Columns { .. } => None,
    }
}

/// The sum of the scatters of all components of a leaf, in their order.
fn pooled_scatter(statistics: &MixtureStatistics, leaf: usize, order: usize) -> Option<Vec<f64>> {
    let mut sum = vec![0.0; order * order];
    for component in statistics.leaves.get(leaf)? {
        let (_, scatter) = scatter_of(component)?;
        if scatter.len() != sum.len() {
            return None;
        }
        sum.iter_mut().zip(scatter).for_each(|(a, s)| *a += s);
    }
    Some(sum)
}

/// The covariances of a leaf, each in the shortest form that restores it.
fn covariances(mixture: &FittedMixture, leaf: usize, order: usize) -> Vec<(usize, Numbers)> {
    let components = mixture.parameters.leaves[leaf].iter().enumerate();
    let matrices = components.filter_map(|(j, one)| Some((j, matrix_of(gaussian(one)?)?)));
    let matrices: Vec<(usize, &[f64])> = matrices.collect();
    let (mut found, mut total) = (Vec::with_capacity(matrices.len()), 0.0);
    let statistics = &mixture.statistics.leaves[leaf];
    let weights = statistics.iter().filter_map(scatter_of);
    weights.for_each(|(weight, _)| total += weight);
    let mut pooled: Option<Option<Vec<f64>>> = None;
    for (j, matrix) in matrices.iter().copied() {
        let same = matrices
            .iter()
            .find(|(other, of)| *other < j && *of == matrix);
        let numbers = if let Some((other, _)) = same {
            Numbers::Same(*other)
        } else if let Some((weight, scatter)) = statistics.get(j).and_then(scatter_of)
            && is_multiple(matrix, scatter, 1.0 / weight, order)
        {
            Numbers::OfScatter {
                factor: 1.0 / weight,
                diagonal: diagonal(matrix, order),
            }
        } else {
            let pooled =
                pooled.get_or_insert_with(|| pooled_scatter(&mixture.statistics, leaf, order));
            match pooled {
                Some(sum) if is_multiple(matrix, sum, 1.0 / total, order) => {
                    Numbers::OfPooledScatter {
                        factor: 1.0 / total,
                        diagonal: diagonal(matrix, order),
                    }
                }
                _ => Numbers::of(matrix, order),
            }
        };
        found.push((j, numbers));
    }
    found
}

/// Whether a matrix equals another times a factor, bit for bit, except on the diagonal.
fn is_multiple(matrix: &[f64], other: &[f64], factor: f64, order: usize) -> bool {
    // Each chunk begins with an entry of the diagonal.
    let is_same = |t: usize, x: f64, s: f64| (factor * s).to_bits() == x.to_bits() || t == 0;
    matrix.len() == order * order
        && other.len() == matrix.len()
        && factor.is_finite()
        && matrix
            .chunks(order + 1)
            .zip(other.chunks(order + 1))
            .all(|(part, other)| {
                let pairs = part.iter().zip(other).enumerate();
                pairs.into_iter().all(|(t, (x, s))| is_same(t, *x, *s))
            })
}

fn diagonal(matrix: &[f64], order: usize) -> Binary {
    Binary(matrix.iter().step_by(order + 1).copied().collect())
}

fn with_diagonal(mut matrix: Vec<f64>, diagonal: &[f64]) -> Vec<f64> {
    let entries = matrix.iter_mut().step_by(diagonal.len() + 1);
    entries.zip(diagonal).for_each(|(entry, x)| *entry = *x);
    matrix
}

/// The symmetric matrix with this upper half.
fn mirrored(upper: &[f64], order: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; order * order];
    let mut rest = upper;
    for (j, column) in matrix.chunks_exact_mut(order.max(1)).enumerate() {
        let (above, others) = rest.split_at(j + 1);
        column[..=j].copy_from_slice(above);
        rest = others;
    }
    crate::kernel::linear::mirror_upper(&mut matrix, order);
    matrix
}

impl Numbers {
    /// The shortest form of a matrix that does not refer to other matrices.
    fn of(matrix: &[f64], order: usize) -> Numbers {
        if matrix.len() != order * order {
            return Numbers::Whole(Binary(matrix.to_vec()));
        }
        let columns = || matrix.chunks_exact(order).enumerate();
        let zero = |x: &f64| x.to_bits() == 0;
        if columns().all(|(j, column)| column[..j].iter().chain(&column[j + 1..]).all(zero)) {
            return Numbers::Diagonal(diagonal(matrix, order));
        }
        let upper: Vec<f64> = columns()
            .flat_map(|(j, column)| column[..=j].iter().copied())
            .collect();
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        if mirrored(&upper, order).iter().zip(matrix).all(same) {
            return Numbers::Triangle(Binary(upper));
        }
        Numbers::Whole(Binary(matrix.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(order: usize) -> Vec<f64> {
        let numbers = (0..order * order).map(|t| ((t * t) as f64 * 0.37).sin());
        numbers.collect()
    }

    #[test]
    fn a_matrix_is_stored_in_the_shortest_form_that_restores_its_bits() {
        let order = 5;
        let whole = numbers(order);
        assert!(matches!(Numbers::of(&whole, order), Numbers::Whole(_)));
        let mut symmetric = whole.clone();
        crate::kernel::linear::mirror_upper(&mut symmetric, order);
        let Numbers::Triangle(Binary(upper)) = Numbers::of(&symmetric, order) else {
            panic!("the matrix is symmetric");
        };
        assert_eq!(upper.len(), 15);
        assert_eq!(mirrored(&upper, order), symmetric);
        let diagonal = with_diagonal(vec![0.0; order * order], &[1.0, 2.0, -3.0, 0.0, 5.0]);
        assert!(matches!(
            Numbers::of(&diagonal, order),
            Numbers::Diagonal(_)
        ));
        let scaled: Vec<f64> = symmetric.iter().map(|x| 0.1 * x).collect();
        let scaled = with_diagonal(scaled, &[1.0; 5]);
        assert!(is_multiple(&scaled, &symmetric, 0.1, order));
        assert!(!is_multiple(&scaled, &symmetric, 0.1 + f64::EPSILON, order));
    }

    #[test]
    fn binary_numbers_keep_their_bits_and_are_finite() {
        let all = vec![0.1, -0.0, 1e-310, f64::MAX, -1.0 / 3.0];
        let text = serde_json::to_string(&Binary(all.clone())).unwrap();
        let Binary(read) = serde_json::from_str(&text).unwrap();
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        assert_eq!(bits(&read), bits(&all));
        let infinite = serde_json::to_string(&Binary(vec![f64::INFINITY])).unwrap();
        for damaged in [&infinite, "\"AAAA\"", "\"*\"", "7"] {
            assert!(
                serde_json::from_str::<Binary>(damaged).is_err(),
                "{damaged}"
            );
        }
    }
}
