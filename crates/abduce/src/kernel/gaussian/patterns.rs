//! Rows with a pattern of missing cells. The components stand side by side in the lanes of
//! registers. By the precision matrix P = LᵀL of a component (here L⁻¹ is the factor of the
//! covariance), with h the hidden and o the observed columns of the pattern:
//!
//!   y_h | y_o has mean m_h + B (y_o − m_o) and covariance C = P_hh⁻¹, B = −C P_ho,
//!   y_o has precision P_oo − P_oh C P_ho, and ln |this| = ln |P| − ln |P_hh|.
//!
//! A pattern of h among d columns takes h³ + h²d operations for these instead of the d³ of a
//! factorisation. Rows are then processed in one of two ways:
//!
//! - Many rows: the marginal of y_o has natural parameters, and the rows go through the
//!   [`tiles`] of complete rows; their moments are extended to y_h once.
//! - Few rows, or rows for which natural parameters are imprecise: each row is completed by the
//!   conditional means, whitened, and added to moments about the means of the components.

use super::{CentredMoments, GaussianKernel, Scratch, TOLERANCE, features};
use crate::kernel::simd::{Level, vectorised};
use crate::kernel::special::LN_TAU;
use crate::kernel::tiles::{self, Block, Pair, Panels};
use crate::kernel::vector::Vector;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// The fewest rows of a pattern whose natural parameters are worth computing.
const MANY_ROWS: usize = 8;

/// The rows that are processed together if there are few.
const PAIR: usize = 2;

/// Components side by side: each number of a matrix is followed by the same one of the next
/// component, up to a padded number of components.
#[derive(Clone)]
pub(crate) struct Interleaved {
    level: Level,
    order: usize,
    components: usize,
    width: usize,
    mean: Vec<f64>,
    /// P, column by column.
    precision: Vec<f64>,
    /// The inverse factor of the covariance, row by row, with zeros above the diagonal.
    inverse: Vec<f64>,
    /// The log-densities at the means.
    peak: Vec<f64>,
    /// Whether natural parameters are precise near the means.
    natural: bool,
    largest_precision: f64,
}

impl GaussianKernel {
    /// Some of the components side by side.
    pub fn interleaved(&self, which: Range<usize>) -> Interleaved {
        let (d, components) = (self.order, &self.components[which]);
        let level = tiles::moments_level(self.level, components.len());
        let width = tiles::padded(self.level, components.len());
        // Padding repeats the last component, so that every lane has an invertible matrix.
        let of = |numbers: &dyn Fn(&super::Whitened, usize) -> f64, count: usize| -> Vec<f64> {
            let lanes = (0..width).map(|j| &components[j.min(components.len() - 1)]);
            (0..count)
                .flat_map(|t| lanes.clone().map(move |component| numbers(component, t)))
                .collect()
        };
        let precisions = components.iter().map(|component| component.precision_norm);
        Interleaved {
            level,
            order: d,
            components: components.len(),
            width,
            mean: of(&|component, c| component.mean[c], d),
            precision: of(&|component, t| component.precision[t], d * d),
            inverse: of(&|component, t| component.inverse[t % d * d + t / d], d * d),
            peak: of(&|component, _| component.peak, 1),
            natural: components.iter().all(|component| !component.centred),
            largest_precision: precisions.fold(0.0, f64::max),
        }
    }
}

/// Components with the rows of a pattern of observed columns.
pub(crate) struct Pattern<'a> {
    kernel: &'a GaussianKernel,
    components: &'a Interleaved,
    conditionals: Arc<Conditionals>,
}

/// The distributions of hidden columns given the observed ones, of all components.
#[derive(Default)]
pub(crate) struct Conditionals {
    seen: Vec<usize>,
    hidden: Vec<usize>,
    /// Whether missing cells take their most probable value instead of being integrated over.
    hard: bool,
    parts: Parts,
    /// The log-density of a row at the mean.
    peak: Vec<f64>,
    /// The natural parameters of the marginal, if there are many rows.
    marginal: Option<Marginal>,
}

