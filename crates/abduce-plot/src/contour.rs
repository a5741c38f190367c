//! Contours of a function on a grid as closed rings, by marching squares (Lorensen & Cline 1987,
//! in the plane). The lines of the grid may be unevenly spaced. Outside of the grid the function
//! is 0, so that regions are closed along its edges and can be filled.

use crate::{Error, Result};

/// The values of a function at the crossings of lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// The positions of the vertical lines, increasing.
    pub x: Vec<f64>,
    /// The positions of the horizontal lines, increasing.
    pub y: Vec<f64>,
    /// The values, one horizontal line after the other.
    pub values: Vec<f64>,
}

/// A closed curve; the first point is not repeated.
pub type Ring = Vec<(f64, f64)>;

impl Grid {
    /// Checks the grid.
    ///
    /// # Errors
    /// If lines are not increasing, or values are missing, negative or not finite.
    pub fn check(&self) -> Result<()> {
        let increasing = |lines: &[f64]| {
            let finite = lines.iter().all(|x| x.is_finite());
            finite && lines.windows(2).all(|pair| pair[0] < pair[1])
        };
        if !increasing(&self.x) || !increasing(&self.y) {
            return Err(Error::new("the lines of a grid must be increasing"));
        }
        if self.values.len() != self.x.len() * self.y.len() {
            return Err(Error::new(format!(
                "a grid of {} by {} lines cannot have {} values",
                self.x.len(),
                self.y.len(),
                self.values.len()
            )));
        }
        if !self.values.iter().all(|v| v.is_finite() && *v >= 0.0) {
            return Err(Error::new("densities on a grid must be finite, 0 or more"));
        }
        Ok(())
    }

    /// The value at a crossing of the grid padded with one line of zeros on each side.
    fn bordered(&self, column: usize, row: usize) -> f64 {
        let inside = (1..=self.x.len()).contains(&column) && (1..=self.y.len()).contains(&row);
        if inside {
            self.values[(row - 1) * self.x.len() + column - 1]
        } else {
            0.0
        }
    }

    /// The boundary of the region where the function is at least `level` > 0: rings around the
    /// region and, with opposite orientation, around holes in it.
    ///
    /// ```
    /// use abduce_plot::Grid;
    /// let lines: Vec<f64> = (-40..=40).map(|k| f64::from(k) / 10.0).collect();
    /// let hill = |x: f64, y: f64| (-(x * x + y * y) / 2.0).exp();
    /// let values = lines.iter().flat_map(|y| lines.iter().map(|x| hill(*x, *y)));
    /// let grid = Grid { x: lines.clone(), y: lines.clone(), values: values.collect() };
    /// let rings = grid.contour(hill(0.0, 1.5));
    /// assert_eq!(rings.len(), 1);
    /// assert!(rings[0].iter().all(|(x, y)| (x.hypot(*y) / 1.5 - 1.0).abs() < 0.01));
    /// ```
    pub fn contour(&self, level: f64) -> Vec<Ring> {
        let (columns, rows) = (self.x.len() + 2, self.y.len() + 2);
        let crossings = columns * rows;
        // Edges are numbered by their lower left ends: first horizontal, then vertical ones.
        let horizontal = |column: usize, row: usize| row * columns + column;
        let vertical = |column: usize, row: usize| crossings + row * columns + column;
        // The next edge that the contour crosses, with the region on the left.
        let mut next: Vec<Option<usize>> = vec![None; 2 * crossings];
        for row in 0..rows - 1 {
            for column in 0..columns - 1 {
                let corner = |dx: usize, dy: usize| self.bordered(column + dx, row + dy);
                let corners = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                let inside = corners.map(|value| value >= level);
                let edges = [
                    horizontal(column, row),
                    vertical(column + 1, row),
                    horizontal(column, row + 1),
                    vertical(column, row),
                ];
                let middle = corners.iter().map(|v| v / 4.0).sum::<f64>() >= level;
                for (from, to) in crossed(inside, middle) {
                    next[edges[from]] = Some(edges[to]);
                }
            }
        }
        let mut rings = Vec::new();
        for start in 0..next.len() {
            let mut ring = Vec::new();
            let mut edge = start;
            while let Some(following) = next[edge].take() {
                ring.push(self.crossing(edge, level));
                edge = following;
            }
            if ring.len() > 2 {
                rings.push(ring);
            }
        }
        rings
    }

