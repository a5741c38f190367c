//! One EM step of Gaussian components on a block of rows, as two matrix
//! products. With Φ(y) = (y, y yᵀ) the sufficient statistics of standardised
//! rows y = (x − c)/s and η = (Pm, −P/2) the natural parameters, the
//! log-densities are `Φ·η` and the statistics `Rᵀ·Φ`; Φ is built once per block
//! and serves both, and only half of the symmetric products is stored.
//!
//! The natural form cancels when a component is far narrower than the table:
//! its error is about ε·|y|²·‖P‖. Where that bound is too large, a component is
//! computed from the centred, whitened rows L⁻¹(y − m) instead.

use super::linear::{Square, cholesky, gram, invert_lower, log_diagonal};
use super::product::{Matrix, add_product};
use super::simd::multiversion;

const LN_TAU: f64 = 1.837_877_066_409_345_3; // ln 2π

/// The largest error of a log-density that the natural form may have.
const TOLERANCE: f64 = 1e-9;

/// Bytes of Φ per block: half of a usual second-level cache.
const BLOCK_BYTES: usize = 512 * 1024;

/// The covariance of one component.
#[derive(Clone, Copy)]
pub(crate) enum CovarianceRef<'a> {
    /// Whole matrix, column-major.
    Full(&'a [f64]),
    /// Variances.
    Diagonal(&'a [f64]),
}

/// A covariance that has no Cholesky factor: which component, which pivot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Singular {
    pub component: usize,
    pub pivot: usize,
}

/// Components prepared for many blocks.
pub(crate) struct GaussianKernel {
    order: usize,
    diagonal: bool,
    center: Vec<f64>,
    scale: Vec<f64>,
    constants: Vec<f64>,
    natural: Vec<f64>,
    components: Vec<Whitened>,
}

/// One component in standardised coordinates.
struct Whitened {
    mean: Vec<f64>,
    /// L⁻¹ (full) or 1/σ (diagonal).
    inverse: Vec<f64>,
    /// The log-density at the mean, in the table's units.
    peak: f64,
    precision_norm: f64,
    /// Whether moments are summed about the component's own mean.
    centred: bool,
}

/// Buffers of one thread, used again from block to block.
#[derive(Default)]
pub(crate) struct Scratch {
    features: Vec<f64>,
    difference: Vec<f64>,
    white: Vec<f64>,
    rows: usize,
    largest_norm: f64,
}

/// Weighted sums of a chunk's rows for every component.
pub(crate) struct Moments {
    weight: Vec<f64>,
    natural: Vec<f64>,
    /// First and second moments about the means of centred components.
    centred: Vec<f64>,
}

/// Weight, mean and centred scatter of one component in the table's units.
pub(crate) struct CentredMoments {
    pub weight: f64,
    pub mean: Vec<f64>,
    /// Whole matrix (full) or its diagonal (diagonal).
    pub scatter: Vec<f64>,
}

fn feature_count(order: usize, diagonal: bool) -> usize {
    if diagonal {
        2 * order
    } else {
        order + order * (order + 1) / 2
    }
}

/// How many rows a block should have so that its Φ stays in cache.
pub(crate) fn block_rows(order: usize, diagonal: bool) -> usize {
    let rows = BLOCK_BYTES / (8 * feature_count(order, diagonal).max(1));
    (rows / 32 * 32).clamp(32, 256)
}

impl GaussianKernel {
    /// Prepares components, given their means, covariances and weights in the
    /// mixture (which only choose the origin and scale of the arithmetic).
    pub fn new(
        means: &[&[f64]],
        covariances: &[CovarianceRef],
        weights: &[f64],
    ) -> Result<Self, Singular> {
        let order = means.first().map_or(0, |mean| mean.len());
        let diagonal = matches!(covariances.first(), Some(CovarianceRef::Diagonal(_)));
        let (center, scale) = mixture_scale(means, covariances, weights, order);
        let features = feature_count(order, diagonal);
        let mut kernel = GaussianKernel {
            order,
            diagonal,
            constants: Vec::with_capacity(means.len()),
            natural: Vec::with_capacity(means.len() * features),
            components: Vec::with_capacity(means.len()),
            center,
            scale,
        };
        for (component, (mean, covariance)) in means.iter().zip(covariances).enumerate() {
            kernel
                .push(mean, *covariance)
                .map_err(|pivot| Singular { component, pivot })?;
        }
        Ok(kernel)
    }