/// The marginal distribution of the observed columns in natural form.
struct Marginal {
    pairs: Vec<Pair>,
    panels: Panels,
    constants: Vec<f64>,
}

/// The moments of completed rows in standardised coordinates, about the means of the components
/// and about the common origin. Several patterns add to the same sums.
pub(crate) struct PatternMoments {
    weight: Vec<f64>,
    about_means: Vec<f64>,
    origin_weight: Vec<f64>,
    about_origin: Vec<f64>,
    /// The sums over observed columns of the pattern in use.
    seen_sums: Vec<f64>,
    seen_weight: Vec<f64>,
    /// The weight of the rows of the pattern in use, on both ways.
    spread: Vec<f64>,
}

impl Conditionals {
    /// Prepares components for rows with the `seen` columns, of which there may be `many`.
    /// Returns whether all precisions are regular.
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
        if !hard {
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

    /// The bytes of the numbers.
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

impl<'a> Pattern<'a> {
    /// Components with what was prepared of them.
    pub fn new(
        kernel: &'a GaussianKernel,
        components: &'a Interleaved,
        conditionals: Arc<Conditionals>,
    ) -> Self {
        Pattern {
            kernel,
            components,
            conditionals,
        }
    }

    /// What was prepared, for another use, if there is no other user.
    pub fn into_conditionals(self) -> Option<Conditionals> {
        Arc::into_inner(self.conditionals)
    }

    /// Whether natural parameters are worth computing for so many rows.
    pub fn many(rows: usize) -> bool {
        rows >= MANY_ROWS
    }

    /// Standardises a block of the seen columns.
    pub fn load(&self, columns: &[&[f64]], scratch: &mut Scratch) {
        let places = self
            .conditionals
            .seen
            .iter()
            .map(|c| (self.kernel.center[*c], self.kernel.scale[*c]));
        match self.conditionals.marginal {
            Some(_) => scratch.load(columns, places),
            None => scratch.load_without_features(columns, places),
        }
    }

    /// Adds the log-densities of the loaded block, component-major.
    pub fn add_log_density(&self, scratch: &mut Scratch, out: &mut [f64]) {
        let error = f64::EPSILON * scratch.largest_norm * self.components.largest_precision;
        match &self.conditionals.marginal {
            Some(marginal) if error <= TOLERANCE => {
                let block = Block {
                    columns: &scratch.columns,
                    stride: scratch.stride,
                    rows: scratch.rows,
                    pairs: &marginal.pairs,
                };
                let skip = vec![false; marginal.constants.len()];
                let (constants, buffers) = (&marginal.constants, &mut scratch.buffers);
                marginal
                    .panels
                    .add_log_density(block, constants, &skip, buffers, out);
            }
            _ => {
                let mut work = std::mem::take(&mut scratch.white);
                let rows = Rows::new(self, scratch);
                add_log_density(self.components.level, &rows, &mut work, out);
                scratch.white = work;
            }
        }
    }

    /// Adds the loaded block to the sums.
    pub fn accumulate(&self, scratch: &mut Scratch, responsibilities: &[f64]) {
        let mut moments = scratch.patterns.take();
        let sums = moments.get_or_insert_with(|| PatternMoments::new(self.components));
        match &self.conditionals.marginal {
            Some(marginal) => {
                let block = Block {
                    columns: &scratch.columns,
                    stride: scratch.stride,
                    rows: scratch.rows,
                    pairs: &marginal.pairs,
                };
                sums.seen_sums
                    .resize(marginal.pairs.len() * self.components.width, 0.0);
                for (weight, r) in sums
                    .seen_weight
                    .iter_mut()
                    .zip(responsibilities.chunks_exact(scratch.rows))
                {
                    *weight += super::sum(r);
                }
                tiles::accumulate(
                    self.kernel.level,
                    block,
                    responsibilities,
                    &mut scratch.buffers,
                    &mut sums.seen_sums,
                );
            }
            None => {
                for (number, r) in responsibilities.chunks_exact(scratch.rows).enumerate() {
                    let weight = super::sum(r);
                    sums.weight[number] += weight;
                    sums.spread[number] += weight;
                }
                let mut work = std::mem::take(&mut scratch.white);
                let rows = Rows::new(self, scratch);
                let level = self.components.level;
                accumulate(level, &rows, responsibilities, &mut work, sums);
                scratch.white = work;
            }
        }
        scratch.patterns = moments;
    }

    /// Extends the sums over the rows of this pattern to the hidden columns. The conditional
    /// covariance of missing cells counts once for each of a component's `rows`, or with the
    /// weight of its rows if these are not given.
    pub fn close(&self, scratch: &mut Scratch, rows: Option<&[f64]>) {
        let Some(sums) = &mut scratch.patterns else {
            return;
        };
        let by_origin = self.conditionals.marginal.is_some();
        if by_origin {
            sums.spread.copy_from_slice(&sums.seen_weight);
        }
        if let Some(rows) = rows {
            sums.spread[..rows.len()].copy_from_slice(rows);
        }
        if self.conditionals.hard {
            sums.spread.fill(0.0);
        }
        extend(self.components.level, &Extension { pattern: self }, sums);
        if by_origin {
            for (sum, weight) in sums.origin_weight.iter_mut().zip(&sums.seen_weight) {
                *sum += weight;
            }
            sums.seen_sums.clear();
            sums.seen_weight.fill(0.0);
        }
        sums.spread.fill(0.0);
    }

    /// The log-densities at the means.
    pub fn peaks(&self) -> Vec<f64> {
        self.conditionals.peak[..self.components.components].to_vec()
    }
}

/// The sum of the logarithms of every `width`-th number.
fn sum_of_logarithms(numbers: &[f64], width: usize) -> f64 {
    // Logarithms of products of a few: more could overflow.
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

impl PatternMoments {
    fn new(components: &Interleaved) -> Self {
        let (d, width) = (components.order, components.width);
        let features = d + d * (d + 1) / 2;
        PatternMoments {
            weight: vec![0.0; width],
            about_means: vec![0.0; features * width],
            origin_weight: vec![0.0; width],
            about_origin: vec![0.0; features * width],
            seen_sums: Vec::new(),
            seen_weight: vec![0.0; width],
            spread: vec![0.0; width],
        }
    }
}

impl GaussianKernel {
    /// The moments of some components over rows of all patterns: those about their means, and
    /// those about the origin.
    pub fn finish_patterns(
        &self,
        which: Range<usize>,
        moments: &PatternMoments,
    ) -> Vec<[CentredMoments; 2]> {
        let width = moments.weight.len();
        let middle = vec![0.0; self.order];
        let components = self.components[which].iter().enumerate();
        let both = components.map(|(lane, component)| {
            let one = |weight: &[f64], sums: &[f64], origin: &[f64]| {
                let sums: Vec<f64> = sums.iter().skip(lane).step_by(width).copied().collect();
                let (first, second) = sums.split_at(self.order);
                self.uncentre(weight[lane], first, origin, |a, b| {
                    second[place(self.order, a, b)]
                })
            };
            [
                one(&moments.weight, &moments.about_means, &component.mean),
                one(&moments.origin_weight, &moments.about_origin, &middle),
            ]
        });
        both.collect()
    }
}

/// The place of a product of columns among all of them.
#[inline(always)]
fn place(order: usize, a: usize, b: usize) -> usize {
    let (a, b) = (a.min(b), a.max(b));
    a * order - a * (a + 1) / 2 + b
}

/// Numbers side by side, read and written by registers of lanes from `group` on.
#[derive(Clone, Copy)]
struct Lanes {
    width: usize,
    group: usize,
}

impl Lanes {
    /// # Safety
    /// The processor must have the features of `V`, and `numbers` must have `width` numbers at
    /// the place. So for all functions below.
    #[inline(always)]
    unsafe fn load<V: Vector>(self, numbers: &[f64], place: usize) -> V {
        debug_assert!(place * self.width + self.group + V::LANES <= numbers.len());
        // SAFETY: the caller ensures it.
        unsafe { V::load(numbers.as_ptr().add(place * self.width + self.group)) }
    }

    #[inline(always)]
    unsafe fn store<V: Vector>(self, numbers: &mut [f64], place: usize, value: V) {
        debug_assert!(place * self.width + self.group + V::LANES <= numbers.len());
        // SAFETY: the caller ensures it.
        unsafe { value.store(numbers.as_mut_ptr().add(place * self.width + self.group)) }
    }

    #[inline(always)]
    unsafe fn add<V: Vector>(self, numbers: &mut [f64], place: usize, value: V) {
        // SAFETY: the caller ensures it.
        unsafe { self.store(numbers, place, self.load::<V>(numbers, place).add(value)) }
    }
}

/// What a pattern is prepared from.
struct Preparation<'a> {
    components: &'a Interleaved,
    seen: &'a [usize],
    hidden: &'a [usize],
}

/// The numbers of a pattern, of all components side by side.
#[derive(Default)]
struct Parts {
    /// B, hidden × seen, row by row.
    regression: Vec<f64>,
    /// m_h − B m_o.
    intercept: Vec<f64>,
    /// C.
    conditional: Vec<f64>,
    /// The diagonal of the Cholesky factor of P_hh.
    roots: Vec<f64>,
    /// The natural parameters of the marginal, register by register, if they are to be computed.
    natural: Vec<f64>,
    /// Half of the quadratic form at the means.
    at_mean: Vec<f64>,
    /// The factor and its solution for P_ho.
    work: Vec<f64>,
}

/// Registers in memory.
struct Registers<'a, V> {
    numbers: &'a mut [f64],
    vector: PhantomData<V>,
}

impl<'a, V: Vector> Registers<'a, V> {
    fn new(numbers: &'a mut [f64]) -> Self {
        Registers {
            numbers,
            vector: PhantomData,
        }
    }

