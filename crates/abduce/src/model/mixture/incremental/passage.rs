//! Statistics of a mixture carried over to another schema and its leaves: levels
//! and terms get the codes they have there, a column that was constant here and
//! is not there becomes rows of that constant, and the other way round.

use crate::data::{Cells, Kind, NO_CODE, Rows, Schema, Translation, kind_option};
use crate::family::{GaussianStats, LeafFamily, MultivariateStats, Statistics, Stats as _};
use crate::leaf::{Leaf, Seen};
use crate::model::mixture::{Mixture, MixtureStatistics};
use crate::{Error, Result};

/// From a mixture's schema to another.
pub(super) struct Passage<'a> {
    from: &'a Mixture,
    /// The names of the columns there.
    names: Vec<String>,
    /// Where each column comes from, and what becomes of its levels.
    columns: Vec<Option<(usize, Translation)>>,
}

impl<'a> Passage<'a> {
    /// To a schema that has all levels and terms of the mixture.
    ///
    /// # Errors
    /// If it has not.
    pub fn new(from: &'a Mixture, to: &Schema) -> Result<Passage<'a>> {
        let own = &from.schema.fields;
        let names = to.fields.iter().map(|field| field.name.clone()).collect();
        let columns = to.fields.iter().map(|to| {
            let place = own.iter().position(|field| field.name == to.name);
            let place = place.filter(|place| from.models(*place));
            let translation = |place: usize| match from.constant(place) {
                Some(x) if to.kind.is_coded() => Translation::constant(x, to),
                _ => Translation::new(&own[place], to),
            };
            place
                .map(|place| Ok((place, translation(place)?)))
                .transpose()
        });
        let columns = columns.collect::<Result<_>>()?;
        Ok(Passage {
            from,
            names,
            columns,
        })
    }

    /// To the same columns without some of their levels and terms: `codes` has the
    /// new code of each, by column.
    pub fn without(from: &'a Mixture, codes: Vec<Option<Vec<u32>>>) -> Passage<'a> {
        let columns = codes.into_iter().enumerate().map(|(place, codes)| {
            let translation = codes.map_or(Translation::Same, Translation::Codes);
            Some((place, translation))
        });
        let names = from.schema.fields.iter().map(|field| field.name.clone());
        Passage {
            from,
            names: names.collect(),
            columns: columns.collect(),
        }
    }

    /// What was seen, by column of the other schema.
    pub fn seen(&self, seen: &Seen, statistics: &MixtureStatistics) -> Seen {
        let column = |from: &Option<(usize, Translation)>| match from {
            Some((place, Translation::Numbers(numbers))) => {
                let mut moments = GaussianStats::default();
                if let Some(number) = self.from.leaf_of(*place) {
                    for counts in statistics.leaves[number].iter().filter_map(levels) {
                        let cells = numbers.iter().zip(&counts);
                        cells.for_each(|(x, count)| moments.merge(&constant(*x, *count)));
                    }
                }
                moments
            }
            Some((_, Translation::Constant(_))) => GaussianStats::default(),
            Some((place, _)) => seen.columns[*place].clone(),
            None => GaussianStats::default(),
        };
        let central = |from: &Option<(usize, Translation)>| match from {
            Some((_, Translation::Numbers(_) | Translation::Constant(_))) | None => 0.0,
            Some((place, _)) => seen.central.get(*place).copied().unwrap_or(0.0),
        };
        let told = !seen.central.is_empty();
        let told = self.columns.iter().filter(|_| told);
        Seen {
            columns: self.columns.iter().map(column).collect(),
            central: told.map(central).collect(),
            ..seen.clone()
        }
    }

    /// The new place of each component; `None` for those that are dropped.
    pub fn components(&self, target: Option<usize>) -> Vec<Option<usize>> {
        let own = 0..self.from.components();
        let codes = target.and_then(|target| self.columns[target].as_ref());
        match codes {
            Some((_, Translation::Codes(codes))) => {
                let place = |j: usize| codes.get(j).filter(|code| **code != NO_CODE);
                own.map(|j| place(j).map(|code| *code as usize)).collect()
            }
            _ => own.map(Some).collect(),
        }
    }

    /// Statistics of the mixture's leaves as statistics of other leaves; `seen` are
    /// all rows of these.
    ///
    /// # Errors
    /// If one says too little for the other.
    pub fn statistics(
        &self,
        statistics: &MixtureStatistics,
        target: Option<usize>,
        components: usize,
        leaves: &[Leaf],
        seen: &Seen,
    ) -> Result<MixtureStatistics> {
        let mut carried = MixtureStatistics::zero(leaves, components);
        carried.total = statistics.total;
        for (j, place) in self.components(target).into_iter().enumerate() {
            let Some(place) = place else {
                continue;
            };
            carried.weights[place] = statistics.weights[j];
            for (number, leaf) in leaves.iter().enumerate() {
                if let Some(own) = self.leaf(statistics, j, leaf, seen)? {
                    carried.leaves[number][place] = own;
                }
            }
        }
        Ok(carried)
    }

    /// The statistics of one component and leaf; `None` where nothing of the leaf
    /// was seen.
    fn leaf(
        &self,
        statistics: &MixtureStatistics,
        j: usize,
        leaf: &Leaf,
        seen: &Seen,
    ) -> Result<Option<Statistics>> {
        let own = |column: &usize| {
            let (place, translation) = self.columns[*column].as_ref()?;
            let number = self.from.leaf_of(*place)?;
            let position = self.from.leaves[number].columns.iter();
            let position = position.take_while(|c| *c != place).count();
            Some(Place {
                leaf: &self.from.leaves[number],
                statistics: &statistics.leaves[number][j],
                position,
                translation,
                exact: self.from.seen.incomplete <= 0.0,
            })
        };
        let places: Vec<Option<Place>> = leaf.columns.iter().map(own).collect();
        if places.iter().all(Option::is_none) {
            return Ok(None);
        }
        let name = || &self.names[leaf.columns[0]];
        let carried = match (&leaf.family, places.as_slice()) {
            (LeafFamily::Multivariate { .. }, _) => block(leaf, &places, statistics.weights[j]),
            (LeafFamily::MultivariateStudentT { .. }, _) => as_it_was(leaf, &places),
            (LeafFamily::Words { shape, .. } | LeafFamily::Presence { shape, .. }, _)
                if shape.columns =>
            {
                counted_columns(leaf, &places)
            }
            (_, [Some(place)]) => place.alone(leaf, seen.columns[leaf.columns[0]].mean),
            _ => None,
        };
        carried.map(Some).ok_or_else(|| {
            let theirs = places.iter().flatten().next();
            let theirs = theirs.map_or("", |place| place.leaf.family.name());
            Error::data(format!(
                "what was learned of the column as {theirs} does not say enough for {}",
                leaf.family.name()
            ))
            .at_column(name())
            .with_hint(self.same_kind(leaf))
        })
    }
}

impl Passage<'_> {
    /// What to do where statistics of a leaf cannot be those of another.
    fn same_kind(&self, leaf: &Leaf) -> String {
        let counts = leaf.columns.iter().filter(|column| {
            let from = self.columns[**column].as_ref();
            from.is_some_and(|(place, _)| self.from.schema.fields[*place].kind == Kind::Count)
        });
        let options = counts.map(|column| kind_option(&self.names[*column], Kind::Real.name()));
        let options: Vec<String> = options.collect();
        if options.is_empty() {
            let name = &self.names[leaf.columns[0]];
            return format!(
                "fit all parts with the same --family for {name}, and without missing values \
                 where columns are correlated"
            );
        }
        format!("fit all parts with {}", options.join(" "))
    }
}

/// Where a column was learned.
struct Place<'a> {
    leaf: &'a Leaf,
    statistics: &'a Statistics,
    /// The position of the column in its leaf.
    position: usize,
    translation: &'a Translation,
    /// Whether no hidden cell was completed.
    exact: bool,
}

