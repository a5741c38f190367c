//! What is prepared for a pattern of missing cells: the distributions of the hidden columns given
//! the observed ones and, for many rows, the marginal of the observed ones.

use super::super::{GaussianKernel, Scratch, features};
use super::Interleaved;
use super::lanes::{Lanes, Registers, place};
use crate::kernel::simd::vectorised;
use crate::kernel::special::LN_TAU;
use crate::kernel::tiles::{self, Block, Pair, Panels};
use crate::kernel::vector::Vector;

/// The distributions of hidden columns given the observed ones, of all components.
#[derive(Default)]
pub(crate) struct Conditionals {
    pub(super) seen: Vec<usize>,
    pub(super) hidden: Vec<usize>,
    /// The positions of the observed columns if only these are loaded: 0, 1, 2, ….
    pub(super) positions: Vec<usize>,
    /// Whether missing cells take their most probable value instead of being integrated over.
    pub(super) hard: bool,
    pub(super) parts: Parts,
    /// The log-density of a row at the mean.
    pub(super) peak: Vec<f64>,
    /// The natural parameters of the marginal, if there are many rows.
    pub(super) marginal: Option<Marginal>,
}

/// The marginal distribution of the observed columns in natural form.
pub(super) struct Marginal {
    pub(super) pairs: Vec<Pair>,
    pub(super) panels: Panels,
    pub(super) constants: Vec<f64>,
}

impl Marginal {
    /// The loaded rows, of observed columns only, and their features.
    pub(super) fn block<'a>(&'a self, scratch: &'a Scratch) -> Block<'a> {
        Block {
            columns: &scratch.columns,
            stride: scratch.stride,
            rows: scratch.rows,
            pairs: &self.pairs,
        }
    }
}

impl Conditionals {
    /// Prepares components for rows in which the columns `seen` are observed. With `many`, the
    /// marginal in natural form is prepared too, if it is precise. Returns whether all matrices P_hh
    /// are positive definite.
    pub fn prepare(
        &mut self,
        kernel: &GaussianKernel,
        components: &Interleaved,
        seen: &[usize],
        hard: bool,
        many: bool,
    ) -> bool {
        let d = kernel.order;
        self.seen.clear();
        self.seen.extend_from_slice(seen);
        self.hidden.clear();
        self.hidden.extend((0..d).filter(|c| !seen.contains(c)));
        self.positions.clear();
        self.positions.extend(0..seen.len());
        self.hard = hard;
        let (o, m, width) = (seen.len(), self.hidden.len(), components.width);
        let natural = many && components.natural;
        let features = o + o * (o + 1) / 2;
        let parts = &mut self.parts;
        for (numbers, len) in [
            (&mut parts.regression, m * o),
            (&mut parts.intercept, m),
            (&mut parts.conditional, m * m),
            (&mut parts.roots, m),
            (&mut parts.work, m * m + m * o),
            (&mut parts.natural, if natural { features } else { 0 }),
            (&mut parts.at_mean, 1),
        ] {
            numbers.resize(len * width, 0.0);
        }
        let task = Preparation {
            components,
            seen,
            hidden: &self.hidden,
        };
        prepare(components.level, &task, &mut self.parts);
        self.peak.clone_from(&components.peak);
        if !hard && m > 0 {
            let scale: f64 = self.hidden.iter().map(|c| kernel.scale[*c].ln()).sum();
            let scale = 0.5 * m as f64 * LN_TAU + scale;
            for (j, peak) in self.peak.iter_mut().enumerate() {
                *peak += scale - sum_of_logarithms(&self.parts.roots[j..], width);
            }
        }
        self.marginal = natural.then(|| {
            let lanes = tiles::lanes(components.level);
            let natural = std::mem::take(&mut self.parts.natural);
            let at_mean = self.peak.iter().zip(&self.parts.at_mean);
            let at_mean = at_mean.take(components.components);
            Marginal {
                panels: Panels::of_groups(kernel.level, lanes, natural, features),
                pairs: features::pairs(o, false),
                constants: at_mean.map(|(peak, half)| peak - half).collect(),
            }
        });
        self.peak.iter().all(|peak| peak.is_finite())
    }

    /// About how many bytes the numbers take.
    pub fn bytes(&self) -> usize {
        let marginal = self
            .marginal
            .as_ref()
            .map_or(0, |marginal| marginal.panels.len());
        let parts = &self.parts;
        let numbers = parts.regression.len() + parts.work.len() + parts.conditional.len();
        (numbers + marginal) * size_of::<f64>()
    }
}

