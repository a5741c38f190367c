//! A question about the columns of a model: names become positions, conditions become sets of
//! values.

use super::ast::{Condition, Evidence, Kind, Operator, Question, Term, Word};
use super::parser::parse;
use super::sets::Set;
use crate::ask::Joint;
use crate::data::{Field, Kind as ColumnKind, listed, nearest};
use crate::{Error, Result};

/// The name by which the component of a mixture is asked about.
const COMPONENT: &str = "component";

/// A question about the columns of a model.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub kind: Kind,
    /// The columns; behind those of the schema the component of a mixture, if the model has
    /// components.
    pub fields: Vec<Field>,
    /// What is asked about, each column once.
    pub asked: Vec<Asked>,
    /// The known values of the columns of the schema.
    pub given: Vec<Option<f64>>,
    /// The columns known to be in a set.
    pub evidence: Vec<(usize, Set)>,
}

/// A column that is asked about, or whether it is in a set.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub column: usize,
    pub event: Option<Set>,
    pub position: usize,
}

impl Bound {
    /// Reads a question to a model.
    ///
    /// # Errors
    /// If it is not a question, or not one about columns of the model.
    pub fn new(model: &dyn Joint, text: &str, components: Option<&[String]>) -> Result<Bound> {
        let fields = fields_of(model, components);
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let question = parse(text, &names)?;
        let mut bound = Bound {
            kind: question.kind,
            given: vec![None; model.schema().fields.len()],
            asked: Vec::new(),
            evidence: Vec::new(),
            fields,
        };
        bound.bind(&question)?;
        Ok(bound)
    }

    fn bind(&mut self, question: &Question) -> Result<()> {
        for evidence in &question.given {
            self.add_evidence(evidence)?;
        }
        for term in &question.asked {
            self.add_asked(term)?;
        }
        let events = question
            .asked
            .iter()
            .filter(|term| term.condition.is_some());
        match (self.kind, events.count()) {
            (_, 0) => {}
            (Kind::Probability, count) if count == question.asked.len() => {}
            _ => return Err(mixed(question)),
        }
        let is_number = |asked: &&Asked| asked.event.is_none() && !self.is_coded(asked.column);
        match (self.kind, self.asked.as_slice()) {
            (Kind::Mean, [_, second, ..]) => {
                let error = Error::parameter("E takes one column at a time");
                Err(error.at_position(second.position))
            }
            (Kind::Mean, [only]) if self.is_coded(only.column) => Err(self.no_mean(only)),
            (_, [_]) => Ok(()),
            (_, several) => match several.iter().find(is_number) {
                Some(asked) => Err(self.no_table(asked)),
                None => Ok(()),
            },
        }
    }

    fn no_mean(&self, asked: &Asked) -> Error {
        Error::parameter("the column holds levels, which have no mean")
            .at_column(&self.fields[asked.column].name)
            .at_position(asked.position)
            .with_hint("ask P or MAP of it")
    }

    fn no_table(&self, asked: &Asked) -> Error {
        Error::parameter("a question about several columns needs columns of levels")
            .at_column(&self.fields[asked.column].name)
            .at_position(asked.position)
            .with_hint("ask about numbers by themselves, or for the probability of intervals")
    }

    fn add_evidence(&mut self, evidence: &Evidence) -> Result<()> {
        let (column, condition) = match evidence {
            Evidence::Observed { column, condition } => (column, condition),
            Evidence::Do { column, .. } => {
                let error = Error::parameter("interventions are not supported");
                return Err(error.at_position(column.position).with_hint(format!(
                    "write {}=… for a value that was observed",
                    column.text
                )));
            }
        };
        let place = self.place(column)?;
        let set = Set::new(&self.fields[place], condition)?;
        let is_equality = is_equality(condition);
        let known = self.given.get(place).is_some_and(Option::is_some);
        let before = self.evidence.iter_mut().find(|(known, _)| *known == place);
        match (before, set.single().filter(|_| is_equality)) {
            (Some((_, before)), None) if !known => *before = before.intersection(&set),
            (None, Some(x)) if !known && place < self.given.len() => self.given[place] = Some(x),
            (None, _) if !known => self.evidence.push((place, set)),
            _ => return Err(at(column, "is given twice")),
        }
        Ok(())
    }

