//! Leaves prepared for many rows, with tables of all components where these are faster than
//! evaluating each distribution.

use crate::Result;
use crate::data::{Cells, Rows};
use crate::family::{Distribution, Family as _, Statistics, TogetherKernel};
use crate::kernel::terms::TermTable;

/// A leaf prepared for all components.
pub(crate) struct LeafKernel<'a> {
    pub distributions: &'a [Distribution],
    /// The number of distributions of the leaf's family; noise of another family follows them.
    pub family_components: usize,
    /// A table of these distributions.
    pub fast: Fast,
    /// Whether noise has its density everywhere, not only in the range of the rows.
    pub unbounded: bool,
}

/// The number of distributions before noise, if noise is a box after another family.
pub(crate) fn before_noise(distributions: &[Distribution]) -> usize {
    match distributions {
        [first, .., Distribution::UniformBox(_)]
            if !matches!(first, Distribution::UniformBox(_)) =>
        {
            distributions.len() - 1
        }
        _ => distributions.len(),
    }
}

/// Tables that are faster than evaluating each distribution.
pub(crate) enum Fast {
    Nothing,
    /// The logarithms of the probabilities of levels.
    Levels(Vec<Vec<f64>>),
    /// All components of a multivariate family at once, with missing values too.
    Together(Box<TogetherKernel>),
    /// The logarithms of the probabilities of terms, all components side by side.
    Terms(TermTable),
}

impl Fast {
    pub fn new(
        distributions: &[Distribution],
        unseen: &[f64],
        weights: &[f64],
        hard: bool,
    ) -> Result<Fast> {
        if let Some(kernel) = TogetherKernel::of(distributions, weights, hard) {
            return kernel.map(|kernel| Fast::Together(Box::new(kernel)));
        }
        if let Some(table) = terms(distributions) {
            return Ok(Fast::Terms(table));
        }
        let levels = distributions.iter().filter_map(Distribution::probabilities);
        // The last entry is for an unseen category, which is impossible without smoothing.
        let unseen_category = |j: usize| unseen.get(j).map_or(f64::NEG_INFINITY, |p| p.ln());
        let logs: Vec<Vec<f64>> = levels
            .enumerate()
            .map(|(j, probabilities)| {
                probabilities
                    .iter()
                    .map(|p| p.ln())
                    .chain([unseen_category(j)])
                    .collect()
            })
            .collect();
        if logs.len() == distributions.len() {
            return Ok(Fast::Levels(logs));
        }
        Ok(Fast::Nothing)
    }
}

/// The table of distributions over documents; `None` for other distributions, or if a probability
/// is 0, which sums of logarithms cannot express.
fn terms(distributions: &[Distribution]) -> Option<TermTable> {
    let words = distributions.iter().map(|distribution| match distribution {
        Distribution::Words(words) if !words.columns && words.concentration.is_none() => {
            Some(words)
        }
        _ => None,
    });
    if let Some(words) = words.collect::<Option<Vec<_>>>() {
        let terms = words.first()?.probabilities.len();
        let weight = |term: usize, j: usize| words[j].log_weight(term);
        return Some(TermTable::new(terms, vec![0.0; words.len()], false, weight));
    }
    let presences = distributions.iter().map(|distribution| match distribution {
        Distribution::Presence(presence) if !presence.columns && !presence.is_certain() => {
            Some(presence.log_weights())
        }
        _ => None,
    });
    let (base, present): (Vec<f64>, Vec<Vec<f64>>) = presences.collect::<Option<_>>()?;
    let weight = |term: usize, j: usize| present[j][term];
    Some(TermTable::new(present.first()?.len(), base, true, weight))
}

/// The leaves over levels as a table of terms: a row is a document with one level from each leaf.
pub(crate) struct LevelTable {
    pub leaves: Vec<usize>,
    /// For each leaf, the position of its first level in the table and the number of its levels,
    /// including one for unseen categories.
    places: Vec<(u32, u32)>,
    table: TermTable,
}

