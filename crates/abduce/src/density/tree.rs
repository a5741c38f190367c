//! A k-d tree over points (Bentley 1975): every node is split in the middle along its
//! widest column and stores its bounding box and weight. Leaves are blocks of points,
//! stored in the order of the tree, so that the points of a node are contiguous.

use super::expansion::Expansions;
use super::points::Points;
use crate::kernel::pairs::BLOCK;

/// A tree over points.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    columns: usize,
    /// The position of every point in the order of the tree.
    pub(super) positions: Vec<u32>,
    /// Block by block; the last is padded with points of weight 0 at infinity.
    blocks: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) nodes: Vec<Node>,
    /// For every node the lower and the upper corner of its bounding box.
    boxes: Vec<f64>,
    /// Series expansions for sums of Gaussians.
    pub(super) expansions: Option<Expansions>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) weight: f64,
    /// The number of points.
    points: u32,
    /// The first block.
    pub(super) block: u32,
    /// The right child; 0 for a leaf. The left child is the next node.
    pub(super) right: u32,
}

impl Tree {
    pub fn new(points: &Points) -> Tree {
        let (rows, columns) = (points.len(), points.columns());
        let mut order: Vec<u32> = (0..rows as u32).collect();
        let mut tree = Tree {
            columns,
            positions: vec![0; rows],
            blocks: Vec::new(),
            weights: Vec::new(),
            nodes: Vec::new(),
            boxes: Vec::new(),
            expansions: None,
        };
        tree.grow(points, &mut order, 0);
        for (position, row) in order.iter().enumerate() {
            tree.positions[*row as usize] = position as u32;
        }
        for block in order.chunks(BLOCK) {
            for column in 0..columns {
                let cells = block.iter().map(|row| points.row(*row as usize)[column]);
                tree.blocks.extend(cells);
                let length = tree.blocks.len().next_multiple_of(BLOCK);
                tree.blocks.resize(length, f64::INFINITY);
            }
            let weights = block.iter().map(|row| points.weights()[*row as usize]);
            tree.weights.extend(weights);
        }
        tree.weights.resize(rows.next_multiple_of(BLOCK), 0.0);
        tree
    }

    /// The same tree with series expansions for sums of Gaussians.
    pub fn with_expansions(mut self) -> Tree {
        self.expansions = Expansions::new(&self);
        self
    }

    /// Adds the node of these points with all nodes below it, and returns its weight.
    fn grow(&mut self, points: &Points, order: &mut [u32], block: usize) -> f64 {
        let number = self.nodes.len();
        let (mut lower, mut upper) = (
            vec![f64::INFINITY; self.columns],
            vec![f64::NEG_INFINITY; self.columns],
        );
        for row in order.iter() {
            for ((low, high), x) in lower
                .iter_mut()
                .zip(&mut upper)
                .zip(points.row(*row as usize))
            {
                *low = low.min(*x);
                *high = high.max(*x);
            }
        }
        let widths = lower.iter().zip(&upper).map(|(low, high)| high - low);
        let widest =
            widths.enumerate().fold(
                (0, -1.0),
                |best, (c, width)| {
                    if width > best.1 { (c, width) } else { best }
                },
            );
        self.boxes.extend(lower);
        self.boxes.extend(upper);
        self.nodes.push(Node {
            weight: 0.0,
            points: order.len() as u32,
            block: block as u32,
            right: 0,
        });
        let weight = if order.len() <= BLOCK {
            let weights = order.iter().map(|row| points.weights()[*row as usize]);
            weights.sum()
        } else {
            // The left part is whole blocks, so that all blocks but the last are full.
            let left = order.len().div_ceil(BLOCK).div_ceil(2);
            let key = |row: &u32| points.row(*row as usize)[widest.0];
            let compare = |a: &u32, b: &u32| key(a).total_cmp(&key(b)).then(a.cmp(b));
            order.select_nth_unstable_by(left * BLOCK, compare);
            let (near, far) = order.split_at_mut(left * BLOCK);
            let weight = self.grow(points, near, block);
            self.nodes[number].right = self.nodes.len() as u32;
            weight + self.grow(points, far, block + left)
        };
        self.nodes[number].weight = weight;
        weight
    }

    /// The least and the greatest squared distance of a node's box.
    #[inline]
    pub(super) fn distances(&self, node: usize, query: &[f64]) -> (f64, f64) {
        let (lower, upper) = self.corners(node);
        let (mut least, mut most) = (0.0, 0.0);
        for ((low, high), x) in lower.iter().zip(upper).zip(query) {
            let (below, above) = (low - x, x - high);
            let gap = below.max(above).max(0.0);
            let reach = (-below).max(-above);
            least += gap * gap;
            most += reach * reach;
        }
        (least, most)
    }

    fn corners(&self, node: usize) -> (&[f64], &[f64]) {
        let corners = &self.boxes[2 * node * self.columns..2 * (node + 1) * self.columns];
        corners.split_at(self.columns)
    }

    pub(super) fn block(&self, block: usize) -> &[f64] {
        let size = BLOCK * self.columns;
        &self.blocks[block * size..(block + 1) * size]
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// The blocks of a node's points.
    pub(super) fn blocks_of(&self, node: usize) -> std::ops::Range<usize> {
        let Node { block, points, .. } = self.nodes[node];
        block as usize..block as usize + (points as usize).div_ceil(BLOCK)
    }

    /// The weights of a block's points.
    pub(super) fn weights_of(&self, block: usize) -> &[f64] {
        &self.weights[block * BLOCK..(block + 1) * BLOCK]
    }

    /// The centre of a node's bounding box, and the distance from there to its corners.
    pub(super) fn centre(&self, node: usize) -> (Vec<f64>, f64) {
        let (lower, upper) = self.corners(node);
        let sides = || lower.iter().zip(upper);
        let middle = sides().map(|(low, high)| low + 0.5 * (high - low));
        let square: f64 = sides().map(|(low, high)| (high - low).powi(2)).sum();
        (middle.collect(), 0.5 * square.sqrt())
    }
}