    /// The point at which the contour crosses an edge, by linear interpolation.
    fn crossing(&self, edge: usize, level: f64) -> (f64, f64) {
        let (columns, rows) = (self.x.len() + 2, self.y.len() + 2);
        let vertical = edge >= columns * rows;
        let place = edge % (columns * rows);
        let (column, row) = (place % columns, place / columns);
        let (right, upper) = if vertical {
            (column, row + 1)
        } else {
            (column + 1, row)
        };
        let (a, b) = (self.bordered(column, row), self.bordered(right, upper));
        let share = ((level - a) / (b - a)).clamp(0.0, 1.0);
        let line = |lines: &[f64], k: usize| lines[k.clamp(1, lines.len()) - 1];
        let along = |lines: &[f64], from: usize, to: usize| {
            let (from, to) = (line(lines, from), line(lines, to));
            from * (1.0 - share) + to * share
        };
        (along(&self.x, column, right), along(&self.y, row, upper))
    }

    /// The level of the highest-density region that contains a share of the mass on the grid;
    /// `None` if there is no mass.
    pub fn level_of_mass(&self, share: f64) -> Option<f64> {
        let (widths, heights) = (spans(&self.x), spans(&self.y));
        let cells = self.values.iter().enumerate();
        let mut cells: Vec<(f64, f64)> = cells
            .map(|(place, value)| {
                let (column, row) = (place % self.x.len(), place / self.x.len());
                (*value, value * widths[column] * heights[row])
            })
            .collect();
        cells.sort_by(|a, b| b.0.total_cmp(&a.0));
        let total: f64 = cells.iter().map(|cell| cell.1).sum();
        let mut sum = 0.0;
        cells.iter().find_map(|(value, mass)| {
            // Half of a cell is on either side of a level through its middle.
            sum += mass / 2.0;
            let reached = sum >= share * total;
            sum += mass / 2.0;
            (reached && *value > 0.0).then_some(*value)
        })
    }
}

/// The edges of a square (lower, right, upper, left) that the contour enters and leaves by,
/// given which of its corners (lower left, lower right, upper right, upper left) and whether
/// its middle are inside.
fn crossed(inside: [bool; 4], middle: bool) -> Vec<(usize, usize)> {
    let crossed: Vec<usize> = (0..4)
        .filter(|k| inside[*k] != inside[(k + 1) % 4])
        .collect();
    match crossed[..] {
        // The contour enters at the edge after an inside corner, going anticlockwise.
        [a, b] if inside[a] => vec![(a, b)],
        [a, b] => vec![(b, a)],
        [_, _, _, _] => match (inside[0], middle) {
            // Two opposite corners inside: joined if the middle is inside too.
            (true, true) => vec![(0, 1), (2, 3)],
            (true, false) => vec![(0, 3), (2, 1)],
            (false, true) => vec![(1, 2), (3, 0)],
            (false, false) => vec![(1, 0), (3, 2)],
        },
        _ => Vec::new(),
    }
}

