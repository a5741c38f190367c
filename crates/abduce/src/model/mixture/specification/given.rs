//! Parameters that are given instead of learned, and constraints between components: fixed
//! distributions of some components, given weights, and columns with the same distribution in
//! every component. For example, a zero-inflated Poisson has one component fixed to Poisson(0),
//! which is always 0, and one that is learned.

use crate::data::{Kind, Schema};
use crate::family::{Distribution, Family as _, LeafFamily, MultivariateStudentT, Poisson};
use crate::leaf::{FamilyName, Leaf};
use crate::model::mixture::{CovarianceKind, FittedMixture, Parameters, Specification};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The initial degrees of freedom of a Student t that starts from a Gaussian.
const INITIAL_DEGREES: f64 = 30.0;

/// The initial weight of noise if the starting mixture has none.
const INITIAL_NOISE: f64 = 0.05;

/// A distribution that is fixed in one component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The component, counted from 0.
    pub component: usize,
    /// The column, or any column of a multivariate leaf.
    pub column: String,
    /// The fixed distribution, of the family of the column.
    pub distribution: Distribution,
}

impl Specification {
    /// A zero-inflated Poisson: a mixture of two components, of which the first is always 0.
    ///
    /// ```
    /// use abduce::data::{Column, Field, Kind, Schema, Table};
    /// use abduce::Control;
    /// use abduce::model::mixture::{FitOptions, Specification, fit};
    /// let visits = [0, 0, 0, 0, 0, 3, 2, 4, 3, 5].map(|x| Some(f64::from(x)));
    /// let schema = Schema::new(vec![Field::new("visits", Kind::Count)]);
    /// let table = Table::new(schema, vec![Column::from_numbers(visits)], None)?;
    /// let specification = Specification::zero_inflated_poisson("visits");
    /// let fit = fit(&specification, &table, &FitOptions::default(), Control::default())?;
    /// // The mean of the positive counts, 3.4, is λ/(1 − e^−λ); the mean of all, 1.7, is (1 − π)λ.
    /// assert!((fit.mixture.parameters.weights[0] - 0.4802).abs() < 1e-3);
    /// # Ok::<(), abduce::Error>(())
    /// ```
    pub fn zero_inflated_poisson(column: impl Into<String>) -> Specification {
        let column = column.into();
        let held = Held {
            component: 0,
            column: column.clone(),
            distribution: Distribution::Poisson(Poisson { rate: 0.0 }),
        };
        Specification {
            families: vec![(column, FamilyName(Poisson::NAME))],
            held: vec![held],
            ..Specification::mixture(2, CovarianceKind::Full)
        }
    }

    /// The columns that need a leaf of their own because they are tied or fixed to a univariate
    /// distribution, and the family of each unless the user chooses another.
    pub(crate) fn single_column_families(
        &self,
        schema: &Schema,
    ) -> Result<Vec<(String, FamilyName)>> {
        let mut families = Vec::new();
        for name in &self.tied {
            let field = &schema.fields[schema.position(name)?];
            if self.target.as_deref() == Some(name) || field.kind == Kind::Text {
                return Err(
                    Error::parameter("the target and text columns cannot be tied").at_column(name),
                );
            }
            families.push((name.clone(), FamilyName::usual(field.kind)));
        }
        for held in &self.held {
            schema.position(&held.column)?;
            let mut names = LeafFamily::column_families().into_iter();
            if let Some(family) = names.find(|name| *name == held.distribution.name()) {
                families.push((held.column.clone(), FamilyName(family)));
            }
        }
        Ok(families)
    }

