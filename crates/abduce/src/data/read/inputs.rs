//! The files of one table: columns matched by name, rows in the order of the arguments.

use crate::data::options::ReadOptions;
use crate::data::read::gather::gather;
use crate::data::read::input::{Input, STDIN};
use crate::data::read::{Batch, Batches, Frame, Known, Part, Parts};
use crate::{Error, Result};
use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// The files of one table and its columns.
pub(crate) struct Inputs {
    files: Vec<Input>,
    /// For each file, the position in it of each column of the table.
    pub positions: Vec<Vec<Option<usize>>>,
    /// The number of columns of each file.
    pub widths: Vec<usize>,
    /// The names of the table's columns.
    pub names: Vec<String>,
    /// The position of each name among them.
    index: HashMap<String, usize>,
    /// Which columns have no name in the files.
    pub unnamed: Vec<bool>,
    /// What each column holds, if the format determines it.
    pub known: Vec<Option<Known>>,
    pub options: ReadOptions,
    /// The column of weights, if rows of weight 0 are to be ignored.
    pub weight: Option<usize>,
    /// Notes about the files.
    pub notes: Vec<String>,
}

impl Inputs {
    /// Finds the files and matches their columns.
    pub fn new(arguments: &[String], options: &ReadOptions) -> Result<Inputs> {
        let (files, notes) = gather(arguments)?;
        Inputs::of(files, notes, options)
    }

    /// Batches in memory.
    pub fn in_memory(frame: Frame, options: &ReadOptions) -> Result<Inputs> {
        Inputs::of(vec![Input::in_memory(frame)], Vec::new(), options)
    }

    fn of(files: Vec<Input>, notes: Vec<String>, options: &ReadOptions) -> Result<Inputs> {
        let mut inputs = Inputs {
            files,
            positions: Vec::new(),
            widths: Vec::new(),
            names: Vec::new(),
            index: HashMap::new(),
            unnamed: Vec::new(),
            known: Vec::new(),
            options: options.clone(),
            weight: None,
            notes,
        };
        let headers = inputs
            .files
            .iter_mut()
            .map(|file| header(file, options).map_err(|error| error.at_file(&file.name)))
            .collect::<Result<Vec<_>>>()?;
        let all_sparse = inputs.files.iter().all(|file| file.format.sparse);
        for (number, header) in headers.iter().enumerate() {
            let file = &inputs.files[number];
            let known = (file.format.known)(file);
            for (at, (name, unnamed)) in header.iter().enumerate() {
                if (number == 0 || all_sparse) && inputs.position(name).is_none() {
                    inputs.index.insert(name.clone(), inputs.names.len());
                    inputs.names.push(name.clone());
                    inputs.unnamed.push(*unnamed);
                    inputs.known.push(known.get(at).copied());
                }
            }
        }
        for (file, header) in inputs.files.iter().zip(&headers) {
            inputs.positions.push(inputs.positions_in(file, header)?);
            inputs.widths.push(header.len());
        }
        Ok(inputs)
    }

    fn positions_in(&self, file: &Input, header: &[(String, bool)]) -> Result<Vec<Option<usize>>> {
        let first = &self.files[0].name;
        let at: HashMap<&str, usize> = header
            .iter()
            .enumerate()
            .map(|(at, (name, _))| (name.as_str(), at))
            .collect();
        let positions: Vec<Option<usize>> = self
            .names
            .iter()
            .map(|name| at.get(name.as_str()).copied())
            .collect();
        let absent = positions.iter().position(Option::is_none);
        if let Some(absent) = absent.filter(|_| !file.format.sparse) {
            return Err(
                Error::data(format!("{first} has this column, this file does not"))
                    .at_file(&file.name)
                    .at_column(&self.names[absent]),
            );
        }
        let mut names = header.iter();
        if let Some((extra, _)) = names.find(|(name, _)| self.position(name).is_none()) {
            return Err(
                Error::data(format!("this file has this column, {first} does not"))
                    .at_file(&file.name)
                    .at_column(extra),
            );
        }
        Ok(positions)
    }

    /// The position of a column in the table.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// Whether the names were read from the first line of text files.
    pub fn named_by_a_line(&self) -> bool {
        let given = self.options.no_header || self.options.names.is_some();
        let mut formats = self.files.iter().map(|file| file.format);
        !given && formats.all(|format| !format.seeks && !format.sparse)
    }

    /// Whether a file is a folder of texts or a mailbox.
    pub fn is_of_texts(&self, file: usize) -> bool {
        let file = &self.files[file];
        (file.format.known)(file).contains(&Known::Text)
    }

    /// The file of a text in a folder, by the text's number.
    pub fn file_of_text(&self, file: usize, number: u64) -> Option<String> {
        let files = self.files[file].files();
        let file = files.get(usize::try_from(number).ok()?.checked_sub(1)?)?;
        Some(file.to_string_lossy().into_owned())
    }

    /// The names of the files.
    pub fn files(&self) -> Vec<String> {
        self.files.iter().map(|file| file.name.clone()).collect()
    }

    /// The name of one file.
    pub fn name(&self, file: usize) -> &str {
        &self.files[file].name
    }

