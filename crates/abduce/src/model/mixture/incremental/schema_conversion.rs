//! Conversion of a mixture's statistics to another schema and its leaves. Levels and terms get
//! new codes. A constant column that is not constant in the other schema gets the statistics of
//! rows with that constant, and the reverse.

use super::convert::{Origin, constant, joint_gaussian, levels, same_columns, word_counts};
use crate::data::{Kind, NO_CODE, Schema, Translation, kind_option};
use crate::family::{GaussianStats, LeafFamily, Statistics, Stats as _};
use crate::leaf::{Leaf, TableSummary};
use crate::model::mixture::{FittedMixture, MixtureStatistics};
use crate::{Error, Result};

/// A conversion from a mixture's schema to another.
pub(super) struct SchemaConversion<'a> {
    from: &'a FittedMixture,
    /// The names of the columns of the other schema.
    names: Vec<String>,
    /// For each of these columns, the column of the mixture and how its levels are translated.
    columns: Vec<Option<(usize, Translation)>>,
}

impl<'a> SchemaConversion<'a> {
    /// A conversion to a schema that contains all levels and terms of the mixture.
    ///
    /// # Errors
    /// If the other schema lacks a level or term.
    pub fn new(from: &'a FittedMixture, to: &Schema) -> Result<SchemaConversion<'a>> {
        let fields = &from.schema.fields;
        let names = to.fields.iter().map(|field| field.name.clone()).collect();
        let columns = to.fields.iter().map(|to| {
            let place = fields.iter().position(|field| field.name == to.name);
            let place = place.filter(|place| from.is_modelled(*place));
            let translation = |place: usize| match from.constant(place) {
                Some(x) if to.kind.is_coded() => Translation::constant(x, to),
                _ => Translation::new(&fields[place], to),
            };
            place
                .map(|place| Ok((place, translation(place)?)))
                .transpose()
        });
        let columns = columns.collect::<Result<_>>()?;
        Ok(SchemaConversion {
            from,
            names,
            columns,
        })
    }

    /// A conversion to the same columns without some of their levels and terms; `codes` are the new
    /// codes, by column.
    pub fn without(from: &'a FittedMixture, codes: Vec<Option<Vec<u32>>>) -> SchemaConversion<'a> {
        let columns = codes.into_iter().enumerate().map(|(place, codes)| {
            let translation = codes.map_or(Translation::Same, Translation::Codes);
            Some((place, translation))
        });
        let names = from.schema.fields.iter().map(|field| field.name.clone());
        SchemaConversion {
            from,
            names: names.collect(),
            columns: columns.collect(),
        }
    }

    /// The summary of the rows in the other schema.
    pub fn summary(&self, summary: &TableSummary, statistics: &MixtureStatistics) -> TableSummary {
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
            Some((place, _)) => summary.columns[*place].clone(),
            None => GaussianStats::default(),
        };
        let central = |from: &Option<(usize, Translation)>| match from {
            Some((_, Translation::Numbers(_) | Translation::Constant(_))) | None => 0.0,
            Some((place, _)) => summary.central.get(*place).copied().unwrap_or(0.0),
        };
        let has_central = !summary.central.is_empty();
        let with_central = self.columns.iter().filter(|_| has_central);
        TableSummary {
            columns: self.columns.iter().map(column).collect(),
            central: with_central.map(central).collect(),
            ..summary.clone()
        }
    }

    /// The new position of each component; `None` for those that are dropped.
    pub fn components(&self, target: Option<usize>) -> Vec<Option<usize>> {
        let components = 0..self.from.components();
        let codes = target.and_then(|target| self.columns[target].as_ref());
        match codes {
            Some((_, Translation::Codes(codes))) => {
                let place = |j: usize| codes.get(j).filter(|code| **code != NO_CODE);
                components
                    .map(|j| place(j).map(|code| *code as usize))
                    .collect()
            }
            _ => components.map(Some).collect(),
        }
    }

    /// Converts the statistics of the mixture's leaves to those of other leaves. `summary` is that
    /// of all rows in the other schema.
    ///
    /// # Errors
    /// If the statistics of a leaf do not contain what those of another need.
    pub fn statistics(
        &self,
        statistics: &MixtureStatistics,
        target: Option<usize>,
        components: usize,
        leaves: &[Leaf],
        summary: &TableSummary,
    ) -> Result<MixtureStatistics> {
        let mut converted = MixtureStatistics::zero(leaves, components);
        converted.total = statistics.total;
        for (j, place) in self.components(target).into_iter().enumerate() {
            let Some(place) = place else {
                continue;
            };
            converted.weights[place] = statistics.weights[j];
            for (number, leaf) in leaves.iter().enumerate() {
                if let Some(component) = self.component_of_leaf(statistics, j, leaf, summary)? {
                    converted.leaves[number][place] = component;
                }
            }
        }
        Ok(converted)
    }

    /// The statistics of one component and leaf; `None` if the mixture has none of its columns.
    fn component_of_leaf(
        &self,
        statistics: &MixtureStatistics,
        j: usize,
        leaf: &Leaf,
        summary: &TableSummary,
    ) -> Result<Option<Statistics>> {
        let origin = |column: &usize| {
            let (place, translation) = self.columns[*column].as_ref()?;
            let number = self.from.leaf_of(*place)?;
            let position = self.from.leaves[number].columns.iter();
            let position = position.take_while(|c| *c != place).count();
            Some(Origin {
                leaf: &self.from.leaves[number],
                statistics: &statistics.leaves[number][j],
                position,
                translation,
                exact: self.from.summary.incomplete <= 0.0,
            })
        };
        let origins: Vec<Option<Origin>> = leaf.columns.iter().map(origin).collect();
        if origins.iter().all(Option::is_none) {
            return Ok(None);
        }
        let name = || &self.names[leaf.columns[0]];
        let converted = match (&leaf.family, origins.as_slice()) {
            (LeafFamily::Multivariate { .. }, _) => {
                joint_gaussian(leaf, &origins, statistics.weights[j])
            }
            (LeafFamily::MultivariateStudentT { .. }, _) => same_columns(leaf, &origins),
            (LeafFamily::Words { shape, .. } | LeafFamily::Presence { shape, .. }, _)
                if shape.columns =>
            {
                word_counts(leaf, &origins)
            }
            (_, [Some(origin)]) => {
                origin.to_single_column(leaf, summary.columns[leaf.columns[0]].mean)
            }
            _ => None,
        };
        converted.map(Some).ok_or_else(|| {
            let before = origins.iter().flatten().next();
            let before = before.map_or("", |origin| origin.leaf.family.name());
            Error::data(format!(
                "the statistics of the family {before} cannot be converted to those of {}",
                leaf.family.name()
            ))
            .at_column(name())
            .with_hint(self.conversion_hint(leaf))
        })
    }
}

impl SchemaConversion<'_> {
    /// The hint if the statistics of a leaf cannot be converted.
    fn conversion_hint(&self, leaf: &Leaf) -> String {
        let counts = leaf.columns.iter().filter(|column| {
            let from = self.columns[**column].as_ref();
            from.is_some_and(|(place, _)| self.from.schema.fields[*place].kind == Kind::Count)
        });
        let options = counts.map(|column| kind_option(&self.names[*column], Kind::Real.name()));
        let options: Vec<String> = options.collect();
        if options.is_empty() {
            let name = &self.names[leaf.columns[0]];
            return format!(
                "fit all parts with the same `family` of {name}, and without missing values in \
                 correlated columns"
            );
        }
        format!("fit all parts with {}", options.join(", "))
    }
}
