//! Tail probabilities: how probable a row is that is no likelier than a given one,
//!
//!   P(p(X_seen) ≤ p(x_seen)),
//!
//! under the model's marginal distribution of the cells observed in that row. Log-densities of
//! rows with different missing values are in different units and cannot be compared; these
//! probabilities can. They are estimated from rows drawn from the model, to which each
//! pattern of missing values is applied in turn. Labels are left out, so that labelled and
//! unlabelled rows are judged by the same p(x).

use super::Joint;
use crate::data::{CHUNK_ROWS, Chunk, Column, Source, UnseenCategory};
use crate::{Error, ErrorKind, Result};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// The number of rows drawn, at most and at least, and how many log-densities of drawn rows
/// are computed for all patterns together.
const MAX_DRAWS: usize = 10_000;
const MIN_DRAWS: usize = 200;
const EVALUATIONS: usize = 10_000_000;

/// The share of the draws, the least likely ones, that determine how fast the tail falls, and
/// the share that is left below the point where draws are too few to be counted; each with
/// its least number of draws.
const TAIL: (f64, usize) = (0.025, 20);
const FEW: (f64, usize) = (0.003, 5);

/// Patterns whose tails are kept; those of other patterns are computed for each chunk again.
/// Each takes a few kilobytes, and a table may have as many patterns as rows.
const MAX_PATTERNS: usize = EVALUATIONS / MIN_DRAWS;

/// Which columns of a row are observed, one bit each; the target counts as missing.
type Pattern = Vec<u64>;

/// Tail probabilities of the rows of a source under a model.
///
/// ```
/// use abduce::ask::TailProbabilities;
/// use abduce::data::{Column, Field, Kind, Schema, Table};
/// use abduce::Control;
/// use abduce::model::mixture::{CovarianceKind, FitOptions, Specification, fit};
/// let x = (0..50).map(|row| Some((row as f64).sin())).chain([Some(20.0), None]);
/// let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
/// let table = Table::new(schema, vec![Column::from_numbers(x)], None)?;
/// let specification = Specification::mixture(1, CovarianceKind::Full);
/// let fit = fit(&specification, &table, &FitOptions::default(), Control::default())?;
/// let tails = TailProbabilities::new(&fit.mixture, &table, 0)?.expect("Gaussians can be drawn");
/// let log_probabilities = tails.log_probabilities(&table.chunks()[0])?;
/// assert!(log_probabilities[50].exp() < 1e-6);
/// assert_eq!(log_probabilities[51], 0.0, "nothing is seen that could be unlikely");
/// # Ok::<(), abduce::Error>(())
/// ```
pub struct TailProbabilities<'a> {
    joint: &'a dyn Joint,
    drawn: Vec<Chunk>,
    /// The columns that are not drawn.
    not_drawn: Vec<usize>,
    tails: HashMap<Pattern, Tail>,
}

impl<'a> TailProbabilities<'a> {
    /// Draws rows from the model and prepares the patterns of missing values in a source;
    /// `None` if the model cannot draw all observed columns, such as texts and columns of
    /// nearest-neighbour densities.
    ///
    /// # Errors
    /// If the source cannot be read, or the arithmetic fails.
    pub fn new(joint: &'a dyn Joint, source: &dyn Source, seed: u64) -> Result<Option<Self>> {
        let patterns = patterns_of(joint, source)?;
        let draws = EVALUATIONS / patterns.len().max(1);
        let drawn = match draw(joint, draws.clamp(MIN_DRAWS, MAX_DRAWS), seed) {
            Err(error) if error.kind() == ErrorKind::Parameter => return Ok(None),
            drawn => drawn?,
        };
        let is_drawn = |column: usize| {
            let missing =
                |chunk: &Chunk| chunk.column(column).nulls().map_or(0, |n| n.null_count());
            drawn.iter().all(|chunk| missing(chunk) == 0)
        };
        let columns = 0..joint.schema().fields.len();
        let not_drawn: Vec<usize> = columns.filter(|column| !is_drawn(*column)).collect();
        if patterns.iter().any(|pattern| sees_any(pattern, &not_drawn)) {
            return Ok(None);
        }
        let tails = tails_of(joint, &drawn, patterns)?;
        let tails = TailProbabilities {
            joint,
            drawn,
            not_drawn,
            tails,
        };
        Ok(Some(tails))
    }