    /// # Safety
    /// The processor must have the features of `V`, and there must be a register at the place. So
    /// for all functions below.
    #[inline(always)]
    unsafe fn get(&self, place: usize) -> V {
        debug_assert!((place + 1) * V::LANES <= self.numbers.len());
        // SAFETY: the caller ensures it.
        unsafe { V::load(self.numbers.as_ptr().add(place * V::LANES)) }
    }

    #[inline(always)]
    unsafe fn set(&mut self, place: usize, value: V) {
        debug_assert!((place + 1) * V::LANES <= self.numbers.len());
        // SAFETY: the caller ensures it.
        unsafe { value.store(self.numbers.as_mut_ptr().add(place * V::LANES)) }
    }

    /// Some adjacent registers.
    #[inline(always)]
    unsafe fn row<const R: usize>(&self, row: usize) -> [V; R] {
        // SAFETY: the caller ensures it.
        unsafe { std::array::from_fn(|r| self.get(row * R + r)) }
    }

    #[inline(always)]
    unsafe fn set_row<const R: usize>(&mut self, row: usize, values: [V; R]) {
        for (r, value) in values.into_iter().enumerate() {
            // SAFETY: the caller ensures it.
            unsafe { self.set(row * R + r, value) }
        }
    }
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

    /// The factor's solution for P_ho.
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

