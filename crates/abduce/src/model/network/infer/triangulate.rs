//! Triangulation of an undirected graph: an order in which to eliminate the variables, so that the
//! cliques that arise are small. Eliminating a variable connects its neighbours with each other.
//!
//! Greedy rules choose the next variable: the fewest new edges (min-fill), or the smallest table
//! over the variable and its neighbours (min-weight). Ties are broken at random; the best of
//! several orders is kept (Kjærulff 1990).

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// An undirected graph, as a row of bits for each vertex.
#[derive(Clone)]
pub(crate) struct Graph {
    words: usize,
    bits: Vec<u64>,
}

impl Graph {
    /// A graph without edges.
    pub fn new(vertices: usize) -> Graph {
        let words = vertices.div_ceil(64);
        Graph {
            words,
            bits: vec![0; words * vertices],
        }
    }

    /// Adds an edge.
    pub fn connect(&mut self, a: usize, b: usize) {
        if a != b {
            self.bits[a * self.words + b / 64] |= 1 << (b % 64);
            self.bits[b * self.words + a / 64] |= 1 << (a % 64);
        }
    }

    /// Connects all pairs of some vertices.
    pub fn connect_all(&mut self, vertices: &[usize]) {
        for (i, a) in vertices.iter().enumerate() {
            for b in &vertices[..i] {
                self.connect(*a, *b);
            }
        }
    }

    /// Whether two vertices are neighbours.
    pub fn has_edge(&self, a: usize, b: usize) -> bool {
        self.bits[a * self.words + b / 64] >> (b % 64) & 1 == 1
    }

    /// The neighbours of a vertex, in ascending order.
    pub fn neighbours(&self, vertex: usize) -> Vec<usize> {
        let mut found = Vec::new();
        for (word, bits) in self.row(vertex).iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                found.push(word * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
        found
    }

    fn row(&self, vertex: usize) -> &[u64] {
        &self.bits[vertex * self.words..(vertex + 1) * self.words]
    }

    /// Removes a vertex from the rows of its neighbours.
    fn disconnect(&mut self, vertex: usize, neighbours: &[usize]) {
        for other in neighbours {
            self.bits[other * self.words + vertex / 64] &= !(1 << (vertex % 64));
        }
    }

    /// The number of edges that eliminating a vertex would add.
    fn fill(&self, vertex: usize, neighbours: &[usize]) -> usize {
        let row = self.row(vertex);
        let missing = neighbours.iter().map(|other| {
            let shared = row
                .iter()
                .zip(self.row(*other))
                .map(|(a, b)| (a & b).count_ones());
            neighbours.len() - 1 - shared.sum::<u32>() as usize
        });
        missing.sum::<usize>() / 2
    }
}

/// What a greedy rule minimises first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Fill,
    Weight,
}

/// An elimination order and the cost of its cliques.
#[derive(Clone, Debug)]
pub(crate) struct Elimination {
    /// The vertices in the order of their elimination.
    pub order: Vec<usize>,
    /// For each vertex, its neighbours when it is eliminated.
    pub later: Vec<Vec<usize>>,
    /// The sum of the sizes of the tables.
    pub cells: f64,
}

/// The number of orders with random ties per rule, for graphs of so few vertices that each takes
/// little time.
const TRIES: usize = 4;

/// The best of several elimination orders; `sizes` are the numbers of states.
pub(crate) fn triangulate(graph: &Graph, sizes: &[usize], seed: u64) -> Elimination {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut best: Option<Elimination> = None;
    for attempt in 0..TRIES {
        for rule in [Rule::Fill, Rule::Weight] {
            let ties: Vec<u32> = sizes
                .iter()
                .map(|_| if attempt == 0 { 0 } else { rng.random() })
                .collect();
            let limit = best.as_ref().map_or(f64::INFINITY, |best| best.cells);
            if let Some(found) = eliminate(graph.clone(), sizes, rule, &ties, limit) {
                best = Some(found);
            }
        }
    }
    best.unwrap_or(Elimination {
        order: Vec::new(),
        later: vec![Vec::new(); sizes.len()],
        cells: 0.0,
    })
}

/// Eliminates all vertices by a rule; `None` if the cost reaches the limit.
fn eliminate(
    mut graph: Graph,
    sizes: &[usize],
    rule: Rule,
    ties: &[u32],
    limit: f64,
) -> Option<Elimination> {
    let count = sizes.len();
    let logs: Vec<f64> = sizes.iter().map(|size| (*size as f64).ln()).collect();
    let mut scores: Vec<Option<(f64, f64)>> = vec![None; count];
    let mut alive = vec![true; count];
    let mut found = Elimination {
        order: Vec::with_capacity(count),
        later: vec![Vec::new(); count],
        cells: 0.0,
    };
    for _ in 0..count {
        let mut next: Option<(usize, (f64, f64))> = None;
        for vertex in (0..count).filter(|vertex| alive[*vertex]) {
            let score = *scores[vertex].get_or_insert_with(|| {
                let neighbours = graph.neighbours(vertex);
                let fill = graph.fill(vertex, &neighbours) as f64;
                let weight = logs[vertex] + neighbours.iter().map(|n| logs[*n]).sum::<f64>();
                match rule {
                    Rule::Fill => (fill, weight),
                    Rule::Weight => (weight, fill),
                }
            });
            let better = next.is_none_or(|(best, best_score)| {
                let order = score.0.total_cmp(&best_score.0);
                let order = order.then(score.1.total_cmp(&best_score.1));
                order.then(ties[vertex].cmp(&ties[best])).is_lt()
            });
            if better {
                next = Some((vertex, score));
            }
        }
        let Some((vertex, _)) = next else { break };
        let neighbours = graph.neighbours(vertex);
        let cells = neighbours.iter().map(|n| sizes[*n] as f64).product::<f64>();
        found.cells += cells * sizes[vertex] as f64;
        if found.cells >= limit {
            return None;
        }
        update(&mut graph, vertex, &neighbours, &mut scores);
        alive[vertex] = false;
        found.order.push(vertex);
        found.later[vertex] = neighbours;
    }
    Some(found)
}

/// Connects the neighbours of a vertex, removes it, and forgets the scores that change.
fn update(
    graph: &mut Graph,
    vertex: usize,
    neighbours: &[usize],
    scores: &mut [Option<(f64, f64)>],
) {
    let mut added = Vec::new();
    for (i, a) in neighbours.iter().enumerate() {
        for b in &neighbours[..i] {
            if !graph.has_edge(*a, *b) {
                graph.connect(*a, *b);
                added.push((*a, *b));
            }
        }
    }
    graph.disconnect(vertex, neighbours);
    neighbours.iter().for_each(|n| scores[*n] = None);
    // A new edge also reduces the fill of the vertices that are connected to both ends.
    for (a, b) in added {
        for word in 0..graph.words {
            let mut both = graph.row(a)[word] & graph.row(b)[word];
            while both != 0 {
                scores[word * 64 + both.trailing_zeros() as usize] = None;
                both &= both - 1;
            }
        }
    }
}
