//! Rows with a pattern of missing cells that few others share. By the precision matrix P of a
//! component, the mean of the missing cells given the observed ones is
//! m_M − P_MM⁻¹ P_MO (y_O − m_O), their covariance is P_MM⁻¹, and the density of the observed
//! cells follows from that of the completed row and |P_MM|. A pattern of m missing among d
//! columns takes m³ + m²d operations instead of the d³ of a factorisation.

use super::{CentredMoments, GaussianKernel, Scratch};
use crate::kernel::linear::{cholesky, gram, invert_lower, log_diagonal, submatrix};
use crate::kernel::product::{Matrix, add_product};
use crate::kernel::special::LN_TAU;
use std::ops::Range;

/// Some components prepared for rows with a pattern of observed columns.
pub(crate) struct Scattered<'a> {
    kernel: &'a GaussianKernel,
    components: Range<usize>,
    seen: Vec<usize>,
    hidden: Vec<usize>,
    parts: Vec<Part>,
    hard: bool,
}

struct Part {
    /// −P_MM⁻¹ P_MO, hidden × seen.
    regression: Vec<f64>,
    /// P_MM⁻¹.
    conditional: Vec<f64>,
    /// The log-density of a row at the mean.
    peak: f64,
}

/// Moments of completed rows about the means of the components.
pub(crate) struct ScatteredMoments {
    weight: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl<'a> Scattered<'a> {
    /// Prepares components for rows with the `seen` columns; `hard` completes rows by the mode
    /// instead of integrating over missing cells. `None` if a precision is singular.
    pub fn new(
        kernel: &'a GaussianKernel,
        components: Range<usize>,
        seen: &[usize],
        hard: bool,
    ) -> Option<Self> {
        let d = kernel.order;
        let hidden: Vec<usize> = (0..d).filter(|c| !seen.contains(c)).collect();
        let (o, m) = (seen.len(), hidden.len());
        let hidden_scale: f64 = hidden.iter().map(|c| kernel.scale[*c].ln()).sum();
        let part = |j: usize| {
            let component = &kernel.components[j];
            let precision = submatrix(&component.precision, d, &hidden, &hidden);
            let factor = cholesky(&precision, m).ok()?;
            let conditional = gram(&invert_lower(&factor, m), m);
            let cross = submatrix(&component.precision, d, &hidden, seen);
            let mut regression = vec![0.0; m * o];
            let conditional_matrix = Matrix::new(&conditional, m, m, m);
            add_product(
                &mut regression,
                m,
                conditional_matrix,
                Matrix::new(&cross, m, o, m),
            );
            regression.iter_mut().for_each(|r| *r = -*r);
            let integrated = 0.5 * m as f64 * LN_TAU - log_diagonal(&factor, m) + hidden_scale;
            let peak = component.peak + if hard { 0.0 } else { integrated };
            Some(Part {
                regression,
                conditional,
                peak,
            })
        };
        let parts = components.clone().map(part).collect::<Option<_>>()?;
        Some(Scattered {
            kernel,
            components,
            seen: seen.to_vec(),
            hidden,
            parts,
            hard,
        })
    }

    /// Standardises a block of the seen columns.
    pub fn load(&self, columns: &[&[f64]], scratch: &mut Scratch) {
        let rows = columns.first().map_or(0, |column| column.len());
        scratch.resize(columns.len(), rows);
        let targets = scratch.columns.chunks_exact_mut(scratch.stride.max(1));
        for (out, (x, c)) in targets.zip(columns.iter().zip(&self.seen)) {
            let (center, scale) = (self.kernel.center[*c], self.kernel.scale[*c]);
            let cells = out.iter_mut().zip(*x);
            cells.for_each(|(out, x)| *out = (x - center) / scale);
        }
    }

    /// Adds the log-densities of the loaded block, component-major.
    pub fn add_log_density(&self, scratch: &mut Scratch, out: &mut [f64]) {
        let rows = scratch.rows;
        for (number, out) in out.chunks_exact_mut(rows.max(1)).enumerate() {
            self.complete(number, scratch);
            let component = &self.kernel.components[self.components.start + number];
            self.kernel.whiten(component, scratch);
            out.iter_mut().for_each(|l| *l += self.parts[number].peak);
            for white in scratch.white.chunks_exact(rows) {
                for (l, w) in out.iter_mut().zip(white) {
                    *l -= 0.5 * w * w;
                }
            }
        }
    }

    /// Fills `difference` with the completed rows minus the component's mean.
    fn complete(&self, number: usize, scratch: &mut Scratch) {
        let (rows, m) = (scratch.rows, self.hidden.len());
        let mean = &self.kernel.components[self.components.start + number].mean;
        let part = &self.parts[number];
        let Scratch {
            difference,
            columns,
            stride,
            ..
        } = scratch;
        difference.clear();
        difference.resize(self.kernel.order * rows, 0.0);
        for (i, c) in self.seen.iter().enumerate() {
            let y = &columns[i * *stride..][..rows];
            let shift = |y: &f64| y - mean[*c];
            let target = &mut difference[c * rows..(c + 1) * rows];
            target
                .iter_mut()
                .zip(y.iter().map(shift))
                .for_each(|(t, s)| *t = s);
            for (t, h) in self.hidden.iter().enumerate() {
                let slope = part.regression[i * m + t];
                let target = &mut difference[h * rows..(h + 1) * rows];
                target
                    .iter_mut()
                    .zip(y.iter().map(shift))
                    .for_each(|(t, s)| *t += slope * s);
            }
        }
    }

    /// Empty sums.
    pub fn moments(&self) -> ScatteredMoments {
        let (k, d) = (self.components.len(), self.kernel.order);
        ScatteredMoments {
            weight: vec![0.0; k],
            first: vec![0.0; k * d],
            second: vec![0.0; k * d * d],
        }
    }

    /// Adds the loaded block to the sums.
    pub fn accumulate(
        &self,
        scratch: &mut Scratch,
        responsibilities: &[f64],
        moments: &mut ScatteredMoments,
    ) {
        let (rows, d) = (scratch.rows, self.kernel.order);
        for (number, r) in responsibilities.chunks_exact(rows).enumerate() {
            let weight: f64 = r.iter().sum();
            if weight == 0.0 {
                continue;
            }
            moments.weight[number] += weight;
            self.complete(number, scratch);
            let first = &mut moments.first[number * d..(number + 1) * d];
            let second = &mut moments.second[number * d * d..(number + 1) * d * d];
            scratch.white.clear();
            for (x, first) in scratch.difference.chunks_exact(rows).zip(first) {
                scratch.white.extend(x.iter().zip(r).map(|(x, r)| x * r));
                *first += x.iter().zip(r).map(|(x, r)| x * r).sum::<f64>();
            }
            add_product(
                second,
                d,
                Matrix::new(&scratch.white, rows, d, rows).transposed(),
                Matrix::new(&scratch.difference, rows, d, rows),
            );
        }
    }

    /// The log-densities at the means.
    pub fn peaks(&self) -> Vec<f64> {
        self.parts.iter().map(|part| part.peak).collect()
    }

    /// The sums as weight, mean and scatter of all columns. The conditional covariance of
    /// missing cells is added once for each of a component's `rows`, or with its weight if
    /// these are not given.
    pub fn finish(&self, moments: &ScatteredMoments, rows: Option<&[f64]>) -> Vec<CentredMoments> {
        let (d, m) = (self.kernel.order, self.hidden.len());
        let one = |number: usize| {
            let weight = moments.weight[number];
            let component = &self.kernel.components[self.components.start + number];
            let first = &moments.first[number * d..(number + 1) * d];
            let mut second = moments.second[number * d * d..(number + 1) * d * d].to_vec();
            if !self.hard {
                let conditional = &self.parts[number].conditional;
                let spread = rows.map_or(weight, |rows| rows[number]);
                for (s, a) in self.hidden.iter().enumerate() {
                    for (t, b) in self.hidden.iter().enumerate() {
                        second[a * d + b] += spread * conditional[s * m + t];
                    }
                }
            }
            self.kernel
                .uncentre(weight, first, &component.mean, |a, b| second[b * d + a])
        };
        (0..self.components.len()).map(one).collect()
    }
}
