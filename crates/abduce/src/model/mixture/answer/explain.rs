//! Explanations of predictions: for each leaf, the log-density under one component minus that
//! under another; for text leaves, word by word.

use crate::ask::{Contribution, Explanation};
use crate::data::{Cells, Chunk, Rows};
use crate::family::{Distribution, Words};
use crate::leaf::Leaf;
use crate::model::mixture::FittedMixture;

impl FittedMixture {
    pub(crate) fn explanation(
        &self,
        chunk: &Chunk,
        row: usize,
        class: usize,
        against: usize,
    ) -> Explanation {
        let weights = &self.answering_parameters().weights;
        let mut all = vec![Contribution {
            columns: Vec::new(),
            word: None,
            log_odds: weights[class].ln() - weights[against].ln(),
        }];
        let leaves = self.leaves.iter().enumerate();
        for (number, leaf) in leaves.filter(|(_, leaf)| !leaf.fixed) {
            let columns = leaf.columns.iter().map(|c| chunk.column(*c).cells(row, 1));
            let cells: Vec<Cells> = columns.collect();
            if leaf.family.is_text() && cells[0].terms().is_some() {
                self.explain_words(number, &cells[0], (class, against), &mut all);
                continue;
            }
            let log_density = |component: usize| self.log_density_of(number, &cells, component);
            all.push(Contribution {
                columns: self.column_names(leaf),
                word: None,
                log_odds: difference(log_density(class), log_density(against)),
            });
        }
        let names = self.names();
        Explanation::new(&names[class], &names[against], all)
    }

    fn column_names(&self, leaf: &Leaf) -> Vec<String> {
        let fields = leaf.columns.iter().map(|c| &self.schema.fields[*c]);
        fields.map(|field| field.name.clone()).collect()
    }

    /// The log-density of one row under a component of a leaf.
    fn log_density_of(&self, leaf: usize, cells: &[Cells], component: usize) -> f64 {
        let code = cells[0].codes().first().filter(|_| cells[0].is_seen(0));
        let levels = self.leaves[leaf].family.levels();
        if let (Some(code), Some(levels)) = (code, levels)
            && *code as usize >= levels
        {
            let unseen = self.answering_parameters().unseen.get(leaf);
            return unseen
                .and_then(|probabilities| probabilities.get(component))
                .map_or(f64::NEG_INFINITY, |p| p.ln());
        }
        let mut out = [0.0];
        let rows = Rows::new(cells);
        match &self.answering_parameters().leaves[leaf][component] {
            Distribution::UniformBox(noise) => noise.add_log_density_everywhere(&rows, &mut out),
            distribution => distribution.add_log_density(&rows, &mut out),
        }
        out[0]
    }

    /// Adds the contribution of each word of a document.
    fn explain_words(
        &self,
        leaf: usize,
        cells: &Cells,
        (class, against): (usize, usize),
        all: &mut Vec<Contribution>,
    ) {
        let (Some(documents), true) = (cells.terms(), cells.is_seen(0)) else {
            return;
        };
        let components = &self.answering_parameters().leaves[leaf];
        let columns = self.column_names(&self.leaves[leaf]);
        let encoder = self.schema.fields[self.leaves[leaf].columns[0]]
            .text
            .as_ref();
        let word = |code: u32| match encoder.and_then(|text| text.encoding.term(code)) {
            Some(term) => term.to_string(),
            None => format!("#{code}"),
        };
        let (codes, counts) = documents.row(0);
        let mut add = |word: String, log_odds: f64| {
            all.push(Contribution {
                columns: columns.clone(),
                word: Some(word),
                log_odds,
            });
        };
        match (&components[class], &components[against]) {
            (Distribution::Words(a), Distribution::Words(b)) => {
                let words = codes.iter().zip(counts);
                let words = words.filter(|(code, _)| a.probabilities[**code as usize] < 1.0);
                let words: f64 = words.map(|(_, count)| count).sum();
                for (code, count) in codes.iter().zip(counts) {
                    let share = |component: &Words| component.share(*code as usize, *count, words);
                    add(word(*code), difference(share(a), share(b)));
                }
            }
            (Distribution::Presence(a), Distribution::Presence(b)) => {
                let mut absent = 0.0;
                let mut present = codes.iter().peekable();
                for term in 0..a.probabilities.len() {
                    let occurs = present.next_if(|code| **code as usize == term).is_some();
                    let log_odds = difference(
                        a.log_probability(term, occurs),
                        b.log_probability(term, occurs),
                    );
                    if occurs {
                        add(word(term as u32), log_odds);
                    } else {
                        absent += log_odds;
                    }
                }
                add("(absent words)".into(), absent);
            }
            _ => {}
        }
    }
}

/// a − b; 0 if both are −∞.
fn difference(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { a - b }
}
