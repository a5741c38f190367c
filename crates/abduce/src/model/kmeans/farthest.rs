//! The rows farthest from their centres, to which empty clusters are moved.

use super::assign::Assigner;
use super::iterate::Rows;
use super::specification::Algorithm;
use crate::Result;
use crate::kernel::kmeans::seen_squared;

/// A row and its squared distance from its centre.
#[derive(Clone, Debug, PartialEq)]
struct FarRow {
    square: f64,
    number: u64,
    cells: Vec<f64>,
}

/// Up to `count` different rows, the farthest from their centres first, without rows that are
/// equal to their centre. The result does not depend on the number of threads.
pub(super) fn farthest(rows: &Rows, centres: &[f64], count: usize) -> Result<Vec<Vec<f64>>> {
    let width = rows.frame.columns.len();
    let assigner = Assigner::new(centres, width, None, Algorithm::Lloyd);
    let keep_farthest = |far: &mut Vec<FarRow>| {
        far.sort_by(|a, b| b.square.total_cmp(&a.square).then(a.number.cmp(&b.number)));
        far.dedup_by(|b, a| a.cells == b.cells);
        far.truncate(count);
    };
    let far = rows.fold(
        1,
        |partial: &mut Option<Vec<FarRow>>, number, points| {
            let mut labels = vec![0; points.rows];
            assigner.label(points, &mut labels);
            let counted = points.complete_rows.iter().chain(&points.incomplete_rows);
            let mut far: Vec<(f64, u32)> = counted
                .map(|row| {
                    let centre = &centres[labels[*row as usize] as usize * width..][..width];
                    (seen_squared(points.row(*row as usize), centre), *row)
                })
                .filter(|(square, _)| *square > 0.0)
                .collect();
            far.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let first = (number * crate::data::CHUNK_ROWS) as u64;
            let mut distinct: Vec<FarRow> = Vec::new();
            for (square, row) in far {
                if distinct.len() == count {
                    break;
                }
                let cells = points.row(row as usize).to_vec();
                // Equal rows have equal distances, so they follow each other.
                if distinct.last().is_none_or(|last| last.cells != cells) {
                    distinct.push(FarRow {
                        square,
                        number: first + u64::from(row),
                        cells,
                    });
                }
            }
            partial.get_or_insert_with(Vec::new).extend(distinct);
            Ok(())
        },
        |all, more| {
            all.extend(more);
            keep_farthest(all);
        },
    )?;
    let mut far = far.unwrap_or_default();
    keep_farthest(&mut far);
    Ok(far.into_iter().map(|far| far.cells).collect())
}
