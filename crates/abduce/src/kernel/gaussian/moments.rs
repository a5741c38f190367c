//! The M-step: weighted first and second moments of a chunk's rows for every component, and
//! from them weight, mean and scatter.

use super::gathered::Gathered;
use super::{GaussianKernel, Scratch, sum};
use crate::kernel::linear::mirror_upper;
use crate::kernel::product::{Matrix, add_product};
use crate::kernel::tiles;

/// Weighted sums of a chunk's rows for every component.
pub(crate) struct Moments {
    weight: Vec<f64>,
    pub(super) natural: Vec<f64>,
    /// First and second moments about the means of centred components.
    centred: Vec<f64>,
    /// The moments of blocks in which few responsibilities matter.
    gathered: Gathered,
}

/// Weight, mean and centred scatter of one component in the units of the table.
pub(crate) struct CentredMoments {
    pub weight: f64,
    pub mean: Vec<f64>,
    /// The matrix (full) or its diagonal (diagonal).
    pub scatter: Vec<f64>,
}

impl GaussianKernel {
    /// Empty sums.
    pub fn moments(&self) -> Moments {
        let (k, d) = (self.components.len(), self.order);
        let centred = self.components.iter().filter(|c| c.centred).count();
        let second = if self.diagonal { d } else { d * d };
        Moments {
            weight: vec![0.0; k],
            natural: vec![0.0; self.width() * self.pairs.len()],
            centred: vec![0.0; centred * (d + second)],
            gathered: Gathered::default(),
        }
    }

    /// The number of components in natural sums, with padding.
    fn width(&self) -> usize {
        tiles::padded(self.level, self.components.len())
    }

    /// Adds the loaded block to the natural sums.
    fn accumulate_natural(
        &self,
        scratch: &mut Scratch,
        responsibilities: &[f64],
        sums: &mut [f64],
    ) {
        let block = self.block(&scratch.columns, scratch.stride, scratch.rows);
        tiles::accumulate(
            self.level,
            block,
            responsibilities,
            &mut scratch.buffers,
            sums,
        );
    }

    /// The natural sums of one component.
    fn natural_of(&self, sums: &[f64], component: usize) -> Vec<f64> {
        let features = sums.iter().skip(component).step_by(self.width());
        features.copied().collect()
    }

    /// Adds the loaded block to the sums, row `i` with weight
    /// `responsibilities[j * rows + i]` for component `j`.
    pub fn accumulate(
        &self,
        scratch: &mut Scratch,
        responsibilities: &[f64],
        moments: &mut Moments,
    ) {
        let rows = scratch.rows;
        if rows == 0 {
            return;
        }
        for (weight, r) in moments
            .weight
            .iter_mut()
            .zip(responsibilities.chunks_exact(rows))
        {
            *weight += sum(r);
        }
        if !self.gather(scratch, responsibilities, &mut moments.gathered) {
            self.accumulate_natural(scratch, responsibilities, &mut moments.natural);
        }
        self.accumulate_centred(scratch, responsibilities, &mut moments.centred);
    }

    /// Adds the loaded block to the sums about the means of centred components.
    fn accumulate_centred(
        &self,
        scratch: &mut Scratch,
        responsibilities: &[f64],
        centred: &mut [f64],
    ) {
        let (rows, d) = (scratch.rows, self.order);
        let second = if self.diagonal { d } else { d * d };
        let mut sums = centred.chunks_exact_mut((d + second).max(1));
        for (j, component) in self
            .components
            .iter()
            .enumerate()
            .filter(|(_, c)| c.centred)
        {
            let Some(sums) = sums.next() else { break };
            let (first, second) = sums.split_at_mut(d);
            let r = &responsibilities[j * rows..(j + 1) * rows];
            self.center_on(component, scratch);
            scratch.white.clear();
            for difference in scratch.difference.chunks_exact(rows) {
                scratch
                    .white
                    .extend(difference.iter().zip(r).map(|(x, r)| x * r));
            }
            for (sum, weighted) in first.iter_mut().zip(scratch.white.chunks_exact(rows)) {
                *sum += weighted.iter().sum::<f64>();
            }
            if self.diagonal {
                let pairs = scratch
                    .white
                    .chunks_exact(rows)
                    .zip(scratch.difference.chunks_exact(rows));
                for (sum, (weighted, difference)) in second.iter_mut().zip(pairs) {
                    *sum += weighted
                        .iter()
                        .zip(difference)
                        .map(|(a, b)| a * b)
                        .sum::<f64>();
                }
            } else {
                add_product(
                    second,
                    d,
                    Matrix::new(&scratch.white, rows, d, rows).transposed(),
                    Matrix::new(&scratch.difference, rows, d, rows),
                );
            }
        }
    }

    /// The sums as weight, mean and scatter of every component.
    pub fn finish(&self, moments: &Moments) -> Vec<CentredMoments> {
        let d = self.order;
        let second_len = if self.diagonal { d } else { d * d };
        let mut centred = moments.centred.chunks_exact((d + second_len).max(1));
        let middle = vec![0.0; d];
        let mut out = Vec::with_capacity(self.components.len());
        for (j, component) in self.components.iter().enumerate() {
            let weight = moments.weight[j];
            let mut natural = self.natural_of(&moments.natural, j);
            if let Some((first, second)) = moments.gathered.of(j, d) {
                let upper = (0..d).flat_map(|a| (a..d).map(move |b| second[b * d + a]));
                let all = first.iter().copied().chain(upper);
                let sums = natural.iter_mut().zip(all);
                sums.for_each(|(sum, gathered)| *sum += gathered);
            }
            let sums = if component.centred {
                centred.next()
            } else {
                None
            };
            out.push(match sums {
                Some(sums) => self.uncentre(weight, &sums[..d], &component.mean, |a, b| {
                    sums[d + if self.diagonal { a } else { b * d + a }]
                }),
                None => self.uncentre(weight, &natural[..d], &middle, |a, b| {
                    let (a, b) = (a.min(b), a.max(b));
                    natural[d + if self.diagonal {
                        a
                    } else {
                        a * d - a * (a + 1) / 2 + b
                    }]
                }),
            });
        }
        out
    }

    /// Weight, mean and scatter in the units of the table, from sums about `origin` in
    /// standardised coordinates.
    pub(super) fn uncentre(
        &self,
        weight: f64,
        first: &[f64],
        origin: &[f64],
        second: impl Fn(usize, usize) -> f64,
    ) -> CentredMoments {
        let d = self.order;
        let share = if weight > 0.0 { 1.0 / weight } else { 0.0 };
        let shift: Vec<f64> = first.iter().map(|s| s * share).collect();
        let centre = |a: usize, b: usize| {
            let value = second(a, b) - weight * shift[a] * shift[b];
            let value = if a == b { value.max(0.0) } else { value };
            value * self.scale[a] * self.scale[b]
        };
        let scatter = if self.diagonal {
            (0..d).map(|c| centre(c, c)).collect()
        } else {
            let mut scatter = vec![0.0; d * d];
            for (b, column) in scatter.chunks_exact_mut(d.max(1)).enumerate() {
                let upper = column[..=b].iter_mut().enumerate();
                upper.for_each(|(a, entry)| *entry = centre(a, b));
            }
            mirror_upper(&mut scatter, d);
            scatter
        };
        let mean = (0..d).map(|c| self.center[c] + self.scale[c] * (origin[c] + shift[c]));
        CentredMoments {
            weight,
            mean: mean.collect(),
            scatter,
        }
    }
}
