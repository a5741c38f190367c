//! Noise: one more component, that may lie anywhere. Its density is 1/V, V the volume of
//! the box that holds all rows (Banfield & Raftery 1993), levels are equally probable;
//! only its weight is learned. Rows that belong to no cluster then cost a little, instead
//! of widening a cluster or taking one of their own.
//!
//! Where rows are told apart, noise has no ends: a row farther out than any seen is noise.
//! Its density ends with the box, or it would be none.

use crate::Result;
use crate::data::{Kind, Source, fold};
use crate::family::{Distribution, Side, UniformBox};
use crate::leaf::Leaf;
use crate::leaf::Seen;

/// Gives every leaf its noise.
pub(crate) fn add_noise(source: &dyn Source, seen: &Seen, leaves: &mut [Leaf]) -> Result<()> {
    let schema = source.schema();
    let ranges = ranges(source)?;
    for leaf in leaves.iter_mut().filter(|leaf| !leaf.fixed) {
        if leaf.family.levels().is_some() || leaf.family.is_text() {
            leaf.noise = leaf.family.vague();
            continue;
        }
        let side = |column: &usize| {
            let (mut low, mut high) = ranges[*column];
            let whole = schema.fields[*column].kind == Kind::Count;
            if low >= high && !whole {
                // Rounding alone tells such numbers apart.
                let unit = seen.scale(*column).variance.sqrt();
                (low, high) = (low - unit, high + unit);
            }
            Side { low, high, whole }
        };
        let sides = leaf.columns.iter().map(side).collect();
        leaf.noise = Some(Distribution::UniformBox(UniformBox { sides }));
    }
    Ok(())
}

/// The smallest and the largest number of every column, of rows that weigh something.
fn ranges(source: &dyn Source) -> Result<Vec<(f64, f64)>> {
    let columns = source.schema().fields.len();
    let nothing = vec![(f64::INFINITY, f64::NEG_INFINITY); columns];
    let wider = |own: &mut (f64, f64), (low, high): (f64, f64)| {
        *own = (own.0.min(low), own.1.max(high));
    };
    let found = fold(
        source,
        1,
        |partial: &mut Option<Vec<(f64, f64)>>, _, chunk| {
            let own = partial.get_or_insert_with(|| nothing.clone());
            let rows: Vec<usize> = chunk.weighing_rows().collect();
            for (column, range) in own.iter_mut().enumerate() {
                let cells = chunk.column(column).cells(0, chunk.rows());
                if cells.reals().is_empty() {
                    continue;
                }
                let numbers = rows.iter().filter(|row| cells.is_seen(**row));
                numbers.for_each(|row| wider(range, (cells.reals()[*row], cells.reals()[*row])));
            }
            Ok(())
        },
        |total, more| {
            let columns = total.iter_mut().zip(more);
            columns.for_each(|(own, range)| wider(own, range));
        },
    )?;
    Ok(found.unwrap_or(nothing))
}