    fn push(&mut self, mean: &[f64], covariance: CovarianceRef) -> Result<(), usize> {
        let d = self.order;
        let mean: Vec<f64> = (0..d)
            .map(|c| (mean[c] - self.center[c]) / self.scale[c])
            .collect();
        let log_scale: f64 = self.scale.iter().map(|s| s.ln()).sum();
        let norm_sqr: f64 = mean.iter().map(|m| m * m).sum();
        let (inverse, log_root, precision) = match covariance {
            CovarianceRef::Full(matrix) => {
                let scaled: Square = (0..d * d)
                    .map(|t| matrix[t] / (self.scale[t % d] * self.scale[t / d]))
                    .collect();
                let factor = cholesky(&scaled, d)?;
                let inverse = invert_lower(&factor, d);
                let precision = gram(&inverse, d);
                (inverse, log_diagonal(&factor, d), precision)
            }
            CovarianceRef::Diagonal(variances) => {
                let scaled: Vec<f64> = (0..d)
                    .map(|c| variances[c] / (self.scale[c] * self.scale[c]))
                    .collect();
                if let Some(pivot) = scaled.iter().position(|v| !(*v > 0.0 && v.is_finite())) {
                    return Err(pivot);
                }
                let inverse: Vec<f64> = scaled.iter().map(|v| 1.0 / v.sqrt()).collect();
                let log_root = scaled.iter().map(|v| 0.5 * v.ln()).sum();
                (inverse, log_root, scaled.iter().map(|v| 1.0 / v).collect())
            }
        };
        let peak = -0.5 * d as f64 * LN_TAU - log_root - log_scale;
        let precision_norm = precision.iter().map(|p| p * p).sum::<f64>().sqrt();
        let linear: Vec<f64> = if self.diagonal {
            (0..d).map(|c| precision[c] * mean[c]).collect()
        } else {
            (0..d)
                .map(|i| (0..d).map(|j| precision[j * d + i] * mean[j]).sum())
                .collect()
        };
        let quadratic: f64 = linear.iter().zip(&mean).map(|(l, m)| l * m).sum();
        self.constants.push(peak - 0.5 * quadratic);
        self.natural.extend_from_slice(&linear);
        if self.diagonal {
            self.natural.extend(precision.iter().map(|p| -0.5 * p));
        } else {
            for i in 0..d {
                self.natural.push(-0.5 * precision[i * d + i]);
                self.natural
                    .extend((i + 1..d).map(|j| -precision[j * d + i]));
            }
        }
        let centred = f64::EPSILON * norm_sqr * precision_norm > TOLERANCE;
        self.components.push(Whitened {
            mean,
            inverse,
            peak,
            precision_norm,
            centred,
        });
        Ok(())
    }

    fn features(&self) -> usize {
        feature_count(self.order, self.diagonal)
    }

    /// Standardises a block of complete rows and builds their Φ.
    pub fn load(&self, columns: &[&[f64]], scratch: &mut Scratch) {
        let rows = columns.first().map_or(0, |column| column.len());
        let features = self.features();
        scratch.rows = rows;
        scratch.features.resize(features * rows, 0.0);
        let (linear, products) = scratch.features.split_at_mut(self.order * rows);
        for (c, (out, x)) in linear
            .chunks_exact_mut(rows.max(1))
            .zip(columns)
            .enumerate()
        {
            standardise(x, self.center[c], 1.0 / self.scale[c], out);
        }
        multiply_features(linear, rows, self.diagonal, products);
        scratch.largest_norm = largest_norm(linear, rows, &mut scratch.white);
    }

