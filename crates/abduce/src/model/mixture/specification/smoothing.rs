//! What is counted in documents, how probabilities of levels and words are smoothed, and where
//! the prior probabilities of classes come from.

use crate::data::{Field, Schema};
use crate::family::{
    Family, LeafFamily, Presence, PresencePrior, Pseudocounts, Statistics, Stats as _, Words,
    WordsShape,
};
use crate::leaf::COMPLEMENT;
use crate::leaf::{FamilyName, Leaf};
use crate::model::mixture::Specification;
use crate::model::mixture::specification::MAX_PRIOR;
use crate::model::mixture::step::maximize::WeightPrior;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// What is counted in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Event {
    /// Every occurrence of a word.
    Multinomial,
    /// Whether a word occurs.
    Bernoulli,
    /// Every occurrence, compared with the word counts of all other classes (complement naive
    /// Bayes).
    Complement,
}

impl Event {
    pub(crate) fn family(self) -> FamilyName {
        FamilyName(match self {
            Event::Multinomial => Words::NAME,
            Event::Bernoulli => Presence::NAME,
            Event::Complement => COMPLEMENT,
        })
    }

    /// The leaf of count columns that are the word counts of a document.
    pub(crate) fn leaf(self, columns: Vec<usize>) -> Leaf {
        let shape = WordsShape {
            terms: columns.len(),
            columns: true,
            complement: self == Event::Complement,
            closed: false,
        };
        let family = match self {
            Event::Bernoulli => LeafFamily::Presence {
                shape,
                prior: Default::default(),
                fallback: None,
            },
            _ => LeafFamily::Words {
                shape,
                prior: Default::default(),
                fallback: None,
            },
        };
        Leaf::new(columns, family)
    }
}

impl FromStr for Event {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "multinomial" => Ok(Event::Multinomial),
            "bernoulli" => Ok(Event::Bernoulli),
            "complement" => Ok(Event::Complement),
            _ => Err(
                Error::parameter(format!("\"{name}\" is not an event model"))
                    .with_hint("the event models are multinomial, bernoulli and complement"),
            ),
        }
    }
}

/// The m-estimate (n_l + m p_l)/(n + m) of the probability of level l: m pseudo-rows with the
/// proportions p are added.
///
/// ```
/// use abduce::model::mixture::MEstimate;
/// let pooled = MEstimate { rows: 2.0, pooled: true };
/// assert_eq!("m=2,pooled".parse::<MEstimate>()?, pooled);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MEstimate {
    /// m, the number of pseudo-rows.
    pub rows: f64,
    /// Whether p are the shares of the levels in the whole table, instead of the same for every
    /// level.
    pub pooled: bool,
}

impl FromStr for MEstimate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::parameter(format!(
                "smoothing is a number, \"m=2\" or \"m=2,pooled\" with a number of at least 0, not \
                 \"{text}\""
            ))
        };
        let m = text.trim().strip_prefix("m=").ok_or_else(wrong)?;
        let (rows, pooled) = match m.split_once(',') {
            None => (m, false),
            Some((rows, how)) if how.trim() == "pooled" => (rows, true),
            Some(_) => return Err(wrong()),
        };
        let rows: f64 = rows.trim().parse().map_err(|_| wrong())?;
        let fits = rows >= 0.0 && rows.is_finite();
        fits.then_some(MEstimate { rows, pooled }).ok_or_else(wrong)
    }
}

/// Where the prior probabilities of classes come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassPrior {
    /// They are estimated from the rows.
    #[default]
    Learned,
    /// They are all equal.
    Uniform,
    /// They are given by the user, and need not sum to 1.
    Given(Vec<(String, f64)>),
}

