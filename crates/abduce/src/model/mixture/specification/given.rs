//! Parameters that are given and not learned: distributions that columns are held to in
//! some components, weights, and columns that all components have in common. A
//! zero-inflated Poisson is such a mixture: one component is held to Poisson(0), which is
//! always 0, the other is learned.

use crate::data::{Kind, Schema};
use crate::family::{Distribution, Family as _, LeafFamily, MultivariateStudentT, Poisson};
use crate::leaf::{FamilyName, Leaf};
use crate::model::mixture::{CovarianceKind, FittedMixture, Parameters, Specification};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The degrees of freedom at which a Student t begins that was a Gaussian.
const LIGHT: f64 = 30.0;

/// The share of noise where a start has none.
const NOISE: f64 = 0.05;

/// What a column is held to in a component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The component, counted from 0.
    pub component: usize,
    /// The column, or the first of several that are taken together.
    pub column: String,
    /// Its distribution, of the family that the column has.
    pub distribution: Distribution,
}

impl Specification {
    /// A zero-inflated Poisson as a mixture of two: the first is always 0.
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
    /// // λ/(1 − e^−λ) is the mean of what is not 0, 3.4; (1 − π)λ that of all, 1.7.
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

    /// The columns that stand alone because they are tied or held to a distribution of
    /// one column, and the families that they have unless the user chooses another.
    pub(crate) fn alone(&self, schema: &Schema) -> Result<Vec<(String, FamilyName)>> {
        let mut alone = Vec::new();
        for name in &self.tied {
            let field = &schema.fields[schema.position(name)?];
            if self.target.as_deref() == Some(name) || field.kind == Kind::Text {
                return Err(
                    Error::parameter("only columns of numbers and levels can be tied")
                        .at_column(name),
                );
            }
            alone.push((name.clone(), FamilyName::usual(field.kind)));
        }
        for held in &self.held {
            schema.position(&held.column)?;
            let mut names = LeafFamily::column_families().into_iter();
            if let Some(own) = names.find(|own| *own == held.distribution.name()) {
                alone.push((held.column.clone(), FamilyName(own)));
            }
        }
        Ok(alone)
    }