    /// The natural parameters of the marginal.
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

    /// Regression and intercept.
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
                    // Row t still has the factor from column s on, as columns go up.
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

/// Rows of a pattern, to be completed one by one.
struct Rows<'a> {
    pattern: &'a Pattern<'a>,
    columns: &'a [f64],
    stride: usize,
    rows: usize,
}

impl<'a> Rows<'a> {
    fn new(pattern: &'a Pattern, scratch: &'a Scratch) -> Self {
        Rows {
            pattern,
            columns: &scratch.columns,
            stride: scratch.stride,
            rows: scratch.rows,
        }
    }

    /// Fills `gaps` with the gaps of `R` rows from their components' means, column by column.
    #[inline(always)]
    unsafe fn complete<V: Vector, const R: usize>(
        &self,
        lanes: Lanes,
        row: usize,
        gaps: &mut Registers<V>,
    ) {
        let (components, pattern) = (self.pattern.components, &*self.pattern.conditionals);
        let o = pattern.seen.len();
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            for (i, c) in pattern.seen.iter().enumerate() {
                let mean: V = lanes.load(&components.mean, *c);
                let y = &self.columns[i * self.stride + row..][..R];
                gaps.set_row::<R>(*c, std::array::from_fn(|r| V::splat(y[r]).sub(mean)));
            }
            for (t, h) in pattern.hidden.iter().enumerate() {
                let mut gap = [V::splat(0.0); R];
                for (i, c) in pattern.seen.iter().enumerate() {
                    let slope: V = lanes.load(&pattern.parts.regression, t * o + i);
                    for (gap, seen) in gap.iter_mut().zip(gaps.row::<R>(*c)) {
                        *gap = V::fma(slope, seen, *gap);
                    }
                }
                gaps.set_row(*h, gap);
            }
        }
    }
}

