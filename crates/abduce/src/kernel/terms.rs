//! Log-densities of documents under all components at once. The weights of a
//! term lie side by side, one for each component, so that a term is one look
//! into the table whatever the number of components.

use super::simd::{fma, multiversion};

/// For every term and component, what an occurrence adds to the log-density.
#[derive(Clone, Debug)]
pub(crate) struct TermTable {
    components: usize,
    /// Term-major: component `j` of term `t` is at `t * components + j`.
    weights: Vec<f64>,
    /// What every document adds, term or no term.
    base: Vec<f64>,
    /// Whether terms count once however often they occur.
    once: bool,
}

impl TermTable {
    /// A table of the components' weights, and what they add to each document.
    pub fn new(weights: &[Vec<f64>], base: Vec<f64>, once: bool) -> TermTable {
        let components = weights.len();
        let terms = weights.first().map_or(0, Vec::len);
        let mut table = vec![0.0; terms * components];
        // By blocks of terms, so that what is written stays in cache.
        const BLOCK: usize = 512;
        for start in (0..terms).step_by(BLOCK) {
            let end = terms.min(start + BLOCK);
            for (j, own) in weights.iter().enumerate() {
                for (t, weight) in (start..end).zip(&own[start..end]) {
                    table[t * components + j] = *weight;
                }
            }
        }
        TermTable {
            components,
            weights: table,
            base,
            once,
        }
    }

    /// What a document adds to the log-density of one component.
    pub fn of_component(&self, component: usize, codes: &[u32], counts: &[f64]) -> f64 {
        let weight = |code: &u32| self.weights[*code as usize * self.components + component];
        let terms = codes.iter().zip(counts);
        let sum: f64 = match self.once {
            true => terms.map(|(code, _)| weight(code)).sum(),
            false => terms.map(|(code, count)| count * weight(code)).sum(),
        };
        self.base[component] + sum
    }

    /// What a document adds to the log-density of every component.
    pub fn of_all(&self, codes: &[u32], counts: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.base);
        add_terms(&self.weights, codes, counts, self.once, out);
    }
}

multiversion! {
    /// Adds the weights of a document's terms, each as often as it occurs.
    fn add_terms(weights: &[f64], codes: &[u32], counts: &[f64], once: bool, out: &mut [f64]) = add_terms_body
}

#[inline(always)]
fn add_terms_body<const FUSED: bool>(
    weights: &[f64],
    codes: &[u32],
    counts: &[f64],
    once: bool,
    out: &mut [f64],
) {
    let components = out.len();
    for (code, count) in codes.iter().zip(counts) {
        let start = *code as usize * components;
        let own = &weights[start..start + components];
        let count = if once { 1.0 } else { *count };
        for (sum, weight) in out.iter_mut().zip(own) {
            *sum = fma::<FUSED>(count, *weight, *sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_components_at_once_are_each_by_itself() {
        let terms = 1300;
        let weight = |j: usize, t: usize| -((3 * j + t % 17 + 1) as f64).sqrt();
        let weights: Vec<Vec<f64>> = (0..5)
            .map(|j| (0..terms).map(|t| weight(j, t)).collect())
            .collect();
        let (codes, counts) = ([0, 511, 512, 1299], [1.0, 2.0, 0.5, 3.0]);
        for once in [false, true] {
            let table = TermTable::new(&weights, vec![-1.0; 5], once);
            let mut out = [0.0; 5];
            table.of_all(&codes, &counts, &mut out);
            for (j, own) in out.iter().enumerate() {
                let times = |i: usize| if once { 1.0 } else { counts[i] };
                let terms = (0..4).map(|i| times(i) * weight(j, codes[i] as usize));
                let expected = terms.sum::<f64>() - 1.0;
                assert!((own - expected).abs() < 1e-12);
                assert!((table.of_component(j, &codes, &counts) - expected).abs() < 1e-12);
            }
        }
    }
}