/// The share of the axis that each line represents.
pub(super) fn spans(lines: &[f64]) -> Vec<f64> {
    let whole = match lines {
        [first, .., last] => last / 2.0 - first / 2.0,
        _ => return vec![1.0; lines.len()],
    };
    let last = lines.len() - 1;
    let span = |k: usize| {
        let (left, right) = (lines[k.saturating_sub(1)], lines[(k + 1).min(last)]);
        (right / 2.0 - left / 2.0) / whole / 2.0
    };
    (0..lines.len()).map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(ring: &Ring) -> f64 {
        let next = ring.iter().cycle().skip(1);
        let pairs = ring.iter().zip(next);
        pairs.map(|(a, b)| (a.0 * b.1 - b.0 * a.1) / 2.0).sum()
    }

    fn grid(x: Vec<f64>, y: Vec<f64>, f: impl Fn(f64, f64) -> f64) -> Grid {
        let values = y
            .iter()
            .flat_map(|y| x.iter().map(|x| f(*x, *y)).collect::<Vec<_>>());
        let values = values.collect();
        Grid { x, y, values }
    }

    fn even(low: f64, high: f64, count: usize) -> Vec<f64> {
        let step = (high - low) / (count - 1) as f64;
        (0..count).map(|k| low + step * k as f64).collect()
    }

    fn hill(x: f64, y: f64) -> f64 {
        (-(x * x + y * y) / 2.0).exp()
    }

    #[test]
    fn the_contour_of_a_circular_gaussian_is_a_circle_of_its_radius() {
        let grid = grid(even(-4.5, 4.5, 101), even(-4.5, 4.5, 101), hill);
        for mass in [0.1f64, 0.5, 0.9, 0.95] {
            let radius = (-2.0 * (1.0 - mass).ln()).sqrt();
            let rings = grid.contour(hill(radius, 0.0));
            assert_eq!(rings.len(), 1);
            for (x, y) in &rings[0] {
                assert!(
                    (x.hypot(*y) / radius - 1.0).abs() < 0.01,
                    "{x} {y} for {radius}"
                );
            }
            let round = std::f64::consts::PI * radius * radius;
            assert!((area(&rings[0]) / round - 1.0).abs() < 0.02);
        }
    }

    #[test]
    fn the_level_of_a_mass_encloses_it_on_uneven_lines() {
        let mut uneven: Vec<f64> = even(-4.5, 4.5, 71);
        uneven.extend(even(-1.01, 1.01, 40));
        uneven.sort_by(f64::total_cmp);
        let grid = grid(uneven.clone(), uneven, |x, y| 1e-200 * hill(x, y));
        for mass in [0.25f64, 0.5, 0.75, 0.95] {
            let radius = (-2.0 * (1.0 - mass).ln()).sqrt();
            let rings = grid.contour(grid.level_of_mass(mass).unwrap());
            let found = (area(&rings[0]) / std::f64::consts::PI).sqrt();
            assert!((found / radius - 1.0).abs() < 0.02, "{found} for {radius}");
        }
    }

    #[test]
    fn a_hole_has_opposite_orientation_and_a_cut_region_is_closed_at_the_edge() {
        let ring = |x: f64, y: f64| (-(x.hypot(y) - 2.0).powi(2)).exp();
        let around = grid(even(-4.0, 4.0, 81), even(-4.0, 4.0, 81), ring);
        let mut areas: Vec<f64> = around.contour(0.5).iter().map(area).collect();
        areas.sort_by(f64::total_cmp);
        assert_eq!(areas.len(), 2);
        assert!(areas[0] < 0.0 && areas[1] > -areas[0]);
        let half = grid(even(0.0, 4.0, 81), even(-4.0, 4.0, 161), hill);
        let rings = half.contour(hill(1.0, 0.0));
        assert_eq!(rings.len(), 1);
        assert!((area(&rings[0]) / std::f64::consts::FRAC_PI_2 - 1.0).abs() < 0.01);
    }

    #[test]
    fn regions_that_touch_at_a_corner_stay_closed() {
        // A chessboard has only saddles.
        let chess = |x: f64, y: f64| if (x + y) as i64 % 2 == 0 { 1.0 } else { 0.1 };
        let grid = grid(even(0.0, 9.0, 10), even(0.0, 9.0, 10), chess);
        for level in [0.3, 0.5, 0.55, 0.9] {
            let rings = grid.contour(level);
            assert!(!rings.is_empty());
            assert!(rings.iter().map(area).sum::<f64>() > 0.0);
        }
    }

    #[test]
    fn zero_has_no_contour_and_invalid_grids_are_refused() {
        let flat = grid(even(0.0, 1.0, 5), even(0.0, 1.0, 5), |_, _| 0.0);
        assert!(flat.contour(0.5).is_empty() && flat.level_of_mass(0.5).is_none());
        let point = grid(vec![1.0], vec![2.0], |_, _| 1.0);
        assert!(
            point
                .contour(0.5)
                .iter()
                .flatten()
                .all(|(x, y)| x.is_finite() && y.is_finite())
        );
        let short = Grid {
            values: vec![1.0],
            ..flat.clone()
        };
        let fallen = Grid {
            x: even(1.0, 0.0, 5),
            ..flat.clone()
        };
        let unknown = Grid {
            values: vec![f64::NAN; 25],
            ..flat.clone()
        };
        assert!(flat.check().is_ok());
        for bad in [short, fallen, unknown] {
            assert!(bad.check().is_err());
        }
    }
}
