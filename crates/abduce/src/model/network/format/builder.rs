//! Collects the variables and the tables of a file in the order in which they come, and then
//! makes the network. What [`Network::new`] refuses is refused here with the place in the file.

use super::numbers::Numbers;
use super::place::{at, error_at};
use crate::model::network::{Distribution, Network, Variable};
use crate::{Error, Result};
use std::collections::{HashMap, HashSet};

/// A file may expand shorthands, such as default rows, to this many numbers …
const ROOM: usize = 1 << 22;
/// … and to this many more per byte of the file.
const ROOM_PER_BYTE: usize = 2;

/// The variables and tables of a file.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    text: &'a str,
    declared: Vec<Declared>,
    positions: HashMap<String, usize>,
    /// How many more numbers shorthands may expand to.
    room: usize,
    notes: Vec<String>,
}

/// A variable, with its table once that has been read.
#[derive(Debug)]
struct Declared {
    name: String,
    states: Vec<String>,
    state_positions: HashMap<String, usize>,
    /// The byte offset of the declaration and then of the table.
    place: usize,
    definition: Option<(Vec<usize>, Vec<f64>)>,
}

impl<'a> Builder<'a> {
    /// No variables yet, of the file with this text.
    pub fn new(text: &'a str) -> Self {
        let room = text
            .len()
            .saturating_mul(ROOM_PER_BYTE)
            .saturating_add(ROOM);
        Builder {
            text,
            declared: Vec::new(),
            positions: HashMap::new(),
            room,
            notes: Vec::new(),
        }
    }

    /// An error at a byte offset.
    pub fn error(&self, place: usize, message: impl std::fmt::Display) -> Error {
        error_at(self.text, place, message)
    }

    /// Adds a note for the reader of the file.
    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Adds a variable that is declared at a byte offset.
    pub fn declare(&mut self, name: String, states: Vec<String>, place: usize) -> Result<()> {
        if states.is_empty() {
            return Err(self.error(place, format!("the variable \"{name}\" has no states")));
        }
        let mut state_positions = HashMap::with_capacity(states.len());
        for (position, state) in states.iter().enumerate() {
            if state_positions.insert(state.clone(), position).is_some() {
                let message = format!("the variable \"{name}\" has the state \"{state}\" twice");
                return Err(self.error(place, message));
            }
        }
        let position = self.declared.len();
        if self.positions.insert(name.clone(), position).is_some() {
            return Err(self.error(place, format!("two variables are named \"{name}\"")));
        }
        let definition = None;
        self.declared.push(Declared {
            name,
            states,
            state_positions,
            place,
            definition,
        });
        Ok(())
    }

    /// The position of the variable that is named at a byte offset.
    pub fn position(&self, name: &str, place: usize) -> Result<usize> {
        let position = self.positions.get(name).copied();
        position.ok_or_else(|| self.error(place, format!("there is no variable \"{name}\"")))
    }

    /// The position of the state that is named at a byte offset.
    pub fn state(&self, variable: usize, state: &str, place: usize) -> Result<usize> {
        let variable = &self.declared[variable];
        let position = variable.state_positions.get(state).copied();
        position.ok_or_else(|| {
            let name = &variable.name;
            self.error(
                place,
                format!("the variable \"{name}\" has no state \"{state}\""),
            )
        })
    }

    /// The name of a variable.
    pub fn name(&self, variable: usize) -> &str {
        &self.declared[variable].name
    }

    /// The number of states of a variable.
    pub fn states(&self, variable: usize) -> usize {
        self.declared[variable].states.len()
    }

    /// The number of configurations of these variables, unless it overflows.
    pub fn configurations(&self, variables: &[usize]) -> Option<usize> {
        variables.iter().try_fold(1usize, |product, variable| {
            product.checked_mul(self.states(*variable))
        })
    }

    /// The number of configurations of the parents, if the child's table may be expanded from
    /// a shorthand. Small files cannot ask for huge tables.
    pub fn expand(&mut self, child: usize, parents: &[usize], place: usize) -> Result<usize> {
        let states = self.states(child);
        let size = self
            .configurations(parents)
            .and_then(|configurations| Some((configurations, configurations.checked_mul(states)?)));
        match size {
            Some((configurations, size)) if size <= self.room => {
                self.room -= size;
                Ok(configurations)
            }
            _ => {
                let name = self.name(child);
                Err(self.error(place, format!("the table of \"{name}\" is too large")))
            }
        }
    }