    /// The rows of one file, and the position in it of each column of the table.
    pub fn batches(&self, file: usize, wanted: &[bool]) -> Result<(Batches, &[Option<usize>])> {
        let (input, wanted) = (&self.files[file], self.wanted_in(file, wanted));
        let batches = guarded(|| (input.format.batches)(input, &self.options, &wanted))
            .map_err(|error| error.at_file(&input.name))?;
        Ok((batches, &self.positions[file]))
    }

    /// The rows of one file in parts that several threads can decode.
    pub fn parts(&self, file: usize, wanted: &[bool]) -> Result<Parts> {
        let (input, wanted) = (&self.files[file], self.wanted_in(file, wanted));
        let Some(parts) = input.format.parts else {
            let batches = guarded(|| (input.format.batches)(input, &self.options, &wanted))?;
            return Ok(Box::new(batches.map(|batch| batch.map(Part::Batch))));
        };
        guarded(|| parts(input, &self.options, &wanted))
    }

    /// Which columns of a file are wanted.
    fn wanted_in(&self, file: usize, wanted: &[bool]) -> Vec<bool> {
        let mut wanted_here = vec![false; self.widths[file]];
        for (position, wanted) in self.positions[file].iter().zip(wanted) {
            if let Some(position) = position {
                wanted_here[*position] = *wanted;
            }
        }
        wanted_here
    }

    /// The rows of one file with all of their cells, readable or not.
    pub fn raw_batches(&self, file: usize, wanted: &[bool]) -> Result<(Batches, &[Option<usize>])> {
        // JSON lines keep the text of all cells, and fail only for nested wanted ones.
        if self.files[file].format.sparse {
            self.batches(file, &vec![false; wanted.len()])
        } else {
            self.batches(file, wanted)
        }
    }

    /// The next rows of one file.
    pub fn next_batch(&self, file: usize, batches: &mut Batches) -> Result<Option<Batch>> {
        guarded(|| batches.next().transpose())
            .map_err(|error| error.at_file(&self.files[file].name))
    }
}

/// The column that holds the classes, if the format of a file determines it.
pub(crate) fn label_column(arguments: &[String], options: &ReadOptions) -> Result<Option<String>> {
    let read_once = |argument: &String| {
        let found = std::fs::metadata(argument);
        argument == STDIN || found.is_ok_and(|found| !found.is_file() && !found.is_dir())
    };
    if arguments.iter().any(read_once) {
        return Ok(None);
    }
    for file in &mut gather(arguments)?.0 {
        let known = (file.format.known)(file);
        if let Some(at) = known.iter().position(|known| *known == Known::Label) {
            let names = header(file, options).map_err(|error| error.at_file(&file.name))?;
            return Ok(names.into_iter().nth(at).map(|(name, _)| name));
        }
    }
    Ok(None)
}

thread_local! {
    /// Whether this thread runs a decoder whose panics are caught.
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Installs a panic hook that prints nothing for panics of decoders.
fn silence_decoders() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !DECODING.try_with(Cell::get).unwrap_or(false) {
                before(panic);
            }
        }));
    });
}

/// Turns a panic of a decoder, which a damaged file may cause, into an error.
pub(super) fn guarded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    silence_decoders();
    let outer = DECODING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    DECODING.set(outer);
    result.unwrap_or_else(|_| {
        Err(Error::data("the file is damaged and cannot be decoded")
            .with_hint("write it again with the program it comes from"))
    })
}

/// The columns' names, each with whether the file leaves it unnamed.
fn header(file: &mut Input, options: &ReadOptions) -> Result<Vec<(String, bool)>> {
    file.header = guarded(|| (file.format.header)(file, options))?;
    let names = file.header.clone();
    let names = match &options.names {
        None => names,
        Some(given) if given.len() == names.len() => given.clone(),
        Some(given) => {
            return Err(Error::parameter(format!(
                "{} given for {}",
                match given.len() {
                    1 => "1 name is".to_string(),
                    many => format!("{many} names are"),
                },
                match names.len() {
                    1 => "1 column".to_string(),
                    many => format!("{many} columns"),
                }
            )));
        }
    };
    let named: Vec<(String, bool)> = names
        .into_iter()
        .enumerate()
        .map(|(at, name)| match name.trim() {
            "" => (format!("column_{}", at + 1), !options.no_header),
            name => (name.to_string(), false),
        })
        .collect();
    let mut seen = HashMap::new();
    for (at, (name, _)) in named.iter().enumerate() {
        if let Some(before) = seen.insert(name, at) {
            return Err(Error::data(format!(
                "columns {} and {} have the same name",
                before + 1,
                at + 1
            ))
            .at_column(name)
            .with_hint("rename one, or name all columns with `names`"));
        }
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_decoder_becomes_an_error_without_its_message() {
        let error = guarded::<()>(|| panic!("index 7 out of bounds")).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Data);
        let message = error.to_string();
        assert!(
            message.contains("damaged") && !message.contains("index 7"),
            "{message}"
        );
        assert!(!DECODING.get(), "panics that follow are reported");
        // The outer guard of two stays in force.
        let outer = guarded(|| {
            let inner = guarded::<()>(|| panic!("inner"));
            assert!(inner.is_err());
            Ok(DECODING.get())
        });
        assert!(outer.unwrap());
    }
}
