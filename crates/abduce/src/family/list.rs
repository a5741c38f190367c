//! The list of families. Closed enums of distributions, statistics and leaves of any family are
//! generated from it; each of their methods is one `match`. A new family is one more line in the
//! list. The methods of distributions and statistics are in `list_methods.rs`.

use crate::data::Rows;
use crate::density::{Histogram, KernelDensity};
use crate::family::{
    Bernoulli, Beta, Categorical, Components, Domain, Exponential, Family, Gamma, Gaussian,
    Geometric, LogNormal, MultivariateGaussian, MultivariateStudentT, NegativeBinomial, Poisson,
    Presence, PriorStrength, Scale, StudentT, Unconstrained, Uniform, UniformBox, Validate,
    VonMises, Words, ZeroInflatedPoisson,
};
use serde::{Deserialize, Serialize};

/// Calls `$with!` with the list of families: variant, type.
macro_rules! with_families {
    ($with:ident) => {
        $with! {
            /// A real column.
            Gaussian(Gaussian),
            /// Real columns together.
            Multivariate(MultivariateGaussian),
            /// Real columns together, with outliers.
            MultivariateStudentT(MultivariateStudentT),
            /// A column of levels.
            Categorical(Categorical),
            /// A binary column.
            Bernoulli(Bernoulli),
            /// A column of counts.
            Poisson(Poisson),
            /// A column of waiting times.
            Exponential(Exponential),
            /// A column of positive numbers.
            Gamma(Gamma),
            /// A column of positive numbers whose logarithm is Gaussian.
            LogNormal(LogNormal),
            /// A real column with outliers.
            StudentT(StudentT),
            /// A column of proportions.
            Beta(Beta),
            /// A column of angles.
            VonMises(VonMises),
            /// A column of numbers between two ends.
            Uniform(Uniform),
            /// Numbers anywhere in a box.
            UniformBox(UniformBox),
            /// A column of numbers of failures before a success.
            Geometric(Geometric),
            /// A column of counts with more variance than a Poisson distribution.
            NegativeBinomial(NegativeBinomial),
            /// A column of counts with more zeros than a Poisson distribution.
            ZeroInflatedPoisson(ZeroInflatedPoisson),
            /// A kernel density of a column.
            Kde(KernelDensity),
            /// A histogram of a column.
            Histogram(Histogram),
            /// Counts of words in documents.
            Words(Words),
            /// Which words occur in documents.
            Presence(Presence),
        }
    };
}

pub(crate) use with_families;