vectorised! {
    fn add_log_density(rows: &Rows, work: &mut Vec<f64>, out: &mut [f64]) = add_log_density_by
}

#[inline(always)]
unsafe fn add_log_density_by<V: Vector>(rows: &Rows, work: &mut Vec<f64>, out: &mut [f64]) {
    let width = rows.pattern.components.width;
    // SAFETY: the caller ensures the features; the lanes of a group are within the width.
    unsafe {
        work.resize(PAIR * rows.pattern.components.order * V::LANES, 0.0);
        let mut gaps = Registers::new(work);
        for group in (0..width).step_by(V::LANES) {
            let lanes = Lanes { width, group };
            let mut row = 0;
            while row + PAIR <= rows.rows {
                rows.add_some::<V, PAIR>(lanes, row, &mut gaps, out);
                row += PAIR;
            }
            while row < rows.rows {
                rows.add_some::<V, 1>(lanes, row, &mut gaps, out);
                row += 1;
            }
        }
    }
}

impl Rows<'_> {
    /// Adds the log-densities of `R` rows under the components of a register.
    #[inline(always)]
    unsafe fn add_some<V: Vector, const R: usize>(
        &self,
        lanes: Lanes,
        row: usize,
        gaps: &mut Registers<V>,
        out: &mut [f64],
    ) {
        let components = self.pattern.components;
        let d = components.order;
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            self.complete::<V, R>(lanes, row, gaps);
            let mut distance = [V::splat(0.0); R];
            let mut first = 0;
            while first < d {
                // Four rows of the inverse factor at once, or the last ones alone.
                if first + 4 <= d {
                    whiten::<V, R, 4>(components, lanes, first, gaps, &mut distance);
                    first += 4;
                } else {
                    whiten::<V, R, 1>(components, lanes, first, gaps, &mut distance);
                    first += 1;
                }
            }
            let peak: V = lanes.load(&self.pattern.conditionals.peak, 0);
            let mut densities = [0.0; 8];
            for (r, distance) in distance.iter().enumerate() {
                let density = V::fma(*distance, V::splat(-0.5), peak);
                density.store(densities.as_mut_ptr());
                let last = components.components.min(lanes.group + V::LANES);
                for (j, density) in (lanes.group..last).zip(&densities) {
                    out[j * self.rows + row + r] += density;
                }
            }
        }
    }
}

