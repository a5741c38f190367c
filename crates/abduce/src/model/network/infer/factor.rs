//! Tables over some variables of a network.

use super::sweep::{Operand, Shape};

/// A table of non-negative numbers; the last variable changes fastest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Factor {
    /// The variables, by descending distance in the table.
    pub variables: Vec<usize>,
    /// The numbers.
    pub values: Vec<f64>,
}

impl Factor {
    /// The table with its variables in ascending order of `rank`; `sizes` are the numbers of states
    /// of all variables of the network.
    pub fn sorted(variables: &[usize], values: &[f64], sizes: &[usize], rank: &[usize]) -> Factor {
        let mut sorted = variables.to_vec();
        sorted.sort_by_key(|variable| rank[*variable]);
        let strides = strides(variables, sizes);
        let stride_of = |variable: &usize| {
            let position = variables.iter().position(|v| v == variable);
            position.map_or(0, |position| strides[position])
        };
        let digits: Vec<(usize, usize)> =
            sorted.iter().map(|v| (sizes[*v], stride_of(v))).collect();
        let mut out = Vec::with_capacity(values.len());
        gather(values, &digits, 0, &mut out);
        Factor {
            variables: sorted,
            values: out,
        }
    }

    /// The part of the table with the given states, over the other variables.
    pub fn given(&self, states: &[Option<usize>], sizes: &[usize]) -> Factor {
        let strides = strides(&self.variables, sizes);
        let mut offset = 0;
        let mut digits = Vec::new();
        let mut variables = Vec::new();
        for (variable, stride) in self.variables.iter().zip(&strides) {
            match states[*variable] {
                Some(state) => offset += state * stride,
                None => {
                    digits.push((sizes[*variable], *stride));
                    variables.push(*variable);
                }
            }
        }
        let mut values = Vec::new();
        gather(&self.values, &digits, offset, &mut values);
        Factor { variables, values }
    }

    /// The product of tables, over all their variables in ascending order of `rank`.
    pub fn product(factors: &[&Factor], sizes: &[usize], rank: &[usize]) -> Factor {
        let mut variables: Vec<usize> = factors
            .iter()
            .flat_map(|f| f.variables.iter().copied())
            .collect();
        variables.sort_by_key(|variable| rank[*variable]);
        variables.dedup();
        let shape = Shape::new(&variables, sizes);
        let operands: Vec<Operand> = factors
            .iter()
            .map(|f| shape.operand(&f.variables))
            .collect();
        let mut values = vec![1.0; shape.cells()];
        let mut first = 0;
        let references: Vec<&Operand> = operands.iter().collect();
        shape.visit(&references, |offsets| {
            let block = &mut values[first..first + shape.block()];
            for ((factor, operand), offset) in factors.iter().zip(&operands).zip(offsets) {
                operand.multiply(block, &factor.values[*offset..]);
            }
            first += shape.block();
        });
        Factor { variables, values }
    }

    /// Divides by the largest number and returns its logarithm; −∞ if all are 0.
    pub fn scale(&mut self) -> f64 {
        let largest = self.values.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 {
            self.values.iter_mut().for_each(|value| *value /= largest);
        }
        largest.ln()
    }
}

/// The distance of neighbouring states of each variable.
fn strides(variables: &[usize], sizes: &[usize]) -> Vec<usize> {
    let mut stride = 1;
    let mut strides: Vec<usize> = variables
        .iter()
        .rev()
        .map(|variable| {
            let this = stride;
            stride *= sizes[*variable];
            this
        })
        .collect();
    strides.reverse();
    strides
}

/// Appends the numbers at all combinations of digits of the given lengths and strides.
fn gather(values: &[f64], digits: &[(usize, usize)], offset: usize, out: &mut Vec<f64>) {
    match digits {
        [] => out.push(values[offset]),
        [(len, 1)] => out.extend_from_slice(&values[offset..offset + len]),
        [(len, stride)] => out.extend((0..*len).map(|i| values[offset + i * stride])),
        [(len, stride), rest @ ..] => {
            for i in 0..*len {
                gather(values, rest, offset + i * stride, out);
            }
        }
    }
}