    fn add_asked(&mut self, term: &Term) -> Result<()> {
        let Term { column, condition } = term;
        let place = self.place(column)?;
        if self.fields[place].kind == ColumnKind::Text {
            return Err(at(
                column,
                "is text, and questions about texts are not supported",
            ));
        }
        if self.given.get(place).is_some_and(Option::is_some) {
            return Err(at(column, "is both asked about and given"));
        }
        let event = condition
            .as_ref()
            .map(|condition| Set::new(&self.fields[place], condition));
        let event = event.transpose()?;
        let before = self.asked.iter_mut().find(|asked| asked.column == place);
        match (before, event) {
            (None, event) => self.asked.push(Asked {
                column: place,
                event,
                position: column.position,
            }),
            (
                Some(Asked {
                    event: Some(before),
                    ..
                }),
                Some(event),
            ) if !condition.as_ref().is_some_and(is_equality) => {
                *before = before.intersection(&event);
            }
            _ => return Err(at(column, "is asked about twice")),
        }
        Ok(())
    }

    pub fn is_coded(&self, column: usize) -> bool {
        self.fields[column].kind.is_coded()
    }

    /// The place of the component among the fields, if the model has components.
    pub fn component(&self) -> Option<usize> {
        (self.fields.len() > self.given.len()).then_some(self.given.len())
    }

    /// The columns of the schema that are asked about or known to be in a set, each once.
    pub fn columns(&self) -> Vec<usize> {
        let asked = self.asked.iter().map(|asked| asked.column);
        let known = self.evidence.iter().map(|(column, _)| *column);
        let mut columns: Vec<usize> = asked.chain(known).collect();
        columns.retain(|column| *column < self.given.len());
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Whether a column is asked about or known to be in a set.
    pub fn concerns(&self, column: usize) -> bool {
        self.asked.iter().any(|asked| asked.column == column) || self.known(column).is_some()
    }

    /// The set that a column is known to be in.
    pub fn known(&self, column: usize) -> Option<&Set> {
        let mut evidence = self.evidence.iter();
        evidence
            .find(|(known, _)| *known == column)
            .map(|(_, set)| set)
    }

    fn place(&self, column: &Word) -> Result<usize> {
        let mut fields = self.fields.iter();
        let place = fields.position(|field| field.name == column.text);
        place.ok_or_else(|| {
            let names: Vec<String> = self.fields.iter().map(|field| field.name.clone()).collect();
            let near = nearest(&column.text, &names);
            let meant = near.map_or(String::new(), |near| format!("did you mean {near}? "));
            let all = listed(names.iter().map(String::as_str));
            Error::parameter(format!("there is no column \"{}\"", column.text))
                .at_position(column.position)
                .with_hint(format!("{meant}the columns are {all}"))
        })
    }
}

/// The columns of a model, and behind them the component of one without a target.
fn fields_of(model: &dyn Joint, components: Option<&[String]>) -> Vec<Field> {
    let mut fields = model.schema().fields.clone();
    let is_free = fields.iter().all(|field| field.name != COMPONENT);
    if model.target().is_none() && model.has_groups() && is_free {
        let names = components.map_or_else(|| model.names(), <[String]>::to_vec);
        fields.push(Field::with_levels(
            COMPONENT,
            ColumnKind::Categorical,
            names,
        ));
    }
    fields
}

fn is_equality(condition: &Condition) -> bool {
    matches!(condition, Condition::Compare(Operator::Equal, _))
}

fn at(column: &Word, what: &str) -> Error {
    Error::parameter(format!("column \"{}\" {what}", column.text)).at_position(column.position)
}

/// Conditions where there may be none, or only on some columns.
fn mixed(question: &Question) -> Error {
    let is_event = |term: &&Term| term.condition.is_some();
    let message = match question.kind {
        Kind::Probability => "either all columns have a condition or none has",
        Kind::Mean => "E takes a column without a condition",
        Kind::MostProbable => "MAP takes columns without conditions",
    };
    let wrong = match question.kind {
        Kind::Probability => question.asked.iter().find(|term| !is_event(term)),
        _ => question.asked.iter().find(is_event),
    };
    let error = Error::parameter(message);
    match wrong {
        Some(term) => error.at_position(term.column.position),
        None => error,
    }
}
