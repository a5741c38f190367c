//! k-means: the centres that minimise the sum of the distances of rows to their nearest centre,
//!
//!   minimise Σ_i w_i min_j d(x_i, c_j),
//!
//! For d = |x − c|² this is hard EM for Gaussians with one common variance (MacQueen 1967, Lloyd
//! 1982). Densities are therefore those of a mixture of k equally probable Gaussians with
//! σ² = inertia / cells. Missing values are left out: distances are sums over seen cells, and a
//! centre is the mean of seen cells. Other distances are Manhattan (centres are medians), cosine
//! (centres are directions) and Mahalanobis (rows are whitened); centres can also be medoids.

mod assign;
mod check;
mod choose_algorithm;
mod diagnose;
mod farthest;
mod fit;
mod fit_medoids;
mod fitted;
mod frame;
mod iterate;
mod joint;
mod medians;
mod medoids;
mod mini_batch;
mod parallel;
mod points;
mod seeding;
mod specification;
mod starts;
mod statistics;
mod survey;

pub use fit::{Fit, fit, fit_from};
pub use fitted::{Details, KMeans, Recipe};
pub use frame::Frame;
pub use medoids::{Medoids, medoids};
pub use specification::{Algorithm, Distance, Init, Options, Specification};
pub use starts::Start;

use diagnose::diagnose;
use fit_medoids::fit_medoids;

use crate::data::{Field, Kind, Schema, Source, reduce};
use crate::family::{
    Covariance, Distribution, LeafFamily, MultivariateGaussian, MultivariateShape, Structure,
};
use crate::leaf::Leaf;
use crate::model::mixture::{FittedMixture, Parameters};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Fitted clusters, sorted by size with the largest first, or in the order of given centres.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FittedKMeans {
    /// The columns of the table.
    pub schema: Schema,
    /// The distance between rows and centres.
    pub distance: Distance,
    /// Whether every centre is a row.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub medoids: bool,
    /// The coordinates in which distances are computed.
    pub frame: Frame,
    /// The centres, one number for each column used, in the units of the table; for cosine
    /// distance, directions of length 1.
    pub centres: Vec<Vec<f64>>,
    /// The weight of each cluster's rows.
    pub sizes: Vec<f64>,
    /// σ² of every cluster, in the coordinates of the frame.
    pub variance: f64,
    /// Columns that were constant in the fitted rows, and their values. They are left out of
    /// densities. With a given covariance, no column counts as constant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<(usize, f64)>,
    /// The mixture that computes densities, created when it is first used.
    #[serde(skip)]
    gaussians: OnceLock<Box<FittedMixture>>,
}

impl FittedKMeans {
    /// The names of the columns used.
    pub fn column_names(&self) -> Vec<&str> {
        let columns = self.frame.columns.iter();
        columns
            .map(|c| self.schema.fields[*c].name.as_str())
            .collect()
    }

    /// The number of free parameters: the centres and one variance. The coordinates of
    /// distances, as deviations or a covariance, count as given.
    pub fn free_parameters(&self) -> usize {
        self.centres.len() * self.varying().len() + 1
    }

    /// The positions, among the columns used, of those that are not constant.
    fn varying(&self) -> Vec<usize> {
        let columns = self.frame.columns.iter().enumerate();
        columns
            .filter(|(_, column)| {
                self.constants
                    .iter()
                    .all(|(constant, _)| constant != *column)
            })
            .map(|(position, _)| position)
            .collect()
    }

    /// Marks columns as constant and leaves their cells out of σ². Does nothing if all columns are
    /// constant.
    fn leave_out_constants(&mut self, constants: Vec<(usize, f64)>, survey: &survey::Survey) {
        let cells: f64 = survey.columns.iter().map(|column| column.weight).sum();
        self.constants = constants;
        let varying: f64 = (self.varying().into_iter())
            .map(|place| survey.columns[place].weight)
            .sum();
        if varying > 0.0 {
            self.variance *= cells / varying;
        } else {
            self.constants.clear();
        }
    }

