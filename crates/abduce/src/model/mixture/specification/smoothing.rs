//! What a specification says beside the families of columns: what is counted of
//! documents, how levels and words are smoothed, where class weights come from.

use crate::data::{Field, Schema};
use crate::family::{
    Family, LeafFamily, Presence, PresencePrior, Pseudocounts, Statistics, Stats as _, Words,
    WordsShape,
};
use crate::leaf::COMPLEMENT;
use crate::leaf::{FamilyName, Leaf};
use crate::model::mixture::Specification;
use crate::model::mixture::specification::MOST;
use crate::model::mixture::step::maximize::WeightBelief;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// What is counted of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Event {
    /// Every occurrence of a word.
    Multinomial,
    /// Whether a word occurs or not.
    Bernoulli,
    /// Every occurrence, against what the other classes make of it.
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

    /// Columns of counts as words of a document.
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
                vague: None,
            },
            _ => LeafFamily::Words {
                shape,
                prior: Default::default(),
                vague: None,
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

/// The m-estimate (n_l + m p_l)/(n + m): m pseudo-rows in the proportions p.
///
/// ```
/// use abduce::model::mixture::MEstimate;
/// let pooled = MEstimate { rows: 2.0, pooled: true };
/// assert_eq!("m=2,pooled".parse::<MEstimate>()?, pooled);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MEstimate {
    /// m.
    pub rows: f64,
    /// Whether p is the share of each level in the whole table, instead of the same
    /// for every level.
    pub pooled: bool,
}

