//! The noise component: its density is 1/V, where V is the volume of the bounding box of all rows
//! (Banfield & Raftery 1993), and all levels are equally probable; only its weight is learned.
//! Rows that belong to no cluster are assigned to it, and neither widen a cluster nor form one of
//! their own.
//!
//! When rows are assigned to components, noise is extended beyond the box, so that an outlier
//! outside of it is noise too. As a density it is 0 outside, or it would not integrate to 1.

use crate::Result;
use crate::data::{Kind, Source, fold};
use crate::family::{Distribution, Side, UniformBox};
use crate::leaf::Leaf;
use crate::leaf::TableSummary;

/// Sets the noise distribution of every leaf.
pub(crate) fn add_noise(
    source: &dyn Source,
    summary: &TableSummary,
    leaves: &mut [Leaf],
) -> Result<()> {
    let schema = source.schema();
    let ranges = ranges(source)?;
    for leaf in leaves.iter_mut().filter(|leaf| !leaf.fixed) {
        if leaf.family.levels().is_some() || leaf.family.is_text() {
            leaf.noise = leaf.family.fallback();
            continue;
        }
        let side = |column: &usize| {
            let (mut low, mut high) = ranges[*column];
            let whole = schema.fields[*column].kind == Kind::Count;
            if low >= high && !whole {
                // The column is constant up to rounding.
                let unit = summary.scale(*column).variance.sqrt();
                (low, high) = (low - unit, high + unit);
            }
            Side { low, high, whole }
        };
        let sides = leaf.columns.iter().map(side).collect();
        leaf.noise = Some(Distribution::UniformBox(UniformBox { sides }));
    }
    Ok(())
}

/// The smallest and the largest number of every column, among rows of positive weight.
fn ranges(source: &dyn Source) -> Result<Vec<(f64, f64)>> {
    let columns = source.schema().fields.len();
    let empty = vec![(f64::INFINITY, f64::NEG_INFINITY); columns];
    let extend = |range: &mut (f64, f64), (low, high): (f64, f64)| {
        *range = (range.0.min(low), range.1.max(high));
    };
    let found = fold(
        source,
        1,
        |partial: &mut Option<Vec<(f64, f64)>>, _, chunk| {
            let ranges = partial.get_or_insert_with(|| empty.clone());
            let rows: Vec<usize> = chunk.rows_with_weight().collect();
            for (column, range) in ranges.iter_mut().enumerate() {
                let cells = chunk.column(column).cells(0, chunk.rows());
                if cells.reals().is_empty() {
                    continue;
                }
                let numbers = rows.iter().filter(|row| cells.is_seen(**row));
                numbers.for_each(|row| extend(range, (cells.reals()[*row], cells.reals()[*row])));
            }
            Ok(())
        },
        |total, more| {
            let columns = total.iter_mut().zip(more);
            columns.for_each(|(range, more)| extend(range, more));
        },
    )?;
    Ok(found.unwrap_or(empty))
}