    /// The natural logarithms of the tail probabilities of rows of the source; −∞ for a row
    /// that is impossible under the model.
    ///
    /// # Errors
    /// If the arithmetic fails, or the model has no density of a row or cannot draw its columns.
    pub fn log_probabilities(&self, chunk: &Chunk) -> Result<Vec<f64>> {
        let target = self.joint.target();
        let densities = match target {
            Some(target) => self
                .joint
                .log_density(&without_column(self.joint, chunk, target))?,
            None => self.joint.log_density(chunk)?,
        };
        let patterns = patterns(self.joint, chunk);
        let more = patterns
            .iter()
            .filter(|pattern| !self.tails.contains_key(*pattern));
        let more: HashSet<Pattern> = more.cloned().collect();
        if more
            .iter()
            .any(|pattern| sees_any(pattern, &self.not_drawn))
        {
            let message = "rows with these columns cannot be drawn from the model";
            return Err(Error::parameter(message));
        }
        let more = tails_of(self.joint, &self.drawn, more)?;
        let tail = |pattern: &Pattern| self.tails.get(pattern).unwrap_or_else(|| &more[pattern]);
        let rows = patterns.iter().zip(densities);
        let log_probability =
            |(pattern, density): (&Pattern, f64)| tail(pattern).log_probability(density);
        Ok(rows.map(log_probability).collect())
    }
}

/// The tail of each pattern.
fn tails_of(
    joint: &dyn Joint,
    drawn: &[Chunk],
    patterns: HashSet<Pattern>,
) -> Result<HashMap<Pattern, Tail>> {
    let tails = patterns.into_par_iter().map(|pattern| {
        let tail = Tail::of(joint, drawn, &pattern)?;
        Ok((pattern, tail))
    });
    tails.collect()
}

/// The distribution of the log-density of drawn rows, for one pattern of missing values.
struct Tail {
    /// Ascending.
    log_densities: Vec<f64>,
    /// The draw below which the tail is taken to be exponential, and its rate.
    first: usize,
    rate: f64,
}

impl Tail {
    fn of(joint: &dyn Joint, drawn: &[Chunk], pattern: &Pattern) -> Result<Tail> {
        let mut log_densities = Vec::new();
        for chunk in drawn {
            let mut masked = chunk.clone();
            for column in 0..joint.schema().fields.len() {
                if !is_seen(pattern, column) {
                    masked = without_column(joint, &masked, column);
                }
            }
            log_densities.extend(joint.log_density(&masked)?);
        }
        Ok(Tail::new(log_densities))
    }

    fn new(mut log_densities: Vec<f64>) -> Tail {
        log_densities.sort_by(f64::total_cmp);
        let rank = |(share, least): (f64, usize)| {
            let rank = (share * log_densities.len() as f64) as usize;
            rank.max(least).min(log_densities.len() - 1)
        };
        // The excesses of log-densities below a low threshold are nearly exponential: of
        // Gaussians with a rate near 1, of heavier tails with a lower one (Hill 1975).
        let (below, above) = log_densities.split_at(rank(TAIL));
        let finite = below.iter().filter(|x| x.is_finite());
        let excess = finite.map(|x| above[0] - x).sum::<f64>() / below.len() as f64;
        Tail {
            first: rank(FEW),
            // Where the least likely draws are all alike, p(x) itself sets the pace.
            rate: if excess > 1e-9 { 1.0 / excess } else { 1.0 },
            log_densities,
        }
    }

    fn log_probability(&self, log_density: f64) -> f64 {
        // Equal rows may differ in the last digits of their densities.
        let equal = log_density + 1e-9 * (1.0 + log_density.abs());
        let draws = self.log_densities.len() as f64;
        let below = self.log_densities.partition_point(|other| *other <= equal);
        if below > self.first {
            return (below as f64 / draws).ln();
        }
        let excess = self.log_densities[self.first] - log_density;
        ((self.first + 1) as f64 / draws).ln() - self.rate * excess
    }
}