impl FromStr for MEstimate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::parameter(format!(
                "smoothing is a number, \"m=2\" or \"m=2,pooled\" with a number from 0 up, not \
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

/// Where the weights of the classes come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassPrior {
    /// From the rows.
    #[default]
    Learned,
    /// They are all the same.
    Uniform,
    /// From the user, in any unit.
    Given(Vec<(String, f64)>),
}

impl Specification {
    /// What is believed of the weights of the components.
    pub(crate) fn weight_belief(
        &self,
        schema: &Schema,
        target: Option<usize>,
        components: usize,
    ) -> Result<WeightBelief> {
        let given = match &self.class_prior {
            ClassPrior::Learned => None,
            ClassPrior::Uniform => Some(vec![1.0 / components as f64; components]),
            ClassPrior::Given(given) => {
                let target =
                    target.ok_or_else(|| Error::parameter("a prior of classes needs a target"))?;
                Some(shares(given, &schema.fields[target])?)
            }
        };
        let noise = usize::from(self.noise);
        Ok(WeightBelief {
            smoothing: self.weight_smoothing,
            given: self.given_weights(components + noise)?.or(given),
        })
    }

    /// The option in which another specification differs, if any does.
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

    /// What users give to the levels or terms of a leaf; columns taken together as words
    /// have one number each, and those that are not named the usual one.
    fn given_pseudocounts(&self, leaf: &Leaf, schema: &Schema) -> Option<Vec<f64>> {
        let of = |column: &usize| {
            let name = &schema.fields[*column].name;
            let mut given = self.dirichlet.iter();
            given.find(|(own, _)| own == name).map(|(_, each)| each)
        };
        match leaf.columns.as_slice() {
            [column] => of(column).cloned(),
            columns => columns.iter().any(|c| of(c).is_some()).then(|| {
                let each = columns.iter().map(|column| match of(column) {
                    Some(each) if each.len() == 1 => each[0],
                    // Any other length is refused with all that is out of range.
                    Some(_) => f64::NAN,
                    None => self.smoothing,
                });
                each.collect()
            }),
        }
    }

    /// Whether prior rows have the proportions of the table.
    pub(crate) fn pools_levels(&self) -> bool {
        self.m_estimate.is_some_and(|own| own.pooled)
    }

    /// Gives a leaf over levels or words the smoothing that this asks for
    /// beside the same for all; `own` are the statistics of each label.
    pub(crate) fn smooth(
        &self,
        leaf: &mut Leaf,
        schema: &Schema,
        own: &[Statistics],
    ) -> Result<()> {
        let field = &schema.fields[leaf.columns[0]];
        let given = self.given_pseudocounts(leaf, schema);
        let none = self.m_estimate.map_or(self.smoothing, |own| own.rows) <= 0.0;
        if none && !leaf.family.is_generative() {
            return Err(Error::parameter("the complement of a class needs smoothing")
                .at_column(&field.name)
                .with_hint("without it a word that no other class uses decides alone; pass `smoothing=1`"));
        }
        let (prior, sizes) = match &mut leaf.family {
            LeafFamily::Categorical { shape, prior, .. } => (prior, *shape),
            LeafFamily::Bernoulli { prior, .. } => (prior, 2),
            LeafFamily::Words { shape, prior, .. } => (prior, shape.terms),
            LeafFamily::Presence { shape, prior, .. } => {
                if let Some(each) = given {
                    *prior = PresencePrior::Each(checked(each, shape.terms, field)?);
                } else if let Some(MEstimate { rows, pooled }) = self.m_estimate {
                    *prior = match pooled.then(|| shares_of_documents(own)).flatten() {
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
            *prior = Pseudocounts::Each(checked(each, sizes, field)?);
        } else if let Some(MEstimate { rows, pooled }) = self.m_estimate {
            let counts = pooled.then(|| pooled_counts(own, sizes)).flatten();
            *prior = match counts {
                Some(counts) => {
                    let total: f64 = counts.iter().sum();
                    Pseudocounts::Each(counts.iter().map(|n| rows * n / total).collect())
                }
                None => Pseudocounts::Same(rows / sizes as f64),
            };
        }
        Ok(())
    }
}

/// Pseudocounts for so many levels or terms, none below 0.
fn checked(each: Vec<f64>, sizes: usize, field: &Field) -> Result<Vec<f64>> {
    let right = |alpha: &f64| (0.0..=MOST).contains(alpha);
    match each.len() == sizes && each.iter().all(right) {
        true => Ok(each),
        false => Err(Error::parameter(format!(
            "a Dirichlet prior needs a number from 0 up for each of {sizes} levels"
        ))
        .at_column(&field.name)),
    }
}

/// The weights of classes as shares of 1.
fn shares(given: &[(String, f64)], target: &Field) -> Result<Vec<f64>> {
    let mut shares = vec![0.0; target.levels.len()];
    let mut named = vec![false; shares.len()];
    for (name, weight) in given {
        let code = target.find_code(name)? as usize;
        if !(0.0..=MOST).contains(weight) || named[code] {
            return Err(Error::parameter(format!(
                "the prior of the class \"{name}\" must be given once, as a number from 0 up"
            )));
        }
        (shares[code], named[code]) = (*weight, true);
    }
    if let Some(missing) = named.iter().position(|named| !named) {
        return Err(Error::parameter(format!(
            "the class \"{}\" is given no prior",
            target.levels[missing]
        ))
        .with_hint("name every class in `class_prior` when fitting, as in a=0.3,b=0.7"));
    }
    let total: f64 = shares.iter().sum();
    if total <= 0.0 {
        return Err(Error::parameter("every class has prior 0"));
    }
    Ok(shares.into_iter().map(|share| share / total).collect())
}

/// In which share of the documents of all classes each word is; `None` without
/// documents.
fn shares_of_documents(own: &[Statistics]) -> Option<Vec<f64>> {
    let mut documents = own.iter().filter_map(|own| match own {
        Statistics::Presence(own) => Some(own),
        _ => None,
    });
    let mut all = documents.next()?.clone();
    documents.for_each(|more| all.merge(more));
    let share = |count: &f64| count / all.documents;
    (all.documents > 0.0).then(|| all.counts.iter().map(share).collect())
}

/// How often levels or words were seen in all classes; `None` if never.
fn pooled_counts(own: &[Statistics], size: usize) -> Option<Vec<f64>> {
    let mut counts = vec![0.0; size];
    for statistics in own {
        let own: &[f64] = match statistics {
            Statistics::Categorical(own) => &own.counts,
            Statistics::Bernoulli(own) => &[own.failures, own.successes],
            Statistics::Words(own) => &own.counts,
            _ => return None,
        };
        let sums = counts.iter_mut().zip(own);
        sums.for_each(|(sum, count)| *sum += count);
    }
    counts.iter().any(|count| *count > 0.0).then_some(counts)
}
