//! Expands arguments to inputs: files, globs, standard input, and folders of texts. The
//! folders in a folder are classes; so are several mailboxes, or several folders without
//! classes.

use crate::data::read::Known;
use crate::data::read::input::{Input, STDIN, extension, named_format};
use crate::data::read::texts::MAILBOX;
use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// The inputs that the arguments name, and notes about them.
pub(super) fn gather(arguments: &[String]) -> Result<(Vec<Input>, Vec<String>)> {
    let mut inputs = Vec::new();
    let mut notes = Vec::new();
    for argument in expand(arguments)? {
        if argument != STDIN && Path::new(&argument).is_dir() {
            let (found, note) = folder(&argument)?;
            inputs.extend(found);
            notes.extend(note);
        } else {
            inputs.push(Input::new(&argument)?);
        }
    }
    let has_no_class = |input: &Input| (input.format.known)(input) == [Known::Text];
    if inputs.len() > 1 && inputs.iter().all(has_no_class) {
        for place in 0..inputs.len() {
            let class = class_name(&inputs[place]);
            let mailbox = inputs[place].files().is_empty();
            let mut before = inputs[..place].iter();
            let same = before.find(|input| input.class.as_ref() == Some(&class));
            if let Some(same) = same.filter(|_| mailbox) {
                let message = format!(
                    "this and {} have the same class name, \"{class}\"",
                    same.name
                );
                return Err(Error::parameter(message)
                    .at_file(&inputs[place].name)
                    .with_hint("join or rename them, or put them into a folder for each class"));
            }
            inputs[place].class = Some(class);
        }
    }
    Ok((inputs, notes))
}

/// The name of a mailbox or a folder as a class: without its path and extensions.
fn class_name(input: &Input) -> String {
    let path = Path::new(&input.name);
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy().into_owned();
    let end = extension(&name).filter(|_| input.files().is_empty());
    let end = end.and_then(|end| name.to_ascii_lowercase().rfind(&format!(".{end}")));
    end.map_or(name.clone(), |end| name[..end].to_string())
}

/// The inputs in a folder.
fn folder(argument: &str) -> Result<(Vec<Input>, Vec<String>)> {
    let path = Path::new(argument);
    let Entries { folders, files } = Entries::of(path)?;
    let is_maildir_part = |folder: &PathBuf| {
        let mut parts = ["cur", "new", "tmp"].iter();
        parts.any(|part| folder.ends_with(part))
    };
    if folders.is_empty() && files.iter().all(|file| is_mailbox(file)) && !files.is_empty() {
        let inputs = files.iter().map(|file| Input::new(&file.to_string_lossy()));
        return Ok((inputs.collect::<Result<_>>()?, Vec::new()));
    }
    if folders.iter().all(is_maildir_part) {
        let input = Input::folder(argument.to_string(), None, texts_in(path)?);
        return Ok((vec![input], Vec::new()));
    }
    let class = |folder: &PathBuf| -> Result<Input> {
        let class = folder.file_name().unwrap_or_default().to_string_lossy();
        let name = folder.to_string_lossy().into_owned();
        Ok(Input::folder(
            name,
            Some(class.into_owned()),
            texts_in(folder)?,
        ))
    };
    let mut notes = Vec::new();
    let mut inputs = Vec::new();
    for folder in &folders {
        if is_empty(folder)? && folders.len() > 1 {
            notes.push(format!(
                "{}: there is no file in this folder, so it is not a class",
                folder.display()
            ))
        } else {
            inputs.push(class(folder)?)
        }
    }
    if inputs.is_empty() {
        return Err(Error::io("there is no file in this folder").at_file(argument));
    }
    notes.extend(files.first().map(|first| {
        format!(
            "{}: files next to the class folders are left out",
            first.display()
        )
    }));
    Ok((inputs, notes))
}

fn is_mailbox(file: &Path) -> bool {
    let format = named_format(&file.to_string_lossy());
    format.is_some_and(|format| format.name == MAILBOX.name)
}

/// The entries of a folder that are not hidden, sorted by name.
struct Entries {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Entries {
    fn of(path: &Path) -> Result<Entries> {
        let failed = |error: std::io::Error| {
            Error::io(format!("the folder cannot be read: {error}")).at_file(path.to_string_lossy())
        };
        let mut entries = Entries {
            folders: Vec::new(),
            files: Vec::new(),
        };
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            match std::fs::metadata(entry.path()) {
                Ok(found) if found.is_dir() => entries.folders.push(entry.path()),
                Ok(found) if !found.is_file() => {}
                // Opening the file will report the error.
                _ => entries.files.push(entry.path()),
            }
        }
        entries.folders.sort();
        entries.files.sort();
        Ok(entries)
    }
}

/// Whether there is no file in a folder or its subfolders.
fn is_empty(path: &Path) -> Result<bool> {
    let Entries { folders, files } = Entries::of(path)?;
    if !files.is_empty() {
        return Ok(false);
    }
    for folder in folders.iter().filter(|folder| !folder.is_symlink()) {
        if !is_empty(folder)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// All files in a folder and its subfolders, sorted by name.
fn texts_in(path: &Path) -> Result<Vec<PathBuf>> {
    let mut texts = Vec::new();
    let mut open = vec![path.to_path_buf()];
    while let Some(folder) = open.pop() {
        let entries = Entries::of(&folder)?;
        // Links to folders may form a cycle.
        open.extend(
            entries
                .folders
                .into_iter()
                .filter(|folder| !folder.is_symlink()),
        );
        texts.extend(entries.files);
    }
    texts.sort();
    if texts.is_empty() {
        return Err(Error::io("there is no file in this folder").at_file(path.to_string_lossy()));
    }
    if let Some(table) = texts.iter().find(|file| is_table(file)) {
        let end = extension(&table.to_string_lossy()).unwrap_or_default();
        return Err(Error::data("this is a table in a folder of texts")
            .at_file(table.to_string_lossy())
            .with_hint(format!(
                "take it out, or name the tables themselves, for example with folder/*.{end}"
            )));
    }
    Ok(texts)
}

/// Whether the extension of a file is that of a table, other than `.txt`.
fn is_table(file: &Path) -> bool {
    let name = file.to_string_lossy();
    let format = named_format(&name).filter(|_| extension(&name).as_deref() != Some("txt"));
    format.is_some_and(|format| format.name != MAILBOX.name)
}

/// The arguments with globs expanded.
fn expand(arguments: &[String]) -> Result<Vec<String>> {
    if arguments.is_empty() {
        return Err(Error::parameter("no file is given"));
    }
    if arguments.iter().filter(|a| *a == STDIN).count() > 1 {
        return Err(Error::parameter("standard input is given twice")
            .with_hint("it can be read only once; give - a single time"));
    }
    let mut files = Vec::new();
    for argument in arguments {
        let pattern = argument.contains(['*', '?', '[']);
        if !pattern || std::fs::exists(argument).unwrap_or(false) {
            files.push(argument.clone());
            continue;
        }
        let paths = glob::glob(argument).map_err(|error| {
            Error::parameter(format!("\"{argument}\" is not a pattern of names: {error}"))
        })?;
        let before = files.len();
        for path in paths {
            let path = path.map_err(|error| Error::io(error.to_string()).at_file(argument))?;
            files.push(path.to_string_lossy().into_owned());
        }
        if files.len() == before {
            return Err(Error::io("no file has a name like this").at_file(argument));
        }
    }
    Ok(files)
}
