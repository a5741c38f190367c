//! Closed pipes, atomic output files, and signals.

use crate::run::{Files, abduce, command, data};
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

#[test]
fn a_closed_stdout_ends_the_command_without_an_error() {
    let files = Files::new();
    let model = files.fit(&["naive-bayes", &data("penguins.csv"), "--target", "species"]);
    let mut child = command(&["sample", &model, "-n", "1000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut line).unwrap();
    drop(reader);
    let ended = child.wait_with_output().unwrap();
    assert!(line.starts_with("species,"));
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "");
}

#[test]
fn a_failed_command_leaves_the_old_file_and_no_temporary_one() {
    let files = Files::new();
    let model = files.fit(&["mixture", &data("faithful.csv"), "-k", "2"]);
    let out = files.write("out.csv", "as it was\n");
    let ragged = files.write("ragged.csv", "eruptions,waiting\n1,2\n3\n");
    abduce(&["predict", &model, &ragged, "-o", &out]).fails(2, &["line 3"]);
    abduce(&["fit", "mixture", &ragged, "-k", "2", "-o", &model]).fails(2, &["line 3"]);
    assert_eq!(files.read("out.csv"), "as it was\n");
    abduce(&["show", &model]).succeeds();
    assert_eq!(files.names(), ["model.abduce", "out.csv", "ragged.csv"]);
}

#[cfg(unix)]
#[test]
fn results_have_the_usual_permissions_and_links_stay_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let files = Files::new();
    let model = files.fit(&["mixture", &data("faithful.csv"), "-k", "2"]);
    let plain = files.write("plain", "");
    let mode = |path: &str| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&model), mode(&plain));
    let link = files.path("link.csv");
    symlink(&plain, &link).unwrap();
    abduce(&["sample", &model, "-n", "2", "-o", &link]).succeeds();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(files.read("plain").lines().count(), 3);
    abduce(&["sample", &model, "-n", "2", "-o", "/dev/null"]).succeeds();
}

#[cfg(unix)]
fn send(signal: &str, child: &std::process::Child) {
    let id = child.id().to_string();
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args([signal, &id]).status().unwrap().success());
}

/// Interrupts an endless fit by a signal after its first iteration. Returns the exit code and
/// the messages.
#[cfg(unix)]
fn interrupted_fit(table: &str, more: &[&str], signal: &str) -> (Option<i32>, String) {
    let endless = [
        "fit",
        "mixture",
        table,
        "-k",
        "12",
        "--tol",
        "0",
        "--max-iter",
        "100000000",
        "--restarts",
        "1",
    ];
    // The time of the first iteration is unknown: a fit interrupted before it is run again with
    // more time.
    for wait in (0..10).map(|number| std::time::Duration::from_millis(100 << number)) {
        let mut child = command(&[&endless[..], more].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        // The columns are reported just before the first pass over the rows.
        while !line.contains("waiting") {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "the fit ended");
        }
        std::thread::sleep(wait);
        send(signal, &child);
        let ended = child.wait_with_output().unwrap();
        let mut report = String::new();
        stderr.read_to_string(&mut report).unwrap();
        if !report.contains("interrupted before it produced a model") {
            return (ended.status.code(), report);
        }
    }
    panic!("the fit has no model after 100 seconds");
}

/// A table on which a fit of many components takes long.
#[cfg(unix)]
fn many_rows(files: &Files) -> String {
    let small = files.fit(&["mixture", &data("faithful.csv"), "-k", "2"]);
    let table = files.path("large.csv");
    abduce(&["sample", &small, "-n", "20000", "-o", &table]).succeeds();
    table
}

