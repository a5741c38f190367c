//! Products and sums of tables over subsets of the variables of a clique, without storing the table
//! of the clique. The cells are visited in blocks that stay in the cache: the fastest variables of
//! the clique are the inside of a block, the others are counted like the digits of an odometer.

/// The largest number of cells of a block.
const BLOCK: usize = 2048;

/// Consecutive cells of a block, and how far apart they are in a smaller table: 1, or 0 if the
/// smaller table does not have the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digit {
    len: usize,
    stride: usize,
}

/// How the cells of a table lie in the blocks of a clique.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    /// The strides of the outer variables.
    outer: Vec<usize>,
    /// The digits inside of a block, slowest first.
    inner: Vec<Digit>,
}

/// The variables of a clique with their sizes, slowest first, without variables of one state.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    variables: Vec<usize>,
    sizes: Vec<usize>,
    /// How many of the variables are outside of blocks.
    split: usize,
    block: usize,
}

impl Shape {
    /// The shape of a table over variables; `sizes` are those of all variables of the network.
    pub fn new(variables: &[usize], sizes: &[usize]) -> Shape {
        let variables: Vec<usize> = variables
            .iter()
            .copied()
            .filter(|v| sizes[*v] > 1)
            .collect();
        let sizes: Vec<usize> = variables.iter().map(|v| sizes[*v]).collect();
        let mut split = sizes.len();
        let mut block = 1;
        while split > 0 && block * sizes[split - 1] <= BLOCK.max(sizes[sizes.len() - 1]) {
            split -= 1;
            block *= sizes[split];
        }
        Shape {
            variables,
            sizes,
            split,
            block,
        }
    }

    /// The number of cells.
    pub fn cells(&self) -> usize {
        self.sizes.iter().product()
    }

    /// The place of a table over some of the variables, in the same order.
    pub fn operand(&self, variables: &[usize]) -> Operand {
        let mut strides = vec![0; self.sizes.len()];
        let mut stride = 1;
        let mut left = self.sizes.len();
        for variable in variables.iter().rev() {
            // Variables of one state are not in the shape.
            let found = self.variables[..left].iter().rposition(|v| v == variable);
            if let Some(position) = found {
                strides[position] = stride;
                stride *= self.sizes[position];
                left = position;
            }
        }
        let mut inner: Vec<Digit> = Vec::new();
        for (&len, &stride) in self.sizes.iter().zip(&strides).skip(self.split) {
            match inner.last_mut() {
                Some(last) if last.stride == len * stride => {
                    *last = Digit {
                        len: last.len * len,
                        stride,
                    };
                }
                _ => inner.push(Digit { len, stride }),
            }
        }
        strides.truncate(self.split);
        Operand {
            outer: strides,
            inner,
        }
    }

    /// Visits all blocks: `visit` gets the offsets of the block in each operand and, last, in the
    /// table of the clique itself.
    pub fn visit(&self, operands: &[&Operand], mut visit: impl FnMut(&[usize])) {
        let mut digits = vec![0; self.split];
        let mut offsets = vec![0; operands.len()];
        loop {
            visit(&offsets);
            let mut position = self.split;
            loop {
                if position == 0 {
                    return;
                }
                position -= 1;
                digits[position] += 1;
                let back = digits[position] == self.sizes[position];
                for (offset, operand) in offsets.iter_mut().zip(operands) {
                    let stride = operand.outer[position];
                    *offset = if back {
                        *offset - stride * (self.sizes[position] - 1)
                    } else {
                        *offset + stride
                    };
                }
                if !back {
                    break;
                }
                digits[position] = 0;
            }
        }
    }

    /// The number of cells of a block.
    pub fn block(&self) -> usize {
        self.block
    }
}

impl Operand {
    /// Whether the table has one cell for a whole block.
    pub fn is_scalar(&self) -> bool {
        self.inner.iter().all(|digit| digit.stride == 0)
    }

    /// Multiplies the cells of a block by those of the table.
    pub fn multiply(&self, block: &mut [f64], values: &[f64]) {
        multiply(block, values, &self.inner);
    }

    /// Adds the cells of a block to those of the table.
    pub fn add(&self, block: &[f64], sums: &mut [f64]) {
        add(block, sums, &self.inner);
    }
}

fn multiply(block: &mut [f64], values: &[f64], digits: &[Digit]) {
    match digits {
        [] => block[0] *= values[0],
        [Digit { stride: 0, .. }] => {
            let value = values[0];
            block.iter_mut().for_each(|cell| *cell *= value);
        }
        [Digit { len, .. }] => {
            let values = &values[..*len];
            block
                .iter_mut()
                .zip(values)
                .for_each(|(cell, v)| *cell *= v);
        }
        [
            Digit { len, stride },
            Digit {
                len: inside,
                stride: 0,
            },
        ] if *stride == 1 => {
            let cells = block.chunks_exact_mut(*inside);
            for (cells, value) in cells.zip(&values[..*len]) {
                cells.iter_mut().for_each(|cell| *cell *= value);
            }
        }
        [Digit { len, stride }, rest @ ..] => {
            let size = block.len() / len;
            for (i, cells) in block.chunks_exact_mut(size).enumerate() {
                multiply(cells, &values[i * stride..], rest);
            }
        }
    }
}

fn add(block: &[f64], sums: &mut [f64], digits: &[Digit]) {
    match digits {
        [] => sums[0] += block[0],
        [Digit { stride: 0, .. }] => sums[0] += sum(block),
        [Digit { len, .. }] => {
            let sums = &mut sums[..*len];
            sums.iter_mut()
                .zip(block)
                .for_each(|(sum, cell)| *sum += cell);
        }
        [
            Digit { len, stride },
            Digit {
                len: inside,
                stride: 0,
            },
        ] if *stride == 1 => {
            let cells = block.chunks_exact(*inside);
            for (cells, out) in cells.zip(&mut sums[..*len]) {
                *out += sum(cells);
            }
        }
        [Digit { len, stride }, rest @ ..] => {
            let size = block.len() / len;
            for (i, cells) in block.chunks_exact(size).enumerate() {
                add(cells, &mut sums[i * stride..], rest);
            }
        }
    }
}

/// A sum in eight lanes, which the compiler vectorises.
fn sum(cells: &[f64]) -> f64 {
    let (lanes, rest) = cells.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for lane in lanes {
        for (sum, cell) in sums.iter_mut().zip(lane) {
            *sum += cell;
        }
    }
    let rest: f64 = rest.iter().sum();
    if lanes.is_empty() {
        return rest;
    }
    sums.iter().sum::<f64>() + rest
}