/// Adds the squares of `F` whitened coordinates from `first` on.
#[inline(always)]
unsafe fn whiten<V: Vector, const R: usize, const F: usize>(
    components: &Interleaved,
    lanes: Lanes,
    first: usize,
    gaps: &Registers<V>,
    distance: &mut [V; R],
) {
    // SAFETY: the caller ensures the features and lanes.
    unsafe {
        let mut white = [[V::splat(0.0); R]; F];
        for c in 0..first + F {
            let gap: [V; R] = gaps.row(c);
            for (f, white) in white.iter_mut().enumerate() {
                let x: V = lanes.load(&components.inverse, (first + f) * components.order + c);
                for (white, gap) in white.iter_mut().zip(gap) {
                    *white = V::fma(x, gap, *white);
                }
            }
        }
        for white in white {
            for (distance, white) in distance.iter_mut().zip(white) {
                *distance = V::fma(white, white, *distance);
            }
        }
    }
}

vectorised! {
    fn accumulate(rows: &Rows, responsibilities: &[f64], work: &mut Vec<f64>, sums: &mut PatternMoments) = accumulate_by
}

#[inline(always)]
unsafe fn accumulate_by<V: Vector>(
    rows: &Rows,
    responsibilities: &[f64],
    work: &mut Vec<f64>,
    sums: &mut PatternMoments,
) {
    let width = rows.pattern.components.width;
    // SAFETY: the caller ensures the features; the lanes of a group are within the width.
    unsafe {
        work.resize(PAIR * rows.pattern.components.order * V::LANES, 0.0);
        let mut gaps = Registers::new(work);
        for group in (0..width).step_by(V::LANES) {
            let lanes = Lanes { width, group };
            let mut row = 0;
            while row + PAIR <= rows.rows {
                rows.accumulate_some::<V, PAIR>(lanes, row, &mut gaps, responsibilities, sums);
                row += PAIR;
            }
            while row < rows.rows {
                rows.accumulate_some::<V, 1>(lanes, row, &mut gaps, responsibilities, sums);
                row += 1;
            }
        }
    }
}

impl Rows<'_> {
    /// Adds `R` rows to the moments about the means of the components of a register.
    #[inline(always)]
    unsafe fn accumulate_some<V: Vector, const R: usize>(
        &self,
        lanes: Lanes,
        row: usize,
        gaps: &mut Registers<V>,
        responsibilities: &[f64],
        sums: &mut PatternMoments,
    ) {
        let components = self.pattern.components;
        let d = components.order;
        let mut shares = [[0.0; 8]; R];
        let last = components.components.min(lanes.group + V::LANES);
        for (lane, j) in (lanes.group..last).enumerate() {
            for (r, shares) in shares.iter_mut().enumerate() {
                shares[lane] = responsibilities[j * self.rows + row + r];
            }
        }
        if shares.iter().flatten().all(|share| *share == 0.0) {
            return;
        }
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            let shares = shares.map(|shares| V::load(shares.as_ptr()));
            self.complete::<V, R>(lanes, row, gaps);
            for a in 0..d {
                let gap: [V; R] = gaps.row(a);
                let weighted: [V; R] = std::array::from_fn(|r| gap[r].mul(shares[r]));
                let mut sum: V = lanes.load(&sums.about_means, a);
                for weighted in weighted {
                    sum = sum.add(weighted);
                }
                lanes.store(&mut sums.about_means, a, sum);
                let start = d + place(d, a, a);
                for b in a..d {
                    let mut sum: V = lanes.load(&sums.about_means, start + b - a);
                    for (weighted, gap) in weighted.iter().zip(gaps.row::<R>(b)) {
                        sum = V::fma(*weighted, gap, sum);
                    }
                    lanes.store(&mut sums.about_means, start + b - a, sum);
                }
            }
        }
    }
}

/// The extension of sums over seen columns to all columns.
struct Extension<'a> {
    pattern: &'a Pattern<'a>,
}

vectorised! {
    fn extend(extension: &Extension, sums: &mut PatternMoments) = extend_by
}

#[inline(always)]
unsafe fn extend_by<V: Vector>(extension: &Extension, sums: &mut PatternMoments) {
    let width = extension.pattern.components.width;
    let by_origin = extension.pattern.conditionals.marginal.is_some();
    // SAFETY: the caller ensures the features; the lanes of a group are within the width.
    unsafe {
        for group in (0..width).step_by(V::LANES) {
            let lanes = Lanes { width, group };
            if by_origin {
                extension.extend::<V>(lanes, sums);
            }
            let target = if by_origin {
                &mut sums.about_origin
            } else {
                &mut sums.about_means
            };
            extension.add_spread::<V>(lanes, &sums.spread, target);
        }
    }
}