impl LevelTable {
    pub fn new(kernels: &[LeafKernel], components: usize) -> Option<LevelTable> {
        let (mut leaves, mut places, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        for (number, kernel) in kernels.iter().enumerate() {
            if let Fast::Levels(logs) = &kernel.fast {
                leaves.push(number);
                places.push((owners.len() as u32, logs[0].len() as u32));
                owners.extend((0..logs[0].len()).map(|code| (logs, code)));
            }
        }
        let weight = |term: usize, j: usize| owners[term].0[j][owners[term].1];
        let table = || TermTable::new(owners.len(), vec![0.0; components], true, weight);
        (!leaves.is_empty()).then(|| LevelTable {
            table: table(),
            leaves,
            places,
        })
    }

    /// Adds the log-probabilities of the levels of unlabelled rows under every component.
    pub fn add_log_density(&self, leaves: &[Vec<Cells>], rows: usize, joint: &mut [f64]) {
        let columns: Vec<&Cells> = self.leaves.iter().map(|leaf| &leaves[*leaf][0]).collect();
        let levels: Vec<&[u32]> = columns.iter().map(|cells| cells.codes()).collect();
        let complete = columns.iter().all(|cells| cells.seen.is_none());
        let mut codes = Vec::with_capacity(columns.len());
        by_tiles(self.table.components(), rows, joint, |row, sums| {
            codes.clear();
            let places = levels.iter().zip(&self.places);
            let row_codes = places.map(|(levels, (start, size))| start + levels[row].min(size - 1));
            if complete {
                codes.extend(row_codes)
            } else {
                let row_codes = row_codes
                    .zip(&columns)
                    .filter(|(_, cells)| cells.is_seen(row));
                codes.extend(row_codes.map(|(code, _)| code));
            }
            self.table.of_all(&codes, &[], sums);
        });
    }
}

/// Adds the numbers that `compute_row` gives for each row, one per component, to the joint
/// log-densities, which are component-major.
fn by_tiles(
    components: usize,
    rows: usize,
    joint: &mut [f64],
    mut compute_row: impl FnMut(usize, &mut [f64]),
) {
    const TILE: usize = 32;
    let mut tile = vec![0.0; TILE * components];
    for start in (0..rows).step_by(TILE) {
        let len = TILE.min(rows - start);
        let row_sums = tile.chunks_exact_mut(components).take(len);
        for (i, sums) in row_sums.enumerate() {
            compute_row(start + i, sums);
        }
        for (j, densities) in joint.chunks_exact_mut(rows).enumerate() {
            let row_sums = tile.chunks_exact(components);
            let densities = &mut densities[start..start + len];
            for (density, sums) in densities.iter_mut().zip(row_sums) {
                *density += sums[j];
            }
        }
    }
}

impl LeafKernel<'_> {
    /// Adds the log-densities of unlabelled rows under noise of another family, after those of the
    /// other components.
    pub fn add_noise(&self, cells: &[Cells], joint: &mut [f64]) {
        let rows = Rows::new(cells);
        if let Some(Distribution::UniformBox(noise)) =
            self.distributions.get(self.family_components)
        {
            let out = &mut joint[self.family_components * rows.len..];
            if self.unbounded {
                noise.add_log_density_everywhere(&rows, out)
            } else {
                noise.add_log_density(&rows, out)
            }
        }
    }

    fn add_documents(table: &TermTable, label: Option<usize>, cells: &Cells, joint: &mut [f64]) {
        let Some(documents) = cells.terms() else {
            return;
        };
        let rows = documents.len();
        if let Some(label) = label {
            for row in (0..rows).filter(|row| cells.is_seen(*row)) {
                let (codes, counts) = documents.row(row);
                joint[row] += table.of_component(label, codes, counts);
            }
            return;
        }
        by_tiles(table.components(), rows, joint, |row, sums| {
            let (codes, counts) = documents.row(row);
            if cells.is_seen(row) {
                table.of_all(codes, counts, sums)
            } else {
                sums.fill(0.0)
            }
        });
    }

    pub fn add_log_density(&self, label: Option<usize>, cells: &[Cells], joint: &mut [f64]) {
        let rows = Rows::new(cells);
        if let Fast::Terms(table) = &self.fast {
            return Self::add_documents(table, label, rows.only(), joint);
        }
        let add = |component: usize, out: &mut [f64]| match &self.fast {
            Fast::Levels(logs) => {
                let (cells, logs) = (rows.only(), &logs[component]);
                for (i, (l, code)) in out.iter_mut().zip(cells.codes()).enumerate() {
                    if cells.is_seen(i) {
                        *l += logs[(*code as usize).min(logs.len() - 1)];
                    }
                }
            }
            _ => self.distributions[component].add_log_density(&rows, out),
        };
        match label {
            Some(label) => add(label, joint),
            None => joint
                .chunks_exact_mut(rows.len)
                .take(self.family_components)
                .enumerate()
                .for_each(|(j, out)| add(j, out)),
        }
    }

    pub fn expect(
        &self,
        label: Option<usize>,
        cells: &[Cells],
        joint: &[f64],
        stats: &mut [Statistics],
    ) {
        let rows = Rows::new(cells);
        for (j, responsibilities) in joint
            .chunks_exact(rows.len)
            .take(self.family_components)
            .enumerate()
        {
            let component = label.unwrap_or(j);
            self.distributions[component].expect(&rows, responsibilities, &mut stats[component]);
        }
    }
}