    /// The log-likelihood of rows under equally probable Gaussians about the centres.
    ///
    /// # Errors
    /// If the distance has no density, or the rows cannot be read.
    pub fn log_likelihood(&self, source: &dyn Source) -> Result<f64> {
        use crate::ask::Joint as _;
        let mixture = self.gaussians()?;
        let total = reduce(
            source,
            |_, chunk| {
                let densities = mixture.log_density(&self.numbers_of(chunk))?;
                let weighted = densities.iter().enumerate().map(|(row, density)| {
                    match chunk.weights().map_or(1.0, |weights| weights[row]) {
                        // A row of weight 0 does not count, even if it is impossible.
                        weight if weight > 0.0 => weight * density,
                        _ => 0.0,
                    }
                });
                Ok(weighted.sum::<f64>())
            },
            |all, more| *all += more,
        )?;
        Ok(total.unwrap_or(0.0))
    }

    /// The clusters as a mixture of Gaussians over the columns used that are not constant.
    ///
    /// # Errors
    /// If the distance has no density.
    pub fn gaussians(&self) -> Result<&FittedMixture> {
        let error = |why: &str| Error::parameter(format!("these clusters have no density: {why}"));
        let no_density = |why: &str| {
            Err(error(why)
                .with_hint("fit kmeans by euclidean or mahalanobis distance, or a mixture"))
        };
        match self.distance {
            _ if self.medoids => return no_density("their centres are rows"),
            Distance::Manhattan => return no_density("their distance is manhattan"),
            Distance::Cosine => return no_density("their distance is cosine"),
            Distance::Euclidean | Distance::Mahalanobis => {}
        }
        if self.variance <= 0.0 {
            return Err(error("every row coincides with its centre")
                .with_hint("fit fewer clusters than there are different rows"));
        }
        if !self
            .units()
            .iter()
            .all(|unit| (unit * unit * self.variance).is_normal())
        {
            return Err(error("its variance is too large or too small for a number")
                .with_hint("fit kmeans with `standardize`, or a mixture"));
        }
        Ok(self.gaussians.get_or_init(|| Box::new(self.mixture())))
    }

    /// One unit of each coordinate, in the units of its column.
    fn units(&self) -> Vec<f64> {
        let scales = self.frame.scale.iter();
        scales
            .map(|scale| 1.0 / (scale * self.frame.power))
            .collect()
    }

    /// The mixture of equally probable Gaussians at the centres.
    fn mixture(&self) -> FittedMixture {
        let varying = self.varying();
        let columns = varying.iter().map(|place| self.frame.columns[*place]);
        let fields = columns.map(|c| &self.schema.fields[c]);
        let fields = fields.map(|field| Field::new(field.name.clone(), Kind::Real));
        let (k, order) = (self.centres.len(), varying.len());
        let (covariance, structure) = self.covariance(&varying);
        let gaussians = self.centres.iter().map(|centre| {
            Distribution::Multivariate(MultivariateGaussian {
                mean: varying.iter().map(|place| centre[*place]).collect(),
                covariance: covariance.clone(),
            })
        });
        let family = LeafFamily::Multivariate {
            shape: MultivariateShape {
                columns: order,
                structure,
            },
            prior: Default::default(),
            fallback: None,
        };
        let leaf = Leaf::new((0..order).collect(), family);
        let parameters = Parameters {
            weights: vec![1.0 / k as f64; k],
            leaves: vec![gaussians.collect()],
            unseen: Vec::new(),
        };
        FittedMixture::given(Schema::new(fields.collect()), None, vec![leaf], parameters)
    }

    /// The common covariance of the clusters, and its structure.
    fn covariance(&self, varying: &[usize]) -> (Covariance, Structure) {
        let all = self.units();
        let units: Vec<f64> = varying.iter().map(|place| all[*place]).collect();
        let order = units.len();
        if self.frame.whitening.is_empty() {
            if units.iter().all(|unit| *unit == units[0]) {
                let variance = self.variance * units[0] * units[0];
                return (Covariance::Spherical(variance), Structure::Spherical);
            }
            let variances = units.iter().map(|unit| self.variance * unit * unit);
            return (
                Covariance::Diagonal(variances.collect()),
                Structure::Diagonal,
            );
        }
        let factor = crate::kernel::linear::invert_lower(&self.frame.whitening, order);
        let cell = |at: usize| {
            let (i, j) = (at % order, at / order);
            let product: f64 = (0..=i.min(j))
                .map(|l| factor[l * order + i] * factor[l * order + j])
                .sum();
            self.variance * product * units[i] * units[j]
        };
        let cells = (0..order * order).map(cell).collect();
        (Covariance::Full(cells), Structure::Tied)
    }
}