impl Extension<'_> {
    /// The place of a product of columns in sums over all of them.
    #[inline(always)]
    fn product(&self, a: usize, b: usize) -> usize {
        let d = self.pattern.components.order;
        d + place(d, a, b)
    }

    /// Adds the conditional covariance of hidden columns.
    #[inline(always)]
    unsafe fn add_spread<V: Vector>(&self, lanes: Lanes, spread: &[f64], sums: &mut [f64]) {
        let hidden = &self.pattern.conditionals.hidden;
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            let spread: V = lanes.load(spread, 0);
            for (s, a) in hidden.iter().enumerate() {
                for (t, b) in hidden.iter().enumerate().skip(s) {
                    let place = s * hidden.len() + t;
                    let conditional: V =
                        lanes.load(&self.pattern.conditionals.parts.conditional, place);
                    lanes.add(sums, self.product(*a, *b), conditional.mul(spread));
                }
            }
        }
    }

    /// Adds the sums over seen columns, and those of the hidden ones given them.
    #[inline(always)]
    unsafe fn extend<V: Vector>(&self, lanes: Lanes, sums: &mut PatternMoments) {
        let Conditionals {
            seen,
            hidden,
            parts,
            ..
        } = &*self.pattern.conditionals;
        let Parts {
            regression,
            intercept,
            ..
        } = parts;
        let o = seen.len();
        let PatternMoments {
            about_origin: whole,
            seen_sums,
            seen_weight,
            ..
        } = sums;
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            for (i, a) in seen.iter().enumerate() {
                lanes.add::<V>(whole, *a, lanes.load(seen_sums, i));
                for (j, b) in seen.iter().enumerate().skip(i) {
                    let sum: V = lanes.load(seen_sums, o + place(o, i, j));
                    lanes.add(whole, self.product(*a, *b), sum);
                }
            }
            let weight: V = lanes.load(seen_weight, 0);
            // Σ r B y and Σ r B y yᵀ.
            let mut first = Vec::with_capacity(hidden.len());
            let mut cross = vec![V::splat(0.0); hidden.len() * o];
            for t in 0..hidden.len() {
                let mut sum = V::splat(0.0);
                let cross = &mut cross[t * o..(t + 1) * o];
                for i in 0..o {
                    let slope: V = lanes.load(regression, t * o + i);
                    sum = V::fma(slope, lanes.load(seen_sums, i), sum);
                    for (j, cross) in cross.iter_mut().enumerate() {
                        let product: V = lanes.load(seen_sums, o + place(o, i, j));
                        *cross = V::fma(slope, product, *cross);
                    }
                }
                first.push(sum);
            }
            for (t, h) in hidden.iter().enumerate() {
                let start: V = lanes.load(intercept, t);
                lanes.add(whole, *h, V::fma(weight, start, first[t]));
                for (i, c) in seen.iter().enumerate() {
                    let sum: V = lanes.load(seen_sums, i);
                    let sum = V::fma(start, sum, cross[t * o + i]);
                    lanes.add(whole, self.product(*h, *c), sum);
                }
                for (s, g) in hidden.iter().enumerate().skip(t) {
                    let other: V = lanes.load(intercept, s);
                    // w c c' + c (B y)' + (B y) c' + B (y yᵀ) B'ᵀ.
                    let mut sum = V::fma(weight, other, first[s]).mul(start);
                    sum = V::fma(first[t], other, sum);
                    for i in 0..o {
                        let slope: V = lanes.load(regression, s * o + i);
                        sum = V::fma(cross[t * o + i], slope, sum);
                    }
                    lanes.add(whole, self.product(*h, *g), sum);
                }
            }
        }
    }
}