/// The sum of the logarithms of every `width`-th number.
fn sum_of_logarithms(numbers: &[f64], width: usize) -> f64 {
    // A logarithm of the product of eight numbers is faster than eight logarithms; a product of more
    // could overflow.
    let mut sum = 0.0;
    let mut product = 1.0;
    for (t, number) in numbers.iter().step_by(width).enumerate() {
        product *= number;
        if t % 8 == 7 {
            sum += f64::ln(product);
            product = 1.0;
        }
    }
    sum + product.ln()
}

/// What a pattern is prepared from.
struct Preparation<'a> {
    components: &'a Interleaved,
    seen: &'a [usize],
    hidden: &'a [usize],
}

/// The numbers of a pattern, of all components side by side.
#[derive(Default)]
pub(super) struct Parts {
    /// B, hidden × seen, row by row.
    pub(super) regression: Vec<f64>,
    /// m_h − B m_o.
    pub(super) intercept: Vec<f64>,
    /// C.
    pub(super) conditional: Vec<f64>,
    /// The diagonal of the Cholesky factor of P_hh.
    pub(super) roots: Vec<f64>,
    /// The natural parameters of the marginal, register by register, if they are to be computed.
    pub(super) natural: Vec<f64>,
    /// Half of the quadratic form at the means.
    pub(super) at_mean: Vec<f64>,
    /// The Cholesky factor of P_hh, and the solution X of factor · X = P_ho.
    pub(super) work: Vec<f64>,
}

vectorised! {
    fn prepare(task: &Preparation, parts: &mut Parts) = prepare_by
}

#[inline(always)]
unsafe fn prepare_by<V: Vector>(task: &Preparation, parts: &mut Parts) {
    let (width, m, o) = (task.components.width, task.hidden.len(), task.seen.len());
    // SAFETY: the caller ensures the features; the lanes of a group are within the width.
    unsafe {
        let mut work = std::mem::take(&mut parts.work);
        let (factor, solved) = work.split_at_mut(m * m * V::LANES);
        let mut factor = Registers::<V>::new(factor);
        let mut solved = Registers::new(&mut solved[..m * o * V::LANES]);
        for group in (0..width).step_by(V::LANES) {
            let lanes = Lanes { width, group };
            task.factorise(lanes, &mut factor, &mut parts.roots);
            task.solve(lanes, &factor, &mut solved);
            if !parts.natural.is_empty() {
                task.marginalise(lanes, &solved, parts);
            }
            task.regress(lanes, &factor, &mut solved, parts);
            task.invert(lanes, &mut factor, &mut parts.conditional);
        }
        parts.work = work;
    }
}

