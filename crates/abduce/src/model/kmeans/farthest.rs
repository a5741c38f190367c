//! The rows farthest from their centres: where a centre without rows is of most use.

use super::assign::Places;
use super::iterate::Rows;
use super::specification::Algorithm;
use crate::Result;
use crate::kernel::kmeans::seen_squared;

/// A row and how far it is from its centre.
#[derive(Clone, Debug, PartialEq)]
struct Far {
    square: f64,
    number: u64,
    cells: Vec<f64>,
}

/// Up to `count` places of rows, no two the same, the farthest first; none that are
/// where their centre is. Fixed by the rows alone, not by who finds them.
pub(super) fn farthest(rows: &Rows, centres: &[f64], count: usize) -> Result<Vec<Vec<f64>>> {
    let width = rows.frame.columns.len();
    let places = Places::new(centres, width, None, Algorithm::Lloyd);
    let kept = |far: &mut Vec<Far>| {
        far.sort_by(|a, b| b.square.total_cmp(&a.square).then(a.number.cmp(&b.number)));
        far.dedup_by(|b, a| a.cells == b.cells);
        far.truncate(count);
    };
    let far = rows.fold(
        1,
        |partial: &mut Option<Vec<Far>>, number, points| {
            let mut labels = vec![0; points.rows];
            places.label(points, &mut labels);
            let counting = points.whole.iter().chain(&points.incomplete);
            let mut far: Vec<(f64, u32)> = counting
                .map(|row| {
                    let centre = &centres[labels[*row as usize] as usize * width..][..width];
                    (seen_squared(points.row(*row as usize), centre), *row)
                })
                .filter(|(square, _)| *square > 0.0)
                .collect();
            far.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let first = (number * crate::data::CHUNK_ROWS) as u64;
            let mut own: Vec<Far> = Vec::new();
            for (square, row) in far {
                if own.len() == count {
                    break;
                }
                let cells = points.row(row as usize).to_vec();
                // Copies of a row are as far as it is, and so stand beside it.
                if own.last().is_none_or(|last| last.cells != cells) {
                    own.push(Far {
                        square,
                        number: first + u64::from(row),
                        cells,
                    });
                }
            }
            partial.get_or_insert_with(Vec::new).extend(own);
            Ok(())
        },
        |all, more| {
            all.extend(more);
            kept(all);
        },
    )?;
    let mut far = far.unwrap_or_default();
    kept(&mut far);
    Ok(far.into_iter().map(|far| far.cells).collect())
}
