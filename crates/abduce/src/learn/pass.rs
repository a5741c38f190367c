//! One pass over all rows: an E-step, or the likelihood alone.

use super::latent::{EStep, Latent};
use crate::Control;
use crate::data::{Source, fold};
use crate::{Error, Result};

/// One E-step over all rows; `None` when the caller stopped it.
pub(crate) fn expect_all<M: Latent>(
    model: &M,
    source: &dyn Source,
    parameters: &M::Parameters,
    step: EStep,
    round: usize,
    control: Control,
) -> Result<Option<M::Statistics>> {
    let prepared = model.prepare(parameters, step, round)?;
    pass(model, source, &prepared, control)
}

/// The likelihood of all rows, and no more of an E-step; `None` when the caller stopped it.
pub(super) fn measure_all<M: Latent>(
    model: &M,
    source: &dyn Source,
    parameters: &M::Parameters,
    step: EStep,
    control: Control,
) -> Result<Option<M::Statistics>> {
    let prepared = model.measuring(model.prepare(parameters, step, 0)?);
    pass(model, source, &prepared, control)
}

fn pass<M: Latent>(
    model: &M,
    source: &dyn Source,
    prepared: &M::Prepared<'_>,
    control: Control,
) -> Result<Option<M::Statistics>> {
    let total = fold(
        source,
        model.segment(),
        |partial, number, chunk| {
            let statistics = partial.get_or_insert_with(|| Some(model.zero()));
            match statistics {
                Some(own) if !control.is_interrupted() => {
                    model.expect(prepared, number, chunk, own)?;
                }
                _ => *statistics = None,
            }
            Ok(())
        },
        |total, more| match (total.as_mut(), more) {
            (Some(statistics), Some(more)) => model.merge(statistics, more),
            _ => *total = None,
        },
    )?;
    // What came in while the caller stopped it may be only a part.
    let total = total.flatten().filter(|_| !control.is_interrupted());
    if total
        .as_ref()
        .is_some_and(|statistics| model.log_likelihood(statistics).0.is_nan())
    {
        return Err(Error::numeric("the likelihood is not a number")
            .with_hint("are some values too large or too small?"));
    }
    Ok(total)
}