    /// Adds the log-densities of the loaded block under every component to
    /// `out`, component-major.
    pub fn add_log_density(&self, scratch: &mut Scratch, out: &mut [f64]) {
        let rows = scratch.rows;
        let precise = |component: &Whitened| {
            f64::EPSILON * scratch.largest_norm * component.precision_norm > TOLERANCE
        };
        let flags: Vec<bool> = self.components.iter().map(precise).collect();
        let features = self.features();
        let mut first = 0;
        while first < flags.len() {
            if flags[first] {
                let target = &mut out[first * rows..(first + 1) * rows];
                self.add_whitened(&self.components[first], scratch, target);
                first += 1;
                continue;
            }
            // A run of components in natural form is one product.
            let last = (first..flags.len())
                .find(|&j| flags[j])
                .unwrap_or(flags.len());
            let target = &mut out[first * rows..last * rows];
            for (column, constant) in target
                .chunks_exact_mut(rows)
                .zip(&self.constants[first..last])
            {
                column.iter_mut().for_each(|l| *l += constant);
            }
            add_product(
                target,
                rows,
                Matrix::new(&scratch.features, rows, features, rows),
                Matrix::new(
                    &self.natural[first * features..],
                    features,
                    last - first,
                    features,
                ),
            );
            first = last;
        }
    }

    fn add_whitened(&self, component: &Whitened, scratch: &mut Scratch, out: &mut [f64]) {
        let (d, rows) = (self.order, scratch.rows);
        self.center_on(component, scratch);
        out.iter_mut().for_each(|l| *l += component.peak);
        if self.diagonal {
            for (difference, inverse) in scratch
                .difference
                .chunks_exact(rows)
                .zip(&component.inverse)
            {
                for (l, x) in out.iter_mut().zip(difference) {
                    let white = x * inverse;
                    *l -= 0.5 * white * white;
                }
            }
            return;
        }
        scratch.white.clear();
        scratch.white.resize(d * rows, 0.0);
        add_product(
            &mut scratch.white,
            rows,
            Matrix::new(&scratch.difference, rows, d, rows),
            Matrix::new(&component.inverse, d, d, d).transposed(),
        );
        for white in scratch.white.chunks_exact(rows) {
            for (l, w) in out.iter_mut().zip(white) {
                *l -= 0.5 * w * w;
            }
        }
    }

    fn center_on(&self, component: &Whitened, scratch: &mut Scratch) {
        let rows = scratch.rows;
        let Scratch {
            difference,
            features,
            ..
        } = scratch;
        difference.clear();
        for (y, mean) in features[..self.order * rows]
            .chunks_exact(rows)
            .zip(&component.mean)
        {
            difference.extend(y.iter().map(|y| y - mean));
        }
    }

    /// Empty sums.
    pub fn moments(&self) -> Moments {
        let (k, d) = (self.components.len(), self.order);
        let centred = self.components.iter().filter(|c| c.centred).count();
        let second = if self.diagonal { d } else { d * d };
        Moments {
            weight: vec![0.0; k],
            natural: vec![0.0; k * self.features()],
            centred: vec![0.0; centred * (d + second)],
        }
    }

    /// Adds the loaded block to the sums, row `i` with weight
    /// `responsibilities[j * rows + i]` for component `j`.
    pub fn accumulate(
        &self,
        scratch: &mut Scratch,
        responsibilities: &[f64],
        moments: &mut Moments,
    ) {
        let (rows, features) = (scratch.rows, self.features());
        for (weight, r) in moments
            .weight
            .iter_mut()
            .zip(responsibilities.chunks_exact(rows))
        {
            *weight += r.iter().sum::<f64>();
        }
        add_product(
            &mut moments.natural,
            features,
            Matrix::new(&scratch.features, rows, features, rows).transposed(),
            Matrix::new(responsibilities, rows, self.components.len(), rows),
        );
        let d = self.order;
        let second = if self.diagonal { d } else { d * d };
        let mut sums = moments.centred.chunks_exact_mut((d + second).max(1));
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
        let (d, features) = (self.order, self.features());
        let second_len = if self.diagonal { d } else { d * d };
        let mut centred = moments.centred.chunks_exact((d + second_len).max(1));
        let mut out = Vec::with_capacity(self.components.len());
        for (j, component) in self.components.iter().enumerate() {
            let weight = moments.weight[j];
            let sums = if component.centred {
                centred.next()
            } else {
                None
            };
            let natural = &moments.natural[j * features..(j + 1) * features];
            let (first, origin) = match sums {
                Some(sums) => (&sums[..d], Some(&component.mean)),
                None => (&natural[..d], None),
            };
            let shift: Vec<f64> = first
                .iter()
                .map(|s| if weight > 0.0 { s / weight } else { 0.0 })
                .collect();
            let second = |a: usize, b: usize| match sums {
                Some(sums) if self.diagonal => sums[d + a],
                Some(sums) => sums[d + b * d + a],
                None if self.diagonal => natural[d + a],
                None => {
                    let (a, b) = (a.min(b), a.max(b));
                    natural[d + a * d - a * (a + 1) / 2 + b]
                }
            };
            let centre = |a: usize, b: usize| {
                let value = second(a, b) - weight * shift[a] * shift[b];
                let value = if a == b { value.max(0.0) } else { value };
                value * self.scale[a] * self.scale[b]
            };
            let scatter = if self.diagonal {
                (0..d).map(|c| centre(c, c)).collect()
            } else {
                (0..d * d).map(|t| centre(t % d, t / d)).collect()
            };
            let mean = (0..d)
                .map(|c| {
                    let y = shift[c] + origin.map_or(0.0, |mean| mean[c]);
                    self.center[c] + self.scale[c] * y
                })
                .collect();
            out.push(CentredMoments {
                weight,
                mean,
                scatter,
            });
        }
        out
    }
}

