//! Where EM begins other than at starts of its own: at given parameters, at those of
//! another mixture, or at the levels of a column.

use crate::data::{Schema, Source};
use crate::leaf::Seen;
use crate::model::mixture::step::task::Task;
use crate::model::mixture::{FitOptions, Mixture, MixtureStatistics, Parameters, Specification};
use crate::{Error, Result};

/// Where EM begins.
#[derive(Clone, Copy)]
pub(crate) enum Beginning<'a> {
    /// At labels, or at starts of its own.
    Own,
    /// At these parameters.
    Parameters(&'a Parameters),
    /// At those of a mixture of the same columns.
    Mixture(&'a Mixture),
    /// At the levels of a column of the same rows, which the rows to fit lack.
    Column(&'a dyn Source, usize),
}

impl Beginning<'_> {
    /// The parameters to begin with, where they are given.
    pub fn parameters(self, task: &Task, schema: &Schema) -> Result<Option<Parameters>> {
        let mut start = match self {
            Beginning::Own | Beginning::Column(..) => return Ok(None),
            Beginning::Parameters(start) => start.clone(),
            Beginning::Mixture(start) => start.parameters_of(task.leaves, schema)?,
        };
        if start.weights.len() != task.components {
            return Err(Error::parameter(format!(
                "the start has {} components instead of {}",
                start.weights.len(),
                task.components
            )));
        }
        // What is given is not where the start has it.
        if let Some(given) = &task.weights.given {
            start.weights = given.clone();
        }
        let leaves = task.leaves.iter().zip(&mut start.leaves);
        // Of another number, the check below says what is wrong.
        for (leaf, own) in leaves.filter(|(_, own)| own.len() == task.components) {
            for (j, held) in &leaf.held {
                own[*j] = held.clone();
            }
            if let (Some(noise), Some(last)) = (&leaf.noise, own.last_mut()) {
                *last = noise.clone();
            }
        }
        let zero = MixtureStatistics::zero(task.leaves, task.components);
        task.mixture(schema, start.clone(), zero, Seen::default())
            .check()?;
        Ok(Some(start))
    }
}

impl FitOptions {
    /// Refuses a start at a column where several numbers of components are compared.
    pub(crate) fn refuse_start_by(&self) -> Result<()> {
        match &self.start_by {
            None => Ok(()),
            Some(name) => Err(Error::parameter(
                "several numbers of components cannot begin at the levels of one column",
            )
            .at_column(name)),
        }
    }
}

/// The specification of components that begin at the levels of a column, and where
/// that is.
pub(crate) fn begun_at(
    specification: &Specification,
    schema: &Schema,
    name: &str,
) -> Result<(Specification, usize)> {
    let column = schema.position(name)?;
    let field = &schema.fields[column];
    let components = specification.components.unwrap_or(field.levels.len());
    if specification.target.is_some() {
        return Err(
            Error::parameter("the labels of the target say where to begin").at_column(name),
        );
    }
    if !field.kind.is_coded() {
        return Err(Error::parameter(format!(
            "components begin at a column of levels, not of the kind {}",
            field.kind.name()
        ))
        .at_column(name)
        .with_hint(format!(
            "read it as levels with --kind \"{name}=categorical\""
        )));
    }
    if field.levels.len() != components {
        return Err(Error::parameter(format!(
            "{components} components cannot begin at a column of {} levels",
            field.levels.len()
        ))
        .at_column(name)
        .with_hint("there must be a level for each component"));
    }
    let specification = Specification {
        components: Some(components),
        ..specification.clone()
    };
    Ok((specification, column))
}