fn draw(joint: &dyn Joint, rows: usize, seed: u64) -> Result<Vec<Chunk>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x7a11);
    let nothing = vec![None; joint.schema().fields.len()];
    let starts = (0..rows).step_by(CHUNK_ROWS);
    starts
        .map(|start| joint.sample(&nothing, CHUNK_ROWS.min(rows - start), &mut rng))
        .collect()
}

fn without_column(joint: &dyn Joint, chunk: &Chunk, column: usize) -> Chunk {
    let kind = joint.schema().fields[column].kind;
    let hidden = Column::hidden(kind, chunk.rows());
    chunk.clone().with_column(column, hidden)
}

fn sees_any(pattern: &Pattern, columns: &[usize]) -> bool {
    columns.iter().any(|column| is_seen(pattern, *column))
}

fn is_seen(pattern: &Pattern, column: usize) -> bool {
    pattern[column / 64] >> (column % 64) & 1 == 1
}

/// The pattern of every row of a chunk.
fn patterns(joint: &dyn Joint, chunk: &Chunk) -> Vec<Pattern> {
    let words = chunk.columns().len().div_ceil(64).max(1);
    let mut patterns = vec![vec![0; words]; chunk.rows()];
    let unseen = joint.unseen_categories();
    for (column, values) in chunk.columns().iter().enumerate() {
        if Some(column) == joint.target() {
            continue;
        }
        let cells = values.cells(0, chunk.rows());
        let levels = match joint.schema().fields[column].levels.len() {
            levels if unseen[column] == UnseenCategory::Missing => levels,
            _ => usize::MAX,
        };
        for (row, pattern) in patterns.iter_mut().enumerate() {
            let known = cells
                .codes()
                .get(row)
                .is_none_or(|code| (*code as usize) < levels);
            pattern[column / 64] |= u64::from(cells.is_seen(row) && known) << (column % 64);
        }
    }
    patterns
}

/// The patterns of the rows that the model has a density of, up to [`MAX_PATTERNS`].
fn patterns_of(joint: &dyn Joint, source: &dyn Source) -> Result<HashSet<Pattern>> {
    let mut all = HashSet::new();
    for chunk in source.scan()? {
        let chunk = chunk?;
        let unanswerable = joint.unanswerable(&chunk);
        for (row, pattern) in patterns(joint, &chunk).into_iter().enumerate() {
            if all.len() == MAX_PATTERNS {
                return Ok(all);
            }
            if unanswerable.binary_search(&row).is_err() {
                all.insert(pattern);
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution as _, StandardNormal};

    #[test]
    fn the_tail_of_a_gaussian_is_that_of_its_distance() {
        // Of one number, the rows no likelier than z are those beyond ±z.
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let draws = (0..10_000).map(|_| {
            let z: f64 = StandardNormal.sample(&mut rng);
            -0.5 * z * z
        });
        let tail = Tail::new(draws.collect());
        for (z, exact) in [
            (0.0, 1.0),
            (1.0, 0.317_310_5),
            (2.0, 0.045_500_3),
            (3.0, 2.699_8e-3),
            (4.0, 6.334_2e-5),
            (5.0, 5.733e-7),
            (6.0, 1.973e-9),
        ] {
            let found = tail.log_probability(-0.5 * z * z);
            // Within a factor of 2 up to 4σ, and an order of magnitude beyond.
            let most = [0.03, 0.03, 0.1, 0.4, 0.7, 2.3, 2.3][z as usize];
            let off = (found - f64::ln(exact)).abs();
            assert!(off < most, "{z}: {} {exact}", found.exp());
        }
        assert_eq!(tail.log_probability(f64::NEG_INFINITY), f64::NEG_INFINITY);
    }

    #[test]
    fn where_all_draws_are_alike_less_likely_rows_still_rank_by_their_density() {
        let tail = Tail::new(vec![-1.0; 500]);
        assert_eq!(tail.log_probability(-1.0 - 1e-12), 0.0);
        assert!(tail.log_probability(-3.0) < tail.log_probability(-2.0));
        assert!(tail.log_probability(-2.0) < 0.0);
    }
}