/// Mean and standard deviation of the mixture in every column.
fn mixture_scale(
    means: &[&[f64]],
    covariances: &[CovarianceRef],
    weights: &[f64],
    order: usize,
) -> (Vec<f64>, Vec<f64>) {
    let total: f64 = weights.iter().sum();
    let share = |j: usize| {
        if total > 0.0 {
            weights[j] / total
        } else {
            1.0 / means.len() as f64
        }
    };
    let center: Vec<f64> = (0..order)
        .map(|c| (0..means.len()).map(|j| share(j) * means[j][c]).sum())
        .collect();
    let scale = (0..order)
        .map(|c| {
            let variance: f64 = (0..means.len())
                .map(|j| {
                    let own = match covariances[j] {
                        CovarianceRef::Full(matrix) => matrix[c * order + c],
                        CovarianceRef::Diagonal(variances) => variances[c],
                    };
                    let shift = means[j][c] - center[c];
                    share(j) * (own + shift * shift)
                })
                .sum();
            if variance > 0.0 && variance.is_finite() {
                variance.sqrt()
            } else {
                1.0
            }
        })
        .collect();
    (center, scale)
}

multiversion! {
    fn standardise(x: &[f64], center: f64, factor: f64, out: &mut [f64]) = standardise_body
}

#[inline(always)]
fn standardise_body<const FUSED: bool>(x: &[f64], center: f64, factor: f64, out: &mut [f64]) {
    for (y, x) in out.iter_mut().zip(x) {
        *y = (x - center) * factor;
    }
}

multiversion! {
    /// The products y_i·y_j, i ≤ j, or the squares alone.
    fn multiply_features(linear: &[f64], rows: usize, diagonal: bool, out: &mut [f64]) = multiply_features_body
}

#[inline(always)]
fn multiply_features_body<const FUSED: bool>(
    linear: &[f64],
    rows: usize,
    diagonal: bool,
    out: &mut [f64],
) {
    if rows == 0 {
        return;
    }
    let order = linear.len() / rows;
    let mut targets = out.chunks_exact_mut(rows);
    for i in 0..order {
        let a = &linear[i * rows..(i + 1) * rows];
        let last = if diagonal { i + 1 } else { order };
        for j in i..last {
            let b = &linear[j * rows..(j + 1) * rows];
            if let Some(target) = targets.next() {
                for ((t, a), b) in target.iter_mut().zip(a).zip(b) {
                    *t = a * b;
                }
            }
        }
    }
}

