//! One pass over all rows: an E-step, or the likelihood alone.

use super::latent::{Expected, Latent, Pass};
use crate::Control;
use crate::data::{Source, fold};
use crate::{Error, Result};

/// The expected statistics of all rows; `None` if the caller stopped the pass.
pub(crate) fn expect_all<M: Latent>(
    model: &M,
    source: &dyn Source,
    parameters: &M::Parameters,
    pass: Pass,
    control: Control,
) -> Result<Option<M::Statistics>> {
    let prepared = &model.prepare(parameters, pass)?;
    let total = fold(
        source,
        model.segment(),
        |partial, number, chunk| {
            let statistics = partial.get_or_insert_with(|| Some(model.zero()));
            match statistics {
                Some(sums) if !control.is_interrupted() => {
                    model.expect(prepared, number, chunk, sums)?;
                }
                _ => *statistics = None,
            }
            Ok(())
        },
        |total, more| match (total.as_mut(), more) {
            (Some(statistics), Some(more)) => statistics.merge(more),
            _ => *total = None,
        },
    )?;
    // If the caller stopped the pass, the statistics cover only a part of the rows.
    let total = total.flatten().filter(|_| !control.is_interrupted());
    if (total.as_ref()).is_some_and(|statistics| statistics.log_likelihood().is_nan()) {
        return Err(Error::numeric("the likelihood is not a number")
            .with_hint("check for values that are too large or too small"));
    }
    Ok(total)
}
