//! What a question consists of. Every word has its position, for error messages.

/// What is asked about some columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `P(…)`: a probability or a distribution.
    Probability,
    /// `E(…)`: a mean.
    Mean,
    /// `MAP(…)`: the most probable values.
    MostProbable,
}

/// A question: `P(a, b | c=1, d>2)`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    pub kind: Kind,
    pub asked: Vec<Term>,
    pub given: Vec<Evidence>,
}

/// A column that is asked about, or a condition on one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub column: Word,
    pub condition: Option<Condition>,
}

/// What is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Evidence {
    /// A column was observed: `x=1`, `x>2`.
    Observed { column: Word, condition: Condition },
    /// A column was set from outside: `do(x=1)`.
    Do { column: Word, condition: Condition },
}

/// A condition on the values of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    Compare(Operator, Word),
    In(Vec<Word>),
    Between(Word, Word),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// A name or a value without its quotes, and the position of its first character in the
/// question, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    pub text: String,
    pub position: usize,
}