/// The largest |y|² of a block.
fn largest_norm(linear: &[f64], rows: usize, sums: &mut Vec<f64>) -> f64 {
    sums.clear();
    sums.resize(rows, 0.0);
    for y in linear.chunks_exact(rows.max(1)) {
        for (sum, y) in sums.iter_mut().zip(y) {
            *sum += y * y;
        }
    }
    sums.iter().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Log-density and moments straight from the definition.
    fn reference(columns: &[Vec<f64>], mean: &[f64], covariance: &[f64], i: usize) -> f64 {
        let d = mean.len();
        let factor = cholesky(covariance, d).unwrap();
        let inverse = invert_lower(&factor, d);
        let quadratic: f64 = (0..d)
            .map(|r| {
                (0..d)
                    .map(|c| inverse[c * d + r] * (columns[c][i] - mean[c]))
                    .sum::<f64>()
                    .powi(2)
            })
            .sum();
        -0.5 * (d as f64 * LN_TAU + quadratic) - log_diagonal(&factor, d)
    }

    fn check(offset: f64, width: f64, diagonal: bool) {
        let rows = 50;
        let columns: Vec<Vec<f64>> = (0..3)
            .map(|c| {
                (0..rows)
                    .map(|i| offset + 3.0 * c as f64 + ((i * (c + 2)) as f64 * 0.37).sin() * width)
                    .collect()
            })
            .collect();
        let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let means = [
            vec![offset, offset + 3.0, offset + 6.0],
            vec![offset + 1.0, offset, offset - 2.0],
        ];
        let v = width * width;
        let off = if diagonal { 0.0 } else { 0.3 * v };
        let narrow = vec![v, off, 0.0, off, v, off, 0.0, off, v];
        let wide = vec![4.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 9.0];
        let diagonals = [vec![v, v, v], vec![4.0, 4.0, 9.0]];
        let covariances = if diagonal {
            [
                CovarianceRef::Diagonal(&diagonals[0]),
                CovarianceRef::Diagonal(&diagonals[1]),
            ]
        } else {
            [CovarianceRef::Full(&narrow), CovarianceRef::Full(&wide)]
        };
        let kernel =
            GaussianKernel::new(&[&means[0], &means[1]], &covariances, &[0.5, 0.5]).unwrap();
        let mut scratch = Scratch::default();
        kernel.load(&slices, &mut scratch);
        let mut out = vec![0.0; 2 * rows];
        kernel.add_log_density(&mut scratch, &mut out);
        for i in 0..rows {
            for (j, covariance) in [&narrow, &wide].into_iter().enumerate() {
                let expected = reference(&columns, &means[j], covariance, i);
                let obtained = out[j * rows + i];
                // The data themselves carry the offset's rounding.
                let slack =
                    1e-9 * (1.0 + expected.abs()) + 16.0 * f64::EPSILON * offset / width * 9.0;
                assert!((expected - obtained).abs() < slack, "{expected} {obtained}");
            }
        }
        let responsibilities = vec![0.5; 2 * rows];
        let mut moments = kernel.moments();
        kernel.accumulate(&mut scratch, &responsibilities, &mut moments);
        for (j, stats) in kernel.finish(&moments).into_iter().enumerate() {
            // A wide component that just fell onto narrow data is summed about
            // the common origin this once, and about its own mean from then on.
            let slack = if j == 1 && width < 1e-3 { 1e-2 } else { 1e-7 };
            assert!((stats.weight - 25.0).abs() < 1e-12);
            for (c, column) in columns.iter().enumerate() {
                let mean = column.iter().map(|x| x - column[0]).sum::<f64>() / 50.0 + column[0];
                assert!(
                    (stats.mean[c] - mean).abs() < 1e-9 * width + 1e-15 * (offset * 50.0 + 10.0)
                );
                let scatter: f64 = column.iter().map(|x| 0.5 * (x - mean).powi(2)).sum();
                let position = if diagonal { c } else { 4 * c };
                let relative = stats.scatter[position] / scatter - 1.0;
                assert!(relative.abs() < slack, "{relative}");
            }
        }
    }

    #[test]
    fn densities_and_moments_agree_with_the_definition() {
        for diagonal in [false, true] {
            check(0.0, 1.0, diagonal);
            check(1e8, 1.0, diagonal);
        }
    }

    #[test]
    fn narrow_components_take_the_centred_path_and_stay_right() {
        for diagonal in [false, true] {
            check(0.0, 1e-6, diagonal);
        }
    }

    #[test]
    fn a_singular_covariance_names_its_component() {
        let result = GaussianKernel::new(
            &[&[0.0, 0.0], &[0.0, 0.0]],
            &[
                CovarianceRef::Full(&[1.0, 0.0, 0.0, 1.0]),
                CovarianceRef::Full(&[1.0, 1.0, 1.0, 1.0]),
            ],
            &[0.5, 0.5],
        );
        assert_eq!(
            result.err(),
            Some(Singular {
                component: 1,
                pivot: 1
            })
        );
    }
}
