//! A mixture explains itself: every leaf's log-density under one component less
//! that under another, word by word where a leaf is over text.

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
        let weights = &self.asked().weights;
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
                columns: self.names_of(leaf),
                word: None,
                log_odds: difference(log_density(class), log_density(against)),
            });
        }
        let names = self.names();
        Explanation::new(&names[class], &names[against], all)
    }

    fn names_of(&self, leaf: &Leaf) -> Vec<String> {
        let fields = leaf.columns.iter().map(|c| &self.schema.fields[*c]);
        fields.map(|field| field.name.clone()).collect()
    }

    /// What a leaf says of one row under a component.
    fn log_density_of(&self, leaf: usize, cells: &[Cells], component: usize) -> f64 {
        let code = cells[0].codes().first().filter(|_| cells[0].is_seen(0));
        let levels = self.leaves[leaf].family.levels();
        if let (Some(code), Some(levels)) = (code, levels)
            && *code as usize >= levels
        {
            let unseen = self.asked().unseen.get(leaf);
            return unseen
                .and_then(|own| own.get(component))
                .map_or(f64::NEG_INFINITY, |p| p.ln());
        }
        let mut out = [0.0];
        let rows = Rows::new(cells);
        match &self.asked().leaves[leaf][component] {
            Distribution::UniformBox(noise) => noise.add_log_density_everywhere(&rows, &mut out),
            own => own.add_log_density(&rows, &mut out),
        }
        out[0]
    }

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
        let own = &self.asked().leaves[leaf];
        let columns = self.names_of(&self.leaves[leaf]);
        let encoder = self.schema.fields[self.leaves[leaf].columns[0]]
            .text
            .as_ref();
        let word = |code: u32| match encoder.and_then(|own| own.encoding.term(code)) {
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
        match (&own[class], &own[against]) {
            (Distribution::Words(a), Distribution::Words(b)) => {
                let words = codes.iter().zip(counts);
                let words = words.filter(|(code, _)| a.probabilities[**code as usize] < 1.0);
                let words: f64 = words.map(|(_, count)| count).sum();
                for (code, count) in codes.iter().zip(counts) {
                    let share = |own: &Words| own.share(*code as usize, *count, words);
                    add(word(*code), difference(share(a), share(b)));
                }
            }
            (Distribution::Presence(a), Distribution::Presence(b)) => {
                let mut absent = 0.0;
                let mut present = codes.iter().peekable();
                for term in 0..a.probabilities.len() {
                    let occurs = present.next_if(|code| **code as usize == term).is_some();
                    let log = |own: &crate::family::Presence| own.log_probability(term, occurs);
                    let log_odds = difference(log(a), log(b));
                    match occurs {
                        true => add(word(term as u32), log_odds),
                        false => absent += log_odds,
                    }
                }
                add("(words that are not there)".into(), absent);
            }
            _ => {}
        }
    }
}

/// Two impossibilities speak for neither.
fn difference(a: f64, b: f64) -> f64 {
    match a == b {
        true => 0.0,
        false => a - b,
    }
}
