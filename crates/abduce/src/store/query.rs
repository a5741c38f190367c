//! Answering questions in the query language.

use super::Model;
use crate::Result;
use crate::ask::query::Answer;
use crate::ask::{QueryOptions, query};

impl Model {
    /// Answers a question such as `P(a | b=1)` with the default options: see
    /// [`query`](fn@crate::ask::query).
    ///
    /// # Errors
    /// If the question cannot be parsed, is not about columns of the model or has no answer.
    pub fn query(&self, question: &str) -> Result<Answer> {
        query(self.joint()?, question, &QueryOptions::default())
    }
}