macro_rules! closed_enums {
    ($($(#[$doc:meta])* $variant:ident($type:ident),)*) => {
        /// A distribution of any family: the leaf of a component.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "family", rename_all = "kebab-case")]
        pub enum Distribution { $($(#[$doc])* $variant($type),)* }

        /// The statistics of any family.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "family", rename_all = "kebab-case")]
        pub enum Statistics { $($(#[$doc])* $variant(<$type as Family>::Stats),)* }

        /// A leaf: its family, the shape of its columns, and the prior of its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "family", rename_all = "kebab-case")]
        pub enum LeafFamily {
            $(
                $(#[$doc])*
                $variant {
                    /// The number of levels or columns.
                    shape: <$type as Family>::Shape,
                    /// The prior whose mode is estimated.
                    #[serde(default)]
                    prior: <$type as Family>::Prior,
                    /// The distribution of columns that have no values.
                    #[serde(default, rename = "vague", skip_serializing_if = "Option::is_none")]
                    fallback: Option<$type>,
                },
            )*
        }

        impl LeafFamily {
            /// A leaf over one column with this number of levels, by the family's name.
            pub fn of_column(name: &str, levels: usize) -> Option<LeafFamily> {
                $(if name == <$type as Family>::NAME {
                    let shape = <$type as Domain>::shape_of_column(levels)?;
                    let prior = Default::default();
                    return Some(LeafFamily::$variant { shape, prior, fallback: None });
                })*
                None
            }

            /// The names of the families that one column can have.
            pub fn column_families() -> Vec<&'static str> {
                let names = [$(<$type as Family>::NAME,)*];
                let one = |name: &&str| LeafFamily::of_column(name, 2).is_some();
                names.into_iter().filter(one).collect()
            }

            /// The family's name.
            pub fn name(&self) -> &'static str {
                match self { $(LeafFamily::$variant { .. } => <$type as Family>::NAME,)* }
            }

            /// Statistics of no row.
            pub fn zero(&self) -> Statistics {
                match self {
                    $(LeafFamily::$variant { shape, .. } => {
                        Statistics::$variant(<$type as Family>::zero(shape))
                    })*
                }
            }

            /// Adds rows to statistics of this family.
            pub fn observe(&self, rows: &Rows, weights: &[f64], stats: &mut Statistics) {
                match stats {
                    $(Statistics::$variant(stats) => <$type as Family>::observe(rows, weights, stats),)*
                }
            }

            /// The number of columns.
            pub fn columns(&self) -> usize {
                match self {
                    $(LeafFamily::$variant { shape, .. } => <$type as Domain>::columns(shape),)*
                }
            }

            /// The number of levels, for a family over levels.
            pub fn levels(&self) -> Option<usize> {
                match self { $(LeafFamily::$variant { shape, .. } => <$type as Domain>::levels(shape),)* }
            }

            /// Whether only EM can fit it, even to rows without missing values.
            pub fn is_latent(&self) -> bool {
                match self { $(LeafFamily::$variant { .. } => <$type as Family>::LATENT,)* }
            }

            /// Whether it is over documents.
            pub fn is_text(&self) -> bool {
                match self { $(LeafFamily::$variant { .. } => <$type as Domain>::TEXT,)* }
            }

            /// Whether it is over documents with a column of counts for each term.
            pub fn is_over_counts(&self) -> bool {
                match self {
                    LeafFamily::Words { shape, .. } | LeafFamily::Presence { shape, .. } => shape.columns,
                    _ => false,
                }
            }

            /// The number of terms, for a family over documents.
            pub fn terms(&self) -> Option<usize> {
                match self {
                    LeafFamily::Words { shape, .. } | LeafFamily::Presence { shape, .. } => Some(shape.terms),
                    _ => None,
                }
            }

            /// The probability that smoothing gives an unseen category; `None` for families over
            /// anything but levels, and without smoothing.
            pub fn unseen(&self, stats: &Statistics) -> Option<f64> {
                let (prior, levels) = match self {
                    LeafFamily::Categorical { shape, prior, .. } => (prior, *shape),
                    LeafFamily::Bernoulli { prior, .. } => (prior, 2),
                    _ => return None,
                };
                let probability = prior.of_unseen_category() / (stats.weight() + prior.total(levels));
                (probability > 0.0).then_some(probability)
            }

            /// Whether it has densities, which EM needs; words estimated from other components
            /// have only scores.
            pub fn is_generative(&self) -> bool {
                !matches!(self, LeafFamily::Words { shape, .. } if shape.complement)
            }

            /// The distribution of columns that have no values, once they are set.
            pub fn fallback(&self) -> Option<Distribution> {
                match self {
                    $(LeafFamily::$variant { fallback, .. } => fallback.clone().map(Distribution::$variant),)*
                }
            }

            /// Whether the density has units.
            pub fn has_units(&self) -> bool {
                match self { $(LeafFamily::$variant { .. } => <$type as Domain>::HAS_UNITS,)* }
            }

            /// Whether a number can be a value.
            pub fn supports(&self, x: f64) -> bool {
                match self { $(LeafFamily::$variant { .. } => <$type as Domain>::supports(x),)* }
            }

            /// Whether all numbers can be values.
            pub fn supports_all(&self, x: &[f64]) -> bool {
                // A loop without an early exit is vectorised.
                match self {
                    $(LeafFamily::$variant { .. } => {
                        x.iter().fold(true, |all, x| all & <$type as Domain>::supports(*x))
                    })*
                }
            }

            /// Sets the prior, and the distribution of columns without values, from the scales of
            /// the columns.
            pub fn set_prior_and_fallback(&mut self, scales: &[Scale], strength: &PriorStrength) {
                match self {
                    $(LeafFamily::$variant { shape, prior, fallback } => {
                        *prior = <$type as Components>::weak_prior(scales, strength);
                        *fallback = Some(<$type as Components>::fallback(shape, scales));
                    })*
                }
            }

            /// The posterior modes of the parameters of several components, searched for from
            /// those `before`.
            pub fn map_all(
                &self,
                stats: &[Statistics],
                before: Option<&[Distribution]>,
            ) -> Vec<Distribution> {
                match self {
                    $(LeafFamily::$variant { shape, prior, fallback } => {
                        let typed: Vec<_> = stats
                            .iter()
                            .filter_map(|s| match s {
                                Statistics::$variant(s) => Some(s),
                                _ => None,
                            })
                            .collect();
                        let unit = Scale { mean: 0.0, variance: 1.0, constant: false };
                        let fallback = fallback.clone().unwrap_or_else(|| {
                            let scales = vec![unit; <$type as Domain>::columns(shape)];
                            <$type as Components>::fallback(shape, &scales)
                        });
                        let before: Option<Vec<_>> = before.map(|before| {
                            let same = before.iter().filter_map(|d| match d {
                                Distribution::$variant(d) => Some(d),
                                _ => None,
                            });
                            same.collect()
                        });
                        let found = match before {
                            Some(before) if before.len() == typed.len() => {
                                <$type as Components>::map_all_from(shape, &typed, prior, &fallback, &before)
                            }
                            _ => <$type as Components>::map_all(shape, &typed, prior, &fallback),
                        };
                        found.into_iter().map(Distribution::$variant).collect()
                    })*
                }
            }

            /// Pulls statistics of several components together, for the start of EM.
            pub fn shrink_together(&self, stats: &mut [Statistics]) {
                match self {
                    $(LeafFamily::$variant { .. } => {
                        let mut typed: Vec<_> = stats
                            .iter()
                            .filter_map(|s| match s {
                                Statistics::$variant(s) => Some(s.clone()),
                                _ => None,
                            })
                            .collect();
                        <$type as Components>::shrink_together(&mut typed);
                        for (stats, typed) in stats.iter_mut().zip(typed) {
                            *stats = Statistics::$variant(typed);
                        }
                    })*
                }
            }

            /// The log-prior of several components, up to a constant.
            pub fn log_prior_all<'a>(&self, distributions: impl Iterator<Item = &'a Distribution>) -> f64 {
                match self {
                    $(LeafFamily::$variant { shape, prior, .. } => {
                        let typed = distributions.filter_map(|d| match d {
                            Distribution::$variant(d) => Some(d),
                            _ => None,
                        });
                        <$type as Components>::log_prior_all(shape, typed, prior)
                    })*
                }
            }

            /// The number of free parameters of several components.
            pub fn parameters_of_all(&self, components: usize) -> usize {
                match self {
                    $(LeafFamily::$variant { shape, .. } => {
                        <$type as Components>::parameters_of_all(shape, components)
                    })*
                }
            }

            /// The distributions of several components as unconstrained numbers; see
            /// [`Unconstrained::coordinates`].
            pub fn coordinates(&self, distributions: &[Distribution]) -> Option<Vec<Vec<f64>>> {
                match self {
                    $(LeafFamily::$variant { shape, fallback: Some(unit), .. } => {
                        let each = distributions.iter().map(|d| match d {
                            Distribution::$variant(d) => d.coordinates(shape, unit),
                            _ => None,
                        });
                        each.collect()
                    })*
                    _ => None,
                }
            }

            /// See [`Unconstrained::paced_apart`].
            pub fn paced_apart(&self) -> usize {
                match self {
                    $(LeafFamily::$variant { shape, .. } => <$type as Unconstrained>::paced_apart(shape),)*
                }
            }

            /// A distribution moved to other coordinates, if it is valid there.
            pub fn at_coordinates(
                &self,
                distribution: &Distribution,
                coordinates: &[f64],
            ) -> Option<Distribution> {
                match (self, distribution) {
                    $((
                        LeafFamily::$variant { shape, fallback: Some(unit), .. },
                        Distribution::$variant(d),
                    ) => {
                        let moved = d.at_coordinates(shape, unit, coordinates)?;
                        moved.is_valid(shape).then_some(Distribution::$variant(moved))
                    })*
                    _ => None,
                }
            }

            /// Whether its prior and its fallback are of its shape, with parameters in
            /// their range.
            pub fn is_consistent(&self) -> bool {
                match self {
                    $(LeafFamily::$variant { shape, prior, fallback } => {
                        <$type as Validate>::accepts(shape, prior)
                            && fallback.as_ref().is_none_or(|fallback| fallback.is_valid(shape))
                    })*
                }
            }

            /// Whether a distribution and statistics are of this leaf, with
            /// parameters in their range.
            pub fn describes(&self, distribution: &Distribution, stats: &Statistics) -> bool {
                match (self, distribution, stats) {
                    $((
                        LeafFamily::$variant { shape, .. },
                        Distribution::$variant(d),
                        Statistics::$variant(stats),
                    ) => d.is_valid(shape) && <$type as Validate>::describes(shape, stats),)*
                    _ => false,
                }
            }
        }

        #[cfg(test)]
        mod laws_of_every_family {
            use super::*;
            $(
                #[test]
                #[allow(non_snake_case)]
                fn $variant() {
                    crate::family::laws::hold_for::<$type>();
                }
            )*
        }
    };
}

with_families!(closed_enums);
