//! Initial parameters that the caller chooses: given parameters, those of another mixture, or
//! the levels of a column.

use crate::data::{Kind, Schema, Source, kind_option};
use crate::leaf::TableSummary;
use crate::model::mixture::step::task::Task;
use crate::model::mixture::{
    FitOptions, FittedMixture, MixtureStatistics, Parameters, Specification,
};
use crate::{Error, Result};

/// Where the initial parameters of EM come from.
#[derive(Clone, Copy)]
pub(crate) enum StartingPoint<'a> {
    /// The labels or, without labels, the best of several starts.
    Automatic,
    /// Given parameters.
    Parameters(&'a Parameters),
    /// A mixture of the same columns.
    Mixture(&'a FittedMixture),
    /// The levels of a column of a source that has the same rows and one column more.
    Column(&'a dyn Source, usize),
}

impl StartingPoint<'_> {
    /// The initial parameters, if the caller gave them or a mixture.
    pub fn parameters(self, task: &Task, schema: &Schema) -> Result<Option<Parameters>> {
        let mut start = match self {
            StartingPoint::Automatic | StartingPoint::Column(..) => return Ok(None),
            StartingPoint::Parameters(start) => start.clone(),
            StartingPoint::Mixture(start) => start.starting_parameters(task.leaves, schema)?,
        };
        if start.weights.len() != task.components {
            return Err(Error::parameter(format!(
                "the start has {} components instead of {}",
                start.weights.len(),
                task.components
            )));
        }
        // Given weights and fixed distributions replace those of the start.
        if let Some(given) = &task.weights.given {
            start.weights = given.clone();
        }
        let leaves = task.leaves.iter().zip(&mut start.leaves);
        // The check below rejects a wrong number of distributions.
        for (leaf, start) in leaves.filter(|(_, start)| start.len() == task.components) {
            for (j, held) in &leaf.held {
                start[*j] = held.clone();
            }
            if let (Some(noise), Some(last)) = (&leaf.noise, start.last_mut()) {
                *last = noise.clone();
            }
        }
        let zero = MixtureStatistics::zero(task.leaves, task.components);
        task.fitted_mixture(schema, start.clone(), zero, TableSummary::default())
            .check()?;
        Ok(Some(start))
    }
}

impl FitOptions {
    /// An error if the levels of a column are the start: a grid or a test compares several
    /// numbers of components.
    pub(crate) fn refuse_start_by(&self) -> Result<()> {
        match &self.start_by {
            None => Ok(()),
            Some(name) => Err(Error::parameter(
                "`start_by` cannot be combined with several numbers of components",
            )
            .at_column(name)),
        }
    }
}

/// The position of the column whose levels are the initial components, and the specification
/// with one component for each level.
pub(crate) fn start_column(
    specification: &Specification,
    schema: &Schema,
    name: &str,
) -> Result<(Specification, usize)> {
    let column = schema.position(name)?;
    let field = &schema.fields[column];
    let components = specification.components.unwrap_or(field.levels.len());
    if specification.target.is_some() {
        return Err(
            Error::parameter("`start_by` does not apply to models with a target").at_column(name),
        );
    }
    if !field.kind.is_coded() {
        return Err(Error::parameter(format!(
            "`start_by` needs a categorical column; this one is {}",
            field.kind.name()
        ))
        .at_column(name)
        .with_hint(format!(
            "pass {}",
            kind_option(name, Kind::Categorical.name())
        )));
    }
    if field.levels.len() != components {
        return Err(Error::parameter(format!(
            "{components} components cannot start from a column with {} levels",
            field.levels.len()
        ))
        .at_column(name)
        .with_hint("there must be one level for each component"));
    }
    let specification = Specification {
        components: Some(components),
        ..specification.clone()
    };
    Ok((specification, column))
}
