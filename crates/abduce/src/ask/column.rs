//! Predicting any column of levels from the others.

use super::{Joint, Posterior, repeated};
use crate::data::{Chunk, Column};
use crate::{Error, Result};

/// The probabilities of the levels of a column given the other cells of each row, by Bayes'
/// theorem: the density of the row with each level in turn. The cells of the column itself are
/// not used.
///
/// Rows that no level makes possible have the probabilities of the column alone; they are
/// [`impossible`](Posterior::impossible).
///
/// ```
/// use abduce::ask::posterior_of;
/// use abduce::prelude::*;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pets.csv");
/// # std::fs::write(&path, "pet,sound\ncat,meow\ncat,meow\ndog,bark\ndog,bark\ndog,meow\n")?;
/// let table = Table::read(&path)?;
/// let model = NaiveBayes::new("pet").smoothing(0.0).fit(&table)?;
/// let sound = model.schema().position("sound")?;
/// let posterior = posterior_of(model.joint()?, sound, &table.chunks()[0])?;
/// // P(meow | cat) = 1; the levels are in the order bark, meow.
/// assert!((posterior.row(0)[1] - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the column has no levels, the model has no densities, or the arithmetic fails.
pub fn posterior_of(joint: &dyn Joint, column: usize, chunk: &Chunk) -> Result<Posterior> {
    if joint.target() == Some(column) {
        return joint.posterior(chunk);
    }
    let field = &joint.schema().fields[column];
    if field.levels.is_empty() {
        let message = format!("a {} column has no levels to predict", field.kind.name());
        return Err(Error::parameter(message).at_column(&field.name));
    }
    joint.check_density()?;
    let (rows, levels) = (chunk.rows(), field.levels.len());
    let logarithms = log_joint(joint, column, chunk)?;
    let nothing = repeated(joint.schema(), &vec![None; joint.schema().fields.len()], 1);
    let alone = normalized(log_joint(joint, column, &nothing)?);
    let mut probabilities = vec![0.0; rows * levels];
    let mut impossible = Vec::new();
    for (row, out) in probabilities.chunks_exact_mut(levels).enumerate() {
        let log_probabilities: Vec<f64> = (0..levels)
            .map(|level| logarithms[level * rows + row])
            .collect();
        if log_probabilities
            .iter()
            .all(|log| *log == f64::NEG_INFINITY)
        {
            out.copy_from_slice(&alone);
            impossible.push(row);
        } else {
            out.copy_from_slice(&normalized(log_probabilities));
        }
    }
    Ok(Posterior::new(levels, probabilities).with_impossible(impossible))
}

/// The log-densities of the rows with each level of a column, level after level.
fn log_joint(joint: &dyn Joint, column: usize, chunk: &Chunk) -> Result<Vec<f64>> {
    let levels = joint.schema().fields[column].levels.len() as u32;
    let mut all = Vec::with_capacity(levels as usize * chunk.rows());
    for level in 0..levels {
        let cells = Column::from_codes(vec![Some(level); chunk.rows()]);
        all.extend(joint.log_density(&chunk.clone().with_column(column, cells))?);
    }
    Ok(all)
}

/// Probabilities from their logarithms, up to a common factor.
fn normalized(logarithms: Vec<f64>) -> Vec<f64> {
    let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logarithms.iter().map(|log| (log - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}
