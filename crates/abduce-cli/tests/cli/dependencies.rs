//! The dependencies comply with deny.toml, as far as that can be checked offline: every
//! licence is allowed, no crate is banned, and every source is crates.io.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The strings of a list in deny.toml.
fn list(key: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let start = text.find(&format!("\n{key} = [")).expect("the key");
    let inside = text[start..].split(['[', ']']).nth(1).unwrap();
    let parts = inside.split('"').skip(1).step_by(2);
    parts.map(String::from).collect()
}

/// Whether an SPDX expression is satisfied by allowed licences. `AND` binds tighter than `OR`;
/// a slash is an old spelling of `OR`.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace('/', " OR ");
    let (open, close) = (expression.find('('), expression.find(')'));
    if let (Some(open), Some(close)) = (open, close) {
        let inside = is_allowed(&expression[open + 1..close], allowed);
        // Replaces the parentheses by an allowed licence or one that is not.
        let known = if inside { &allowed[0] } else { "none" };
        let rest = &expression[close + 1..];
        let whole = format!("{}{known}{rest}", &expression[..open]);
        return is_allowed(&whole, allowed);
    }
    expression.split(" OR ").any(|all| {
        let mut each = all.split(" AND ").map(str::trim);
        each.all(|name| allowed.iter().any(|entry| entry == name))
    })
}

#[test]
fn licence_expressions_are_parsed() {
    let allowed = ["MIT", "Zlib"].map(String::from);
    for allowed_expression in [
        "MIT",
        "GPL-3.0 OR MIT",
        "GPL-3.0/Zlib",
        "(MIT OR X) AND Zlib",
    ] {
        assert!(
            is_allowed(allowed_expression, &allowed),
            "{allowed_expression}"
        );
    }
    for other in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT OR X) AND Y",
        "(X) AND MIT",
    ] {
        assert!(!is_allowed(other, &allowed), "{other}");
    }
}

/// The target triple of this machine.
fn host() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or("rustc".into());
    let outcome = Command::new(rustc).arg("-vV").output().unwrap();
    let text = String::from_utf8(outcome.stdout).unwrap();
    let mut lines = text.lines();
    lines
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap()
        .to_string()
}

#[test]
fn every_licence_is_allowed() {
    // Packages of other platforms need not have been downloaded.
    let host = host();
    let arguments = ["metadata", "--format-version", "1", "--locked", "--offline"];
    let outcome = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--filter-platform", &host])
        .current_dir(root())
        .output();
    let outcome = outcome.unwrap();
    let why = String::from_utf8_lossy(&outcome.stderr);
    assert!(outcome.status.success(), "{why}");
    let metadata: Value = serde_json::from_slice(&outcome.stdout).unwrap();
    let allowed = list("allow");
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 10);
    for package in packages {
        let licence = package["license"].as_str().unwrap_or_default();
        let name = &package["name"];
        assert!(is_allowed(licence, &allowed), "{name}: {licence:?}");
    }
}

#[test]
fn no_dependency_opens_network_connections() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let names = lock.lines().filter_map(|line| line.strip_prefix("name = "));
    let names: Vec<&str> = names.map(|name| name.trim_matches('"')).collect();
    assert!(names.len() > 10);
    let banned = list("deny");
    assert!(banned.iter().any(|name| name == "tokio"));
    for name in banned {
        assert!(!names.contains(&name.as_str()), "{name} is banned");
    }
    let clippy = std::fs::read_to_string(root().join("clippy.toml")).unwrap();
    for socket in ["TcpListener", "TcpStream", "UdpSocket"] {
        assert!(clippy.contains(&format!("std::net::{socket}")), "{socket}");
    }
}

#[test]
fn every_source_is_an_allowed_registry() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let registries = list("allow-registry");
    let sources = lock
        .lines()
        .filter_map(|line| line.strip_prefix("source = "));
    let mut count = 0;
    for source in sources {
        let source = source.trim_matches('"').trim_start_matches("registry+");
        assert!(registries.iter().any(|entry| entry == source), "{source}");
        count += 1;
    }
    assert!(count > 10);
}