    /// Sets the tied columns and the fixed distributions of leaves.
    pub(crate) fn apply_fixed_and_tied(
        &self,
        schema: &Schema,
        components: usize,
        leaves: &mut [Leaf],
    ) -> Result<()> {
        for name in &self.tied {
            if let Some(leaf) = learned_leaf_of(schema, leaves, name)? {
                leaf.tied = true;
            }
        }
        for held in &self.held {
            if held.component >= components {
                return Err(Error::parameter(format!(
                    "there is no component {}",
                    held.component + 1
                ))
                .with_hint(format!("components are numbered from 1 to {components}")));
            }
            let unit = schema.fields[schema.position(&held.column)?].unit;
            if unit != 1.0 {
                return Err(Error::parameter(format!(
                    "the distribution of a column read in units of {unit:e} cannot be fixed"
                ))
                .at_column(&held.column)
                .with_hint("rescale it, so that its numbers are within 1e140"));
            }
            let Some(leaf) = learned_leaf_of(schema, leaves, &held.column)? else {
                continue;
            };
            if !leaf.can_be_fixed_to(held.component, &held.distribution, components) {
                return Err(Error::parameter(format!(
                    "a column of the family {} cannot be fixed to a {} distribution",
                    leaf.family.name(),
                    held.distribution.name()
                ))
                .at_column(&held.column)
                .with_hint(
                    "use a distribution that was fitted to the same columns with the same `tails`",
                ));
            }
            if leaf.tied {
                return Err(Error::parameter("a column cannot be both tied and fixed")
                    .at_column(&held.column));
            }
            if leaf.held_in(held.component).is_some() {
                return Err(Error::parameter(format!(
                    "component {} is fixed twice",
                    held.component + 1
                ))
                .at_column(&held.column));
            }
            leaf.held.push((held.component, held.distribution.clone()));
        }
        Ok(())
    }

    /// Whether all components are learned: no distribution is fixed and no weight given.
    pub(crate) fn learns_all_components(&self) -> bool {
        self.held.is_empty() && self.weights.is_none()
    }

    /// The given weights, checked and normalised; `None` if weights are learned.
    pub(crate) fn given_weights(&self, components: usize) -> Result<Option<Vec<f64>>> {
        let Some(given) = &self.weights else {
            return Ok(None);
        };
        if given.len() != components {
            return Err(Error::parameter(format!(
                "{} weights are given for {components} components",
                given.len()
            )));
        }
        let sum: f64 = given.iter().sum();
        if given.iter().any(|w| !(0.0..=1.0).contains(w)) || (sum - 1.0).abs() > 1e-6 {
            return Err(Error::parameter(
                "given weights must be probabilities that sum to 1",
            ));
        }
        Ok(Some(given.iter().map(|w| w / sum).collect()))
    }
}

impl FittedMixture {
    /// The parameters of this mixture as initial parameters of leaves over the columns of another
    /// schema.
    ///
    /// # Errors
    /// If the leaves have other columns, levels or families than those of this mixture.
    pub(crate) fn starting_parameters(
        &self,
        leaves: &[Leaf],
        schema: &Schema,
    ) -> Result<Parameters> {
        let mut parameters = Parameters {
            weights: self.parameters.weights.clone(),
            leaves: Vec::new(),
            unseen: Vec::new(),
        };
        for leaf in leaves {
            let (distributions, unseen) = self.starting_distributions(leaf, schema)?;
            parameters.leaves.push(distributions);
            parameters.unseen.push(unseen);
        }
        if leaves.iter().any(|leaf| leaf.noise.is_some()) && !self.has_noise() {
            parameters.add_noise(leaves);
        }
        Ok(parameters)
    }