impl Place<'_> {
    /// As statistics of a leaf over this column alone.
    fn alone(&self, leaf: &Leaf, mean: f64) -> Option<Statistics> {
        if leaf.fixed {
            // What was expected of hidden cells is more than a constant.
            if matches!(self.statistics, Statistics::Multivariate(_)) && !self.exact {
                return None;
            }
            let weight = self
                .moments()
                .map_or(self.statistics.weight(), |m| m.weight);
            return Some(Statistics::Gaussian(constant(mean, weight)));
        }
        let mut own = leaf.family.zero();
        if self.leaf.fixed {
            let moments = self.moments()?;
            if let Translation::Constant(code) = self.translation {
                match &mut own {
                    Statistics::Categorical(own) => own.counts[*code as usize] = moments.weight,
                    Statistics::Bernoulli(own) if *code == 0 => own.failures = moments.weight,
                    Statistics::Bernoulli(own) => own.successes = moments.weight,
                    _ => return None,
                }
                return Some(own);
            }
            if moments.weight > 0.0 && !leaf.family.supports(moments.mean) {
                return None;
            }
            observe(leaf, &[moments.mean], &[moments.weight], &mut own);
            return Some(own);
        }
        let counts = levels(self.statistics);
        match (self.translation, counts, &mut own) {
            (Translation::Numbers(numbers), Some(counts), own) => {
                observe(leaf, numbers, &counts, own);
            }
            (translation, Some(counts), Statistics::Categorical(own)) => {
                renumber(translation, &counts, &mut own.counts);
            }
            (translation, Some(counts), Statistics::Bernoulli(own)) => {
                let mut pair = [0.0; 2];
                renumber(translation, &counts, &mut pair);
                [own.failures, own.successes] = pair;
            }
            (translation, None, Statistics::Words(own)) => match self.statistics {
                Statistics::Words(from) => {
                    own.documents = from.documents;
                    renumber(translation, &from.counts, &mut own.counts);
                }
                _ => return None,
            },
            (translation, None, Statistics::Presence(own)) => match self.statistics {
                Statistics::Presence(from) => {
                    own.documents = from.documents;
                    renumber(translation, &from.counts, &mut own.counts);
                }
                _ => return None,
            },
            (_, None, own)
                if std::mem::discriminant(own) == std::mem::discriminant(self.statistics) =>
            {
                *own = self.statistics.clone();
            }
            _ => return None,
        }
        Some(own)
    }

    /// Weight, mean and scatter of the column by itself.
    fn moments(&self) -> Option<GaussianStats> {
        match self.statistics {
            Statistics::Gaussian(own) => Some(own.clone()),
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

/// Statistics of columns in one Gaussian, from those of such a block and of
/// columns that were constant. All columns of full ones must have been seen in
/// the same rows: of one leaf they were, of several only if no row of the
/// component, which weighs `rows`, lacks any.
fn block(leaf: &Leaf, places: &[Option<Place>], rows: f64) -> Option<Statistics> {
    let moments: Vec<GaussianStats> = places
        .iter()
        .map(|place| {
            place
                .as_ref()
                .map_or(Some(Default::default()), Place::moments)
        })
        .collect::<Option<_>>()?;
    let mut own = leaf.family.zero();
    let Statistics::Multivariate(statistics) = &mut own else {
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
            let mut leaves = places.iter().flatten().map(|place| place.leaf);
            let first = leaves.next()?;
            if leaves.any(|leaf| !std::ptr::eq(leaf, first)) && (rows - *weight).abs() > 1e-9 * rows
            {
                return None;
            }
            let other = |own: &GaussianStats| (own.weight - *weight).abs() > 1e-9 * *weight;
            if moments.iter().any(other) {
                return None;
            }
            let d = mean.len();
            for (i, moments) in moments.iter().enumerate() {
                mean[i] = moments.mean;
                for (j, other) in places.iter().enumerate() {
                    scatter[j * d + i] = covered(places[i].as_ref()?, other.as_ref()?);
                }
            }
        }
    }
    Some(own)
}

/// Statistics of a leaf over the same columns: of rows whose part in others was expected
/// from all columns, nothing can be said of some of them, or of more.
fn as_it_was(leaf: &Leaf, places: &[Option<Place>]) -> Option<Statistics> {
    let first = places.first()?.as_ref()?;
    let same = |(position, place): (usize, &Option<Place>)| {
        let place = place.as_ref();
        place.is_some_and(|own| std::ptr::eq(own.leaf, first.leaf) && own.position == position)
    };
    let all = first.leaf.columns.len() == places.len();
    let same = all && places.iter().enumerate().all(same);
    let kind = std::mem::discriminant::<Statistics>;
    let alike = kind(&leaf.family.zero()) == kind(first.statistics);
    (same && alike).then(|| first.statistics.clone())
}

/// The scatter of two columns; 0 where one of them was constant.
fn covered(a: &Place, b: &Place) -> f64 {
    match (a.statistics, b.statistics) {
        (
            Statistics::Multivariate(MultivariateStats::Full { mean, scatter, .. }),
            Statistics::Multivariate(_),
        ) => scatter[b.position * mean.len() + a.position],
        _ => 0.0,
    }
}

/// Statistics of columns of counts that are words of a document.
fn counted_columns(leaf: &Leaf, places: &[Option<Place>]) -> Option<Statistics> {
    let mut own = leaf.family.zero();
    let (Statistics::Words(to) | Statistics::Presence(to)) = &mut own else {
        return None;
    };
    for (count, place) in to.counts.iter_mut().zip(places) {
        let Some(place) = place else {
            continue;
        };
        let (Statistics::Words(from) | Statistics::Presence(from)) = place.statistics else {
            return None;
        };
        *count = from.counts[place.position];
        to.documents = from.documents;
    }
    Some(own)
}

/// The weight of each level, for statistics of levels.
pub(super) fn levels(statistics: &Statistics) -> Option<Vec<f64>> {
    match statistics {
        Statistics::Categorical(own) => Some(own.counts.clone()),
        Statistics::Bernoulli(own) => Some(vec![own.failures, own.successes]),
        _ => None,
    }
}

/// The moments of rows that are all the same.
fn constant(x: f64, weight: f64) -> GaussianStats {
    match weight > 0.0 {
        true => GaussianStats {
            weight,
            mean: x,
            scatter: 0.0,
        },
        false => GaussianStats::default(),
    }
}

fn observe(leaf: &Leaf, numbers: &[f64], weights: &[f64], own: &mut Statistics) {
    let cells = numbers.iter().zip(weights).filter(|(_, w)| **w > 0.0);
    let (numbers, weights): (Vec<f64>, Vec<f64>) = cells.map(|(x, w)| (*x, *w)).unzip();
    if !numbers.is_empty() {
        let cells = [Cells::real(&numbers)];
        leaf.family.observe(&Rows::new(&cells), &weights, own);
    }
}

fn renumber(translation: &Translation, from: &[f64], to: &mut [f64]) {
    for (code, count) in from.iter().enumerate() {
        let code = match translation {
            // A binary column of one level has counts for two.
            Translation::Codes(codes) => codes.get(code).map(|code| *code as usize),
            _ => Some(code),
        };
        if let Some(own) = code.and_then(|code| to.get_mut(code)) {
            *own += count;
        }
    }
}
