//! Runs the binary and checks its output.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The exit code and the output of a run.
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    pub fn of(output: Output) -> Outcome {
        Outcome {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Checks that the exit code is 0.
    #[track_caller]
    pub fn succeeds(self) -> Outcome {
        assert_eq!(self.code, 0, "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// The lines of stdout.
    pub fn lines(&self) -> Vec<&str> {
        self.stdout.lines().collect()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}", self.stdout))
    }

    /// Checks the exit code, and that there is one error line that contains all of `words`.
    #[track_caller]
    pub fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "", "nothing is printed to stdout on errors");
        let errors = self.stderr.lines().filter(|l| l.starts_with("error: "));
        let errors: Vec<&str> = errors.collect();
        assert_eq!(errors.len(), 1, "{}", self.stderr);
        for word in words {
            assert!(errors[0].contains(word), "no {word} in {}", errors[0]);
        }
    }
}

pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_abduce"));
    command.args(arguments).stdin(Stdio::null());
    command
}

pub fn abduce(arguments: &[&str]) -> Outcome {
    Outcome::of(command(arguments).output().unwrap())
}

pub fn abduce_reading(arguments: &[&str], stdin: &str) -> Outcome {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(stdin.as_bytes()).unwrap();
    drop(pipe);
    Outcome::of(child.wait_with_output().unwrap())
}

/// A temporary folder.
pub struct Files(tempfile::TempDir);

impl Files {
    pub fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        std::fs::write(self.0.path().join(name), bytes).unwrap();
        self.path(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    /// The names of all files, in order.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let name = |e: std::io::Result<std::fs::DirEntry>| e.unwrap().file_name();
        let mut names: Vec<String> = entries
            .map(|entry| name(entry).into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Fits a model with these arguments and returns the path of its file.
    #[track_caller]
    pub fn fit(&self, arguments: &[&str]) -> String {
        let model = self.path("model.abduce");
        let all: Vec<&str> = ["fit"]
            .iter()
            .chain(arguments)
            .chain(&["-o", &model])
            .copied()
            .collect();
        abduce(&all).succeeds();
        model
    }
}

/// The path of a bundled table.
pub fn data(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    folder.join("data").join(name).display().to_string()
}

/// The penguins without the label of every other row.
pub fn half_labelled() -> String {
    let text = std::fs::read_to_string(data("penguins.csv")).unwrap();
    let lines = text.lines().enumerate().map(|(number, line)| {
        let (_, rest) = line.split_once(',').unwrap();
        if number > 0 && number % 2 == 0 {
            format!(",{rest}\n")
        } else {
            format!("{line}\n")
        }
    });
    lines.collect()
}