#[cfg(unix)]
#[test]
fn ctrl_c_writes_the_best_model_so_far() {
    if is_ignored("-INT") {
        return;
    }
    let files = Files::new();
    let table = many_rows(&files);
    let model = files.path("partial.abduce");
    let (code, report) = interrupted_fit(&table, &["-o", &model], "-INT");
    assert_eq!(code, Some(130), "{report}");
    assert!(
        report.contains("warning: the fit was interrupted"),
        "{report}"
    );
    abduce(&["predict", &model, &data("faithful.csv")]).succeeds();
    assert_eq!(
        files.names(),
        ["large.csv", "model.abduce", "partial.abduce"]
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_fit_without_an_output_file_is_an_error() {
    let files = Files::new();
    let table = many_rows(&files);
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        if is_ignored(signal) {
            continue;
        }
        let (ended, report) = interrupted_fit(&table, &[], signal);
        assert_eq!(ended, Some(code), "{report}");
        assert!(report.contains("error: the fit was stopped"), "{report}");
    }
    assert_eq!(files.names(), ["large.csv", "model.abduce"]);
}

#[cfg(unix)]
#[test]
fn signals_leave_no_half_written_file() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        if is_ignored(signal) {
            continue;
        }
        let files = Files::new();
        let model = files.fit(&["mixture", &data("faithful.csv"), "-k", "2"]);
        let child = endless_sample(&files, &model);
        send(signal, &child);
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code));
        assert_eq!(files.names(), ["model.abduce"]);
    }
}

/// Whether this process ignores a signal, which its children inherit: SIGHUP under `nohup`,
/// SIGINT in the background of a script.
#[cfg(unix)]
fn is_ignored(signal: &str) -> bool {
    let number = match signal {
        "-HUP" => 1,
        "-INT" => 2,
        "-TERM" => 15,
        _ => panic!("{signal} has no number here"),
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let ignored = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

/// Starts to write a long sample to `out.csv`.
#[cfg(unix)]
fn endless_sample(files: &Files, model: &str) -> std::process::Child {
    let out = files.path("out.csv");
    let mut sample = command(&["sample", model, "-n", "100000000", "-o", &out]);
    let child = sample.spawn().unwrap();
    while files.names().len() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child
}

#[cfg(unix)]
#[test]
fn the_next_run_removes_temporary_files_of_a_killed_one() {
    let files = Files::new();
    let model = files.fit(&["mixture", &data("faithful.csv"), "-k", "2"]);
    let child = endless_sample(&files, &model);
    send("-KILL", &child);
    child.wait_with_output().unwrap();
    assert_eq!(files.names().len(), 2);
    abduce(&["sample", &model, "-n", "2", "-o", &files.path("out.csv")]).succeeds();
    assert_eq!(files.names(), ["model.abduce", "out.csv"]);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_command_that_waits_for_a_pipe() {
    if is_ignored("-TERM") {
        return;
    }
    let files = Files::new();
    let model = files.fit(&["mixture", &data("faithful.csv"), "-k", "2"]);
    let pipe = files.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let mut sample = command(&["sample", &model, "-n", "2", "-o", &pipe]);
    let mut child = sample.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(
        child.try_wait().unwrap().is_none(),
        "nothing reads the pipe"
    );
    send("-TERM", &child);
    // Without the signal it would wait until the pipe has a reader.
    for _ in 0..600 {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let ended = child.try_wait().unwrap();
    let _ = child.kill();
    assert_eq!(ended.expect("the signal is handled").code(), Some(143));
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_the_parent_ignores_is_ignored() {
    let files = Files::new();
    let model = files.fit(&["mixture", &data("faithful.csv"), "-k", "2"]);
    let out = files.path("out.csv");
    let mut sample = std::process::Command::new("nohup");
    let sample = sample.args([
        env!("CARGO_BIN_EXE_abduce"),
        "sample",
        &model,
        "-n",
        "300000",
    ]);
    let child = sample.args(["-o", &out]).spawn().unwrap();
    while files.names().len() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    send("-HUP", &child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(files.read("out.csv").lines().count(), 300_001);
}

#[test]
fn exit_codes_are_documented() {
    let help = abduce(&["--help"]).succeeds().stdout;
    let chapter = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/src/introduction.md"
    );
    let chapter = std::fs::read_to_string(chapter).unwrap();
    for code in ["129", "130", "143"] {
        assert!(help.contains(code) && chapter.contains(code), "{code}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let files = Files::new();
    let model = files.fit(&["mixture", &data("faithful.csv"), "-k", "2"]);
    abduce(&["sample", &model, "-n", "9999", "-o", "/dev/full"]).fails(1, &["/dev/full", "space"]);
}