    /// The initial distributions of one leaf, and its probabilities of an unseen category.
    fn starting_distributions(
        &self,
        leaf: &Leaf,
        schema: &Schema,
    ) -> Result<(Vec<Distribution>, Vec<f64>)> {
        if let (Some(fallback), true) = (leaf.family.fallback(), leaf.fixed) {
            return Ok((vec![fallback; self.components()], Vec::new()));
        }
        let names = column_names(schema, leaf);
        let mut leaves = self.leaves.iter();
        let Some(number) = leaves.position(|leaf| column_names(&self.schema, leaf) == names) else {
            return Err(Error::parameter(format!(
                "the start has no distribution of {} together",
                names.join(", ")
            ))
            .with_hint("it must have the same columns in the same order"));
        };
        let field = &schema.fields[leaf.columns[0]];
        let start = &self.leaves[number];
        let start_field = &self.schema.fields[start.columns[0]];
        if start_field.levels != field.levels || start_field.text != field.text {
            return Err(Error::data("the levels differ from those of the start")
                .at_column(&field.name)
                .with_hint("pass the levels, as in `kind=\"size=ordinal(small,large)\"`"));
        }
        let is_noise = |j: usize| self.has_noise() && j + 1 == self.components();
        let distributions = self.parameters.leaves[number].iter().enumerate();
        let distributions = distributions.map(|(j, distribution)| {
            if is_noise(j) {
                Some(distribution.clone())
            } else {
                leaf.converted(distribution)
            }
        });
        let distributions: Option<Vec<Distribution>> = distributions.collect();
        let distributions = distributions.ok_or_else(|| {
            Error::parameter(format!(
                "the family is {}, but {} in the start",
                leaf.family.name(),
                start.family.name()
            ))
            .at_column(&field.name)
        })?;
        let unseen = self.parameters.unseen.get(number);
        Ok((distributions, unseen.cloned().unwrap_or_default()))
    }
}

impl Parameters {
    /// Adds a noise component with a small weight.
    fn add_noise(&mut self, leaves: &[Leaf]) {
        self.weights
            .iter_mut()
            .for_each(|w| *w *= 1.0 - INITIAL_NOISE);
        self.weights.push(INITIAL_NOISE);
        for (distributions, leaf) in self.leaves.iter_mut().zip(leaves) {
            distributions.extend(leaf.noise.clone().or(leaf.family.fallback()));
        }
        for probabilities in self.unseen.iter_mut() {
            probabilities.extend(probabilities.last().copied());
        }
    }
}

fn column_names<'a>(schema: &'a Schema, leaf: &Leaf) -> Vec<&'a str> {
    let fields = leaf.columns.iter().map(|column| &schema.fields[*column]);
    fields.map(|field| field.name.as_str()).collect()
}

impl Leaf {
    /// A distribution converted to the covariance structure and tails of this leaf; `None` if it
    /// is of another family.
    fn converted(&self, distribution: &Distribution) -> Option<Distribution> {
        match (&self.family, distribution) {
            (LeafFamily::Multivariate { shape, .. }, Distribution::Multivariate(gaussian)) => {
                Some(gaussian.restructured(shape.structure).into())
            }
            (
                LeafFamily::MultivariateStudentT { shape, .. },
                Distribution::MultivariateStudentT(t),
            ) => {
                let mut t = t.clone();
                t.gaussian = t.gaussian.restructured(shape.structure);
                t.degrees = shape.degrees.unwrap_or(t.degrees);
                Some(t.into())
            }
            (
                LeafFamily::MultivariateStudentT { shape, .. },
                Distribution::Multivariate(gaussian),
            ) => {
                let t = MultivariateStudentT {
                    degrees: shape.degrees.unwrap_or(INITIAL_DEGREES),
                    gaussian: gaussian.restructured(shape.structure),
                };
                Some(t.into())
            }
            (LeafFamily::Multivariate { shape, .. }, Distribution::MultivariateStudentT(t)) => {
                Some(t.gaussian.restructured(shape.structure).into())
            }
            (family, other) => (family.name() == other.name()).then(|| other.clone()),
        }
    }
}

/// The leaf of a column; `None` if the column is constant or always missing.
fn learned_leaf_of<'a>(
    schema: &Schema,
    leaves: &'a mut [Leaf],
    name: &str,
) -> Result<Option<&'a mut Leaf>> {
    let position = schema.position(name)?;
    let mut leaves = leaves.iter_mut();
    Ok(leaves.find(|leaf| leaf.columns.contains(&position) && !leaf.fixed))
}
