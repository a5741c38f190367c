//! One multivariate Gaussian over all numeric columns,
//!
//!   p(x) = N(x | μ, Σ),
//!
//! fitted by EM if values are missing: each missing value has its conditional mean, and its
//! conditional covariance is added (Little & Rubin, *Statistical Analysis with Missing Data*,
//! chapter 11). It is a mixture of one component.

use crate::data::{Kind, Schema, Source};
use crate::model::mixture::{
    CovarianceKind, FitOptions, FittedMixture, Reals, Recipe, Specification,
};
use crate::model::{Learned, Learner};
use crate::{Control, Error, Result};

/// A Gaussian to be fitted.
///
/// ```
/// use abduce::Control;
/// use abduce::data::{Column, Field, Kind, Schema, Table};
/// use abduce::model::Learner;
/// use abduce::model::gaussian::Gaussian;
/// use abduce::model::mixture::CovarianceKind;
///
/// let fields = ["x", "y"].map(|name| Field::new(name, Kind::Real));
/// let x = Column::from_numbers([Some(1.0), Some(2.0), Some(3.0), None]);
/// let y = Column::from_numbers([Some(2.0), Some(4.1), None, Some(7.9)]);
/// let table = Table::new(Schema::new(fields.to_vec()), vec![x, y], None)?;
/// let learned = Gaussian::new(CovarianceKind::Full).learn(&table, Control::default())?;
/// assert_eq!(learned.report.parameters, 5);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gaussian(pub Recipe);

impl Gaussian {
    /// A Gaussian with a covariance of this structure.
    pub fn new(covariance: CovarianceKind) -> Gaussian {
        let specification = Specification {
            reals: Reals::Together {
                covariance,
                counts: true,
            },
            ..Specification::mixture(1, covariance)
        };
        let options = FitOptions {
            restarts: 1,
            ..FitOptions::default()
        };
        Gaussian(Recipe::new(specification, options))
    }
}

impl Learner for Gaussian {
    const NAME: &'static str = "gaussian";
    const ABOUT: &'static str = "One Gaussian over all numeric columns";
    type Model = FittedMixture;

    fn learn(&self, rows: &dyn Source, control: Control) -> Result<Learned> {
        check_columns(rows.schema())?;
        self.0.learn(rows, control)
    }
}

/// Fails if a column is not numeric.
fn check_columns(schema: &Schema) -> Result<()> {
    let is_numeric = |kind: Kind| matches!(kind, Kind::Real | Kind::Count);
    let mut others = schema.fields.iter().filter(|field| !is_numeric(field.kind));
    let Some(field) = others.next() else {
        return Ok(());
    };
    let message = format!(
        "a Gaussian needs numeric columns, and this one is {}",
        field.kind.name()
    );
    Err(Error::parameter(message)
        .at_column(&field.name)
        .with_hint("leave it out with `drop`, or fit mixture or naive-bayes"))
}