impl Specification {
    /// The prior of the weights of the components.
    pub(crate) fn weight_prior(
        &self,
        schema: &Schema,
        target: Option<usize>,
        components: usize,
    ) -> Result<WeightPrior> {
        let given = match &self.class_prior {
            ClassPrior::Learned => None,
            ClassPrior::Uniform => Some(vec![1.0 / components as f64; components]),
            ClassPrior::Given(given) => {
                let target =
                    target.ok_or_else(|| Error::parameter("class priors need a target"))?;
                Some(class_shares(given, &schema.fields[target])?)
            }
        };
        let noise = usize::from(self.noise);
        Ok(WeightPrior {
            smoothing: self.weight_smoothing,
            given: self.given_weights(components + noise)?.or(given),
        })
    }

    /// The first option that differs in another specification; `None` if they are equal.
    pub(crate) fn difference(&self, other: &Specification) -> Option<&'static str> {
        let differences = [
            (self.target != other.target, "`target`"),
            (self.components != other.components, "`components`"),
            (self.reals != other.reals, "`covariance`"),
            (self.families != other.families, "`family`"),
            (
                self.smoothing != other.smoothing || self.m_estimate != other.m_estimate,
                "`smoothing`",
            ),
            (self.unseen != other.unseen, "`unseen`"),
            (
                self.weight_smoothing != other.weight_smoothing,
                "`class_smoothing`",
            ),
            (
                self.variance_floor != other.variance_floor,
                "`variance_floor`",
            ),
            (self.event != other.event, "`event`"),
            (self.dirichlet != other.dirichlet, "`dirichlet`"),
            (self.class_prior != other.class_prior, "`class_prior`"),
            (self.predictive != other.predictive, "`predictive`"),
            (self != other, "other options"),
        ];
        let mut differences = differences.into_iter();
        differences
            .find(|(differs, _)| *differs)
            .map(|(_, option)| option)
    }

    /// The pseudocounts given for the levels or terms of a leaf; `None` if none are. In a leaf of
    /// several count columns, those without a given number get the default.
    fn column_pseudocounts(&self, leaf: &Leaf, schema: &Schema) -> Option<Vec<f64>> {
        let given_for = |column: &usize| {
            let name = &schema.fields[*column].name;
            let mut given = self.dirichlet.iter();
            given
                .find(|(column, _)| column == name)
                .map(|(_, pseudocounts)| pseudocounts)
        };
        match leaf.columns.as_slice() {
            [column] => given_for(column).cloned(),
            columns => columns.iter().any(|c| given_for(c).is_some()).then(|| {
                let pseudocounts = columns.iter().map(|column| match given_for(column) {
                    Some(one) if one.len() == 1 => one[0],
                    // A wrong length is reported like a number out of range.
                    Some(_) => f64::NAN,
                    None => self.smoothing,
                });
                pseudocounts.collect()
            }),
        }
    }

    /// Whether pseudo-rows have the proportions of the whole table.
    pub(crate) fn is_pooled(&self) -> bool {
        self.m_estimate.is_some_and(|estimate| estimate.pooled)
    }

    /// Sets the pseudocounts of a leaf over levels or words, if they are not the same for every
    /// level. `labels` are the statistics of the rows with each label.
    pub(crate) fn set_pseudocounts(
        &self,
        leaf: &mut Leaf,
        schema: &Schema,
        labels: &[Statistics],
    ) -> Result<()> {
        let field = &schema.fields[leaf.columns[0]];
        let given = self.column_pseudocounts(leaf, schema);
        let pseudo_rows = self
            .m_estimate
            .map_or(self.smoothing, |estimate| estimate.rows);
        if pseudo_rows <= 0.0 && !leaf.family.is_generative() {
            return Err(Error::parameter("complement naive Bayes needs smoothing")
                .at_column(&field.name)
                .with_hint(
                    "pass `smoothing=1`; without smoothing, a single word that no other class uses \
                     decides the class",
                ));
        }
        let (prior, size) = match &mut leaf.family {
            LeafFamily::Categorical { shape, prior, .. } => (prior, *shape),
            LeafFamily::Bernoulli { prior, .. } => (prior, 2),
            LeafFamily::Words { shape, prior, .. } => (prior, shape.terms),
            LeafFamily::Presence { shape, prior, .. } => {
                if let Some(each) = given {
                    *prior = PresencePrior::Each(checked_pseudocounts(each, shape.terms, field)?);
                } else if let Some(MEstimate { rows, pooled }) = self.m_estimate {
                    *prior = match pooled.then(|| shares_of_documents(labels)).flatten() {
                        Some(shares) => PresencePrior::Shares {
                            documents: rows,
                            shares,
                        },
                        None => PresencePrior::Same(rows / 2.0),
                    };
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        if let Some(each) = given {
            *prior = Pseudocounts::Each(checked_pseudocounts(each, size, field)?);
        } else if let Some(MEstimate { rows, pooled }) = self.m_estimate {
            let counts = pooled.then(|| pooled_counts(labels, size)).flatten();
            *prior = match counts {
                Some(counts) => {
                    let total: f64 = counts.iter().sum();
                    Pseudocounts::Each(counts.iter().map(|n| rows * n / total).collect())
                }
                None => Pseudocounts::Same(rows / size as f64),
            };
        }
        Ok(())
    }
}

/// The pseudocounts, if there is one in the allowed range for each of `size` levels or terms.
fn checked_pseudocounts(pseudocounts: Vec<f64>, size: usize, field: &Field) -> Result<Vec<f64>> {
    let is_in_range = |alpha: &f64| (0.0..=MAX_PRIOR).contains(alpha);
    if pseudocounts.len() != size || !pseudocounts.iter().all(is_in_range) {
        return Err(Error::parameter(format!(
            "a Dirichlet prior needs a number of at least 0 for each of {size} levels"
        ))
        .at_column(&field.name));
    }
    Ok(pseudocounts)
}

/// The prior probabilities of the classes, from weights with any sum.
fn class_shares(given: &[(String, f64)], target: &Field) -> Result<Vec<f64>> {
    let mut shares = vec![0.0; target.levels.len()];
    let mut named = vec![false; shares.len()];
    for (name, weight) in given {
        let code = target.find_code(name)? as usize;
        if !(0.0..=MAX_PRIOR).contains(weight) || named[code] {
            return Err(Error::parameter(format!(
                "the prior of the class \"{name}\" must be given once, as a number of at least 0"
            )));
        }
        (shares[code], named[code]) = (*weight, true);
    }
    if let Some(missing) = named.iter().position(|named| !named) {
        return Err(Error::parameter(format!(
            "the prior of the class \"{}\" is missing",
            target.levels[missing]
        ))
        .with_hint("`class_prior` must name every class, as in a=0.3,b=0.7"));
    }
    let total: f64 = shares.iter().sum();
    if total <= 0.0 {
        return Err(Error::parameter("every class has prior 0"));
    }
    Ok(shares.into_iter().map(|share| share / total).collect())
}

/// For each word, the share of all documents that contain it; `None` without documents.
fn shares_of_documents(labels: &[Statistics]) -> Option<Vec<f64>> {
    let mut documents = labels.iter().filter_map(|label| match label {
        Statistics::Presence(presence) => Some(presence),
        _ => None,
    });
    let mut all = documents.next()?.clone();
    documents.for_each(|more| all.merge(more));
    let share = |count: &f64| count / all.documents;
    (all.documents > 0.0).then(|| all.counts.iter().map(share).collect())
}

/// The counts of levels or words in all classes together; `None` if all are 0.
fn pooled_counts(labels: &[Statistics], size: usize) -> Option<Vec<f64>> {
    let mut counts = vec![0.0; size];
    for label in labels {
        let label_counts: &[f64] = match label {
            Statistics::Categorical(stats) => &stats.counts,
            Statistics::Bernoulli(stats) => &[stats.failures, stats.successes],
            Statistics::Words(stats) => &stats.counts,
            _ => return None,
        };
        let sums = counts.iter_mut().zip(label_counts);
        sums.for_each(|(sum, count)| *sum += count);
    }
    counts.iter().any(|count| *count > 0.0).then_some(counts)
}