    /// Tells the leaves what they are held to and what their components have in common.
    pub(crate) fn hold(
        &self,
        schema: &Schema,
        components: usize,
        leaves: &mut [Leaf],
    ) -> Result<()> {
        for name in &self.tied {
            if let Some(leaf) = leaf_of(schema, leaves, name)? {
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
                    "a column that is read in units of {unit:e} cannot be held"
                ))
                .at_column(&held.column)
                .with_hint("rescale it, so that its numbers are within 1e140"));
            }
            let Some(leaf) = leaf_of(schema, leaves, &held.column)? else {
                continue;
            };
            if !leaf.may_hold(held.component, &held.distribution, components) {
                return Err(Error::parameter(format!(
                    "a column of the family {} is held to a {} that is not of it",
                    leaf.family.name(),
                    held.distribution.name()
                ))
                .at_column(&held.column)
                .with_hint("hold it to a distribution that was fitted to the same columns with the same `tails`"));
            }
            if leaf.tied {
                return Err(
                    Error::parameter("a column is both tied and held").at_column(&held.column)
                );
            }
            if leaf.held_in(held.component).is_some() {
                return Err(Error::parameter(format!(
                    "component {} is held twice",
                    held.component + 1
                ))
                .at_column(&held.column));
            }
            leaf.held.push((held.component, held.distribution.clone()));
        }
        Ok(())
    }

    /// Whether nothing is given of single components.
    pub(crate) fn holds_nothing(&self) -> bool {
        self.held.is_empty() && self.weights.is_none()
    }

    /// The weights that are given for so many components.
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
    /// Its parameters for leaves over the columns of another schema.
    pub(crate) fn parameters_of(&self, leaves: &[Leaf], schema: &Schema) -> Result<Parameters> {
        let mut parameters = Parameters {
            weights: self.parameters.weights.clone(),
            leaves: Vec::new(),
            unseen: Vec::new(),
        };
        let name = |schema: &Schema, leaf: &Leaf| -> Vec<String> {
            let fields = leaf.columns.iter().map(|c| &schema.fields[*c]);
            fields.map(|field| field.name.clone()).collect()
        };
        for leaf in leaves {
            let names = name(schema, leaf);
            let mut own = self.leaves.iter().enumerate();
            let own = own.find(|(_, own)| name(&self.schema, own) == names);
            let field = &schema.fields[leaf.columns[0]];
            match (own, leaf.family.vague()) {
                (_, Some(vague)) if leaf.fixed => {
                    parameters.leaves.push(vec![vague; self.components()]);
                    parameters.unseen.push(Vec::new());
                }
                (Some((number, own)), _) => {
                    let before = &self.schema.fields[own.columns[0]];
                    if before.levels != field.levels || before.text != field.text {
                        return Err(Error::data("the levels are not those of the start")
                            .at_column(&field.name)
                            .with_hint(
                                "pass the levels, as in `kind=\"size=ordinal(small,large)\"`",
                            ));
                    }
                    let each = self.parameters.leaves[number].iter();
                    let same = |j: usize| !self.has_noise() || j + 1 < self.components();
                    let each = each.enumerate().map(|(j, own)| match same(j) {
                        true => leaf.restructured(own),
                        false => Some(own.clone()),
                    });
                    let each: Option<Vec<Distribution>> = each.collect();
                    let each = each.ok_or_else(|| {
                        Error::parameter(format!(
                            "the start has {} where this has {}",
                            own.family.name(),
                            leaf.family.name()
                        ))
                        .at_column(&field.name)
                    })?;
                    parameters.leaves.push(each);
                    let unseen = self.parameters.unseen.get(number);
                    parameters.unseen.push(unseen.cloned().unwrap_or_default());
                }
                _ => {
                    return Err(Error::parameter(format!(
                        "the start has no distribution of {} together",
                        names.join(", ")
                    ))
                    .with_hint("it must be of the same columns, in the same order"));
                }
            }
        }
        if leaves.iter().any(|leaf| leaf.noise.is_some()) && !self.has_noise() {
            parameters
                .weights
                .iter_mut()
                .for_each(|w| *w *= 1.0 - NOISE);
            parameters.weights.push(NOISE);
            let each = parameters.leaves.iter_mut().zip(leaves);
            each.for_each(|(own, leaf)| own.extend(leaf.noise.clone().or(leaf.family.vague())));
            let unseen = parameters.unseen.iter_mut();
            let unseen = unseen.filter(|own| !own.is_empty());
            unseen.for_each(|own| own.extend(own.last().copied()));
        }
        Ok(parameters)
    }
}

impl Leaf {
    /// A distribution of this leaf's family as its structure has it; `None` for one of
    /// another family.
    fn restructured(&self, own: &Distribution) -> Option<Distribution> {
        match (&self.family, own) {
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
            (LeafFamily::MultivariateStudentT { shape, .. }, Distribution::Multivariate(own)) => {
                let t = MultivariateStudentT {
                    degrees: shape.degrees.unwrap_or(LIGHT),
                    gaussian: own.restructured(shape.structure),
                };
                Some(t.into())
            }
            (LeafFamily::Multivariate { shape, .. }, Distribution::MultivariateStudentT(own)) => {
                Some(own.gaussian.restructured(shape.structure).into())
            }
            (family, own) => (family.name() == own.name()).then(|| own.clone()),
        }
    }
}

/// The leaf that a column is in, unless the column is constant or was never seen.
fn leaf_of<'a>(
    schema: &Schema,
    leaves: &'a mut [Leaf],
    name: &str,
) -> Result<Option<&'a mut Leaf>> {
    let position = schema.position(name)?;
    let mut leaves = leaves.iter_mut();
    Ok(leaves.find(|leaf| leaf.columns.contains(&position) && !leaf.fixed))
}
