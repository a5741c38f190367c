//! The worked examples, a file per group. A new group is a file, its `mod` line
//! and its line in the list.

pub struct Stop {
    pub name: &'static str,
    pub run: fn() -> abduce::Result<Vec<Line>>,
}

pub struct Line {
    pub name: String,
    pub expected: String,
    pub obtained: String,
    pub ok: bool,
}

pub const STOPS: &[Stop] = &[];
