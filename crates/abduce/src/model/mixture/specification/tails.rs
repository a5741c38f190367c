//! The tails of the multivariate distribution of the real columns: Gaussian or Student t.

use crate::family::{LeafFamily, MultivariateShape, MultivariateStudentT};
use crate::family::{MultivariateStudentTShape, Structure};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The tails of the multivariate distribution of the real columns.
///
/// ```
/// use abduce::model::mixture::Tails;
/// assert_eq!("student-t".parse::<Tails>()?, Tails::StudentT { degrees: None });
/// let four = Tails::StudentT { degrees: Some(4.0) };
/// assert_eq!("student-t(4)".parse::<Tails>()?, four);
/// assert_eq!(four.to_string(), "student-t(4)");
/// assert!("student-t(-1)".parse::<Tails>().is_err());
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tails {
    /// The distribution is Gaussian: outliers are almost impossible.
    #[default]
    Gaussian,
    /// The distribution is a Student t: outliers are expected and have little influence.
    StudentT {
        /// The degrees of freedom of all components; if not given, learned for each component.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        degrees: Option<f64>,
    },
}

impl Tails {
    /// Whether the distribution is Gaussian.
    pub fn are_gaussian(&self) -> bool {
        *self == Tails::Gaussian
    }

    /// The family of a leaf over this number of columns.
    ///
    /// # Errors
    /// If the degrees of freedom are out of range.
    pub(crate) fn leaf(self, columns: usize, structure: Structure) -> Result<LeafFamily> {
        Ok(match self {
            Tails::Gaussian => LeafFamily::Multivariate {
                shape: MultivariateShape { columns, structure },
                prior: Default::default(),
                fallback: None,
            },
            Tails::StudentT { degrees } => LeafFamily::MultivariateStudentT {
                shape: MultivariateStudentTShape {
                    columns,
                    structure,
                    degrees: degrees.map(checked_degrees).transpose()?,
                },
                prior: Default::default(),
                fallback: None,
            },
        })
    }
}

/// The degrees of freedom, if they are in the allowed range.
fn checked_degrees(degrees: f64) -> Result<f64> {
    let (least, most) = (
        MultivariateStudentT::MIN_DEGREES,
        MultivariateStudentT::MAX_DEGREES,
    );
    if !(least..=most).contains(&degrees) {
        return Err(Error::parameter(format!(
            "the degrees of freedom of a Student t must be a number from {least} to {most:e}, not \
             {degrees}"
        ))
        .with_hint("1 is a Cauchy distribution, 4 has heavy tails, 30 is close to a Gaussian"));
    }
    Ok(degrees)
}

impl fmt::Display for Tails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tails::Gaussian => write!(f, "gaussian"),
            Tails::StudentT { degrees: None } => write!(f, "student-t"),
            Tails::StudentT {
                degrees: Some(degrees),
            } => write!(f, "student-t({degrees})"),
        }
    }
}

impl FromStr for Tails {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let wrong = || {
            Error::parameter(format!(
                "tails must be gaussian, student-t or student-t(4), not \"{text}\""
            ))
        };
        match text {
            "gaussian" => return Ok(Tails::Gaussian),
            "student-t" => return Ok(Tails::StudentT { degrees: None }),
            _ => {}
        }
        let given = text.strip_prefix("student-t(");
        let given = given.and_then(|rest| rest.strip_suffix(')'));
        let degrees: f64 = given
            .and_then(|degrees| degrees.trim().parse().ok())
            .ok_or_else(wrong)?;
        Ok(Tails::StudentT {
            degrees: Some(checked_degrees(degrees)?),
        })
    }
}