impl Preparation<'_> {
    #[inline(always)]
    unsafe fn precision<V: Vector>(&self, lanes: Lanes, a: usize, b: usize) -> V {
        // SAFETY: columns are below the order.
        unsafe { lanes.load(&self.components.precision, b * self.components.order + a) }
    }

    #[inline(always)]
    unsafe fn mean<V: Vector>(&self, lanes: Lanes, c: usize) -> V {
        // SAFETY: as above.
        unsafe { lanes.load(&self.components.mean, c) }
    }

    /// The Cholesky factor of P_hh, row by row, with the reciprocals of its diagonal; the diagonal
    /// itself goes to `roots`.
    #[inline(always)]
    unsafe fn factorise<V: Vector>(
        &self,
        lanes: Lanes,
        factor: &mut Registers<V>,
        roots: &mut [f64],
    ) {
        let m = self.hidden.len();
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            for t in 0..m {
                for s in 0..=t {
                    let mut x: V = self.precision(lanes, self.hidden[t], self.hidden[s]);
                    for r in 0..s {
                        x = x.sub(factor.get(t * m + r).mul(factor.get(s * m + r)));
                    }
                    let entry = if s < t {
                        x.mul(factor.get(s * m + s))
                    } else {
                        let root = x.sqrt();
                        lanes.store(roots, t, root);
                        V::splat(1.0).div(root)
                    };
                    factor.set(t * m + s, entry);
                }
            }
        }
    }

    /// Solves factor · X = P_ho.
    #[inline(always)]
    unsafe fn solve<V: Vector>(
        &self,
        lanes: Lanes,
        factor: &Registers<V>,
        solved: &mut Registers<V>,
    ) {
        let (m, o) = (self.hidden.len(), self.seen.len());
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            for t in 0..m {
                for (i, c) in self.seen.iter().enumerate() {
                    let mut x: V = self.precision(lanes, self.hidden[t], *c);
                    for s in 0..t {
                        x = x.sub(factor.get(t * m + s).mul(solved.get(s * o + i)));
                    }
                    solved.set(t * o + i, x.mul(factor.get(t * m + t)));
                }
            }
        }
    }

    /// The natural parameters of the marginal, and half of its quadratic form at the mean.
    #[inline(always)]
    unsafe fn marginalise<V: Vector>(
        &self,
        lanes: Lanes,
        solved: &Registers<V>,
        parts: &mut Parts,
    ) {
        let (m, o) = (self.hidden.len(), self.seen.len());
        let features = o + o * (o + 1) / 2;
        let start = lanes.group * features;
        let natural = &mut parts.natural[start..start + features * V::LANES];
        // SAFETY: the caller ensures the features and lanes; a feature has a register.
        unsafe {
            let group_lanes = Lanes {
                width: V::LANES,
                group: 0,
            };
            for i in 0..o {
                group_lanes.store(natural, i, V::splat(0.0));
            }
            for (i, a) in self.seen.iter().enumerate() {
                let mean_a: V = self.mean(lanes, *a);
                let mut linear = V::splat(0.0);
                for (j, b) in self.seen.iter().enumerate().skip(i) {
                    let mut x: V = self.precision(lanes, *a, *b);
                    for t in 0..m {
                        x = x.sub(solved.get(t * o + i).mul(solved.get(t * o + j)));
                    }
                    linear = V::fma(x, self.mean(lanes, *b), linear);
                    let half = if i == j { -0.5 } else { -1.0 };
                    group_lanes.store(natural, o + place(o, i, j), x.mul(V::splat(half)));
                    if j > i {
                        group_lanes.add(natural, j, x.mul(mean_a));
                    }
                }
                group_lanes.add(natural, i, linear);
            }
            let mut at_mean = V::splat(0.0);
            for (i, c) in self.seen.iter().enumerate() {
                at_mean = V::fma(group_lanes.load(natural, i), self.mean(lanes, *c), at_mean);
            }
            lanes.store(&mut parts.at_mean, 0, at_mean.mul(V::splat(0.5)));
        }
    }

    /// The regression B and the intercept m_h − B m_o.
    #[inline(always)]
    unsafe fn regress<V: Vector>(
        &self,
        lanes: Lanes,
        factor: &Registers<V>,
        solved: &mut Registers<V>,
        parts: &mut Parts,
    ) {
        let (m, o) = (self.hidden.len(), self.seen.len());
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            let zero = V::splat(0.0);
            for t in (0..m).rev() {
                let mut intercept: V = self.mean(lanes, self.hidden[t]);
                for (i, c) in self.seen.iter().enumerate() {
                    let mut x = solved.get(t * o + i);
                    for s in t + 1..m {
                        x = x.sub(factor.get(s * m + t).mul(solved.get(s * o + i)));
                    }
                    let x = x.mul(factor.get(t * m + t));
                    solved.set(t * o + i, x);
                    intercept = V::fma(x, self.mean(lanes, *c), intercept);
                    lanes.store(&mut parts.regression, t * o + i, zero.sub(x));
                }
                lanes.store(&mut parts.intercept, t, intercept);
            }
        }
    }

    /// P_hh⁻¹; the factor is replaced by its inverse.
    #[inline(always)]
    unsafe fn invert<V: Vector>(
        &self,
        lanes: Lanes,
        factor: &mut Registers<V>,
        conditional: &mut [f64],
    ) {
        let m = self.hidden.len();
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            let zero = V::splat(0.0);
            for t in 0..m {
                for s in 0..t {
                    let mut x = zero;
                    // Columns are replaced in ascending order, so that row t still has entries of
                    // the factor from column s on.
                    for r in s..t {
                        x = V::fma(factor.get(t * m + r), factor.get(r * m + s), x);
                    }
                    factor.set(t * m + s, zero.sub(x.mul(factor.get(t * m + t))));
                }
            }
            for s in 0..m {
                for t in s..m {
                    let mut x = zero;
                    for r in t..m {
                        x = V::fma(factor.get(r * m + s), factor.get(r * m + t), x);
                    }
                    lanes.store(conditional, s * m + t, x);
                    lanes.store(conditional, t * m + s, x);
                }
            }
        }
    }
}