    /// Sets the parents and the table of a variable. The places are those of the numbers, or a
    /// single one.
    pub fn define(
        &mut self,
        child: usize,
        parents: Vec<usize>,
        table: Numbers,
        place: usize,
    ) -> Result<()> {
        let name = self.name(child);
        if self.declared[child].definition.is_some() {
            return Err(self.error(place, format!("the variable \"{name}\" has two tables")));
        }
        let mut seen = HashSet::new();
        if let Some(parent) = parents.iter().find(|parent| !seen.insert(**parent)) {
            let parent = self.name(*parent);
            let message = format!("the variable \"{name}\" has the parent \"{parent}\" twice");
            return Err(self.error(place, message));
        }
        let states = self.states(child);
        let expected = self
            .configurations(&parents)
            .and_then(|rows| rows.checked_mul(states));
        if expected != Some(table.values.len()) {
            let expected = expected.map_or("too many".to_string(), |size| size.to_string());
            let found = table.values.len();
            let message = format!(
                "the table of \"{name}\" has {found} probabilities; {expected} are expected"
            );
            return Err(self.error(place, message));
        }
        self.check_rows(child, &table, place)?;
        self.declared[child].definition = Some((parents, table.values));
        self.declared[child].place = place;
        Ok(())
    }

    /// [`Network::new`] accepts each row of the table, alone. Only suspicious rows are tried.
    fn check_rows(&self, child: usize, table: &Numbers, place: usize) -> Result<()> {
        let Declared { name, states, .. } = &self.declared[child];
        for (row, probabilities) in table.values.chunks_exact(states.len()).enumerate() {
            let sum: f64 = probabilities.iter().sum();
            let plain = probabilities.iter().all(|p| (0.0..=1.0).contains(p));
            if plain && (sum - 1.0).abs() < 1e-6 {
                continue;
            }
            let variable = Variable {
                name: name.clone(),
                states: states.clone(),
                parents: Vec::new(),
                distribution: Distribution::Table(probabilities.to_vec()),
            };
            let row_place = table
                .places
                .get(row * states.len())
                .or(table.places.first());
            let row_place = row_place.copied().unwrap_or(place);
            at(self.text, row_place, Network::new(vec![variable]))?;
        }
        Ok(())
    }

    /// The network and the notes, if every variable has a table.
    pub fn finish(self) -> Result<(Network, Vec<String>)> {
        if self.declared.is_empty() {
            return Err(self.error(0, "the file has no variables"));
        }
        let mut places = Vec::with_capacity(self.declared.len());
        let mut variables = Vec::with_capacity(self.declared.len());
        for Declared {
            name,
            states,
            place,
            definition,
            ..
        } in self.declared
        {
            let Some((parents, table)) = definition else {
                let message = format!("the variable \"{name}\" has no table");
                return Err(error_at(self.text, place, message));
            };
            places.push((name.clone(), place));
            let distribution = Distribution::Table(table);
            variables.push(Variable {
                name,
                states,
                parents,
                distribution,
            });
        }
        match Network::new(variables) {
            Ok((network, notes)) => {
                let notes = self.notes.into_iter().chain(notes).collect();
                Ok((network, notes))
            }
            Err(error) => {
                // A cycle: the message ends with the name of a variable.
                let named = |name: &str| error.message().ends_with(&format!("\"{name}\""));
                let place = places.iter().find(|(name, _)| named(name));
                let place = place.map_or(0, |(_, place)| *place);
                at(self.text, place, Err(error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorthands_expand_to_a_multiple_of_the_file() {
        let mut builder = Builder::new("");
        let states = |count: usize| (0..count).map(|state| state.to_string()).collect();
        for name in ["a", "b", "c"] {
            builder.declare(name.into(), states(1 << 10), 0).unwrap();
        }
        assert_eq!(builder.expand(0, &[1], 0).unwrap(), 1 << 10);
        assert!(builder.expand(0, &[1, 2], 0).is_err());
        // The first expansion has used a quarter of the room.
        assert!((0..3).all(|_| builder.expand(0, &[1], 0).is_ok()));
        assert!(builder.expand(0, &[1], 0).is_err());
    }
}
