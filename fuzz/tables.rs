//! Seeds: tables of every format, and the reading of damaged ones.

use crate::mutate::Random;
use abduce::data::{Kind, KindOverride, ReadOptions, TextOptions, open, raw_rows};
use std::io::Write;
use std::path::Path;

const CSV: &str = "name,x,\"a, \"\"quoted\"\" name\",when\n\
    ada,1.5,red,2024-01-01\nbob,,\"two\nlines\",NA\n\"eve\",-3e2,red,\n?,4,\"\",x\r\n";
const SEMICOLONS: &str = "x;y;z\n1,5;2;a\n3,25;;b\n;4;a\n";
const JSON_LINES: &str = "{\"x\": 1, \"y\": \"a\", \"z\": true}\n\
    {\"x\": null, \"y\": \"b\\u00e9\"}\n{\"x\": 2.5e3, \"y\": \"a\", \"z\": false}\n";
const SVMLIGHT: &str = "+1 1:0.5 7:2 # note\n-1 2:1\n+1 qid:3 1:1 3:4.5\n";
const MAILBOX: &str = "From a@b Mon Jan  1 00:00:00 2024\nSubject: =?utf-8?q?caf=C3=A9?=\n\
    Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html\n\n<p>hi &amp; bye</p>\n\
    --x\nContent-Transfer-Encoding: base64\n\naGVsbG8=\n--x--\n\nFrom c@d Mon Jan  1 00:00:00 2024\n\
    Subject: two\n\nplain words\n";

/// Files to be damaged: a name with its ending, and the bytes.
pub fn seeds() -> Vec<(String, Vec<u8>)> {
    let tabs = CSV.replace(',', "\t");
    let texts = [
        ("a.csv", CSV),
        ("b.csv", SEMICOLONS),
        ("a.tsv", tabs.as_str()),
        ("a.jsonl", JSON_LINES),
        ("a.svm", SVMLIGHT),
        ("a.mbox", MAILBOX),
    ];
    let texts = texts.map(|(name, text)| (name.to_string(), text.as_bytes().to_vec()));
    let mut seeds = texts.to_vec();
    seeds.extend(crate::binary::seeds());
    seeds
}

/// The files of a folder of texts: a folder for each class.
const TEXTS: &[(&str, &str)] = &[
    ("ham/1.txt", "see you at lunch"),
    (
        "ham/2.eml",
        "Subject: hi\nContent-Type: text/html\n\n<p>the report &lt;",
    ),
    ("spam/1", "free prize now, call \u{e9}\u{1f600}"),
    ("spam/deep/2.txt", "free\0prize"),
];

/// Writes a damaged folder of texts: bytes of its files and, sometimes, their names are
/// changed. Returns what was written.
pub fn damaged_folder(folder: &Path, random: &mut Random) -> Vec<u8> {
    let mut written = Vec::new();
    for (name, text) in TEXTS {
        let name = if random.below(4) == 0 {
            let name = crate::mutate::bytes(name.as_bytes(), random);
            let name = String::from_utf8_lossy(&name).replace("..", "");
            name.chars().take(40).collect()
        } else {
            name.to_string()
        };
        let text = crate::mutate::bytes(text.as_bytes(), random);
        let path = folder.join(name.trim_start_matches('/'));
        // Some of the names are invalid, or are those of folders.
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = std::fs::write(path, &text);
        written.extend(format!("{name:?}\n").into_bytes());
        written.extend(text);
        written.push(b'\n');
    }
    written
}

/// A damaged file, which may be compressed before or after it is damaged.
pub fn damaged(name: &str, bytes: &[u8], random: &mut Random) -> (String, Vec<u8>) {
    let compress = |kind: usize, bytes: &[u8]| match kind {
        0 => (".gz", gzip(bytes)),
        1 => (".zst", zstd::encode_all(bytes, 3).expect("compression")),
        _ => ("", bytes.to_vec()),
    };
    let kind = random.below(6);
    let (ending, bytes) = if random.below(2) == 0 {
        let (ending, compressed) = compress(kind, bytes);
        (ending, crate::mutate::bytes(&compressed, random))
    } else {
        compress(kind, &crate::mutate::bytes(bytes, random))
    };
    (format!("{name}{ending}"), bytes)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("compression");
    encoder.finish().expect("compression")
}

/// The columns that models cannot read: dates in binary files.
pub fn date_columns(name: &str) -> Vec<String> {
    let endings = [".arrow", ".arrows", ".feather", ".parquet"];
    if endings.iter().any(|ending| name.ends_with(ending)) {
        vec!["day".into(), "when".into()]
    } else {
        Vec::new()
    }
}

/// Random options for reading a table.
pub fn options(random: &mut Random) -> ReadOptions {
    let mut options = ReadOptions {
        no_header: random.below(4) == 0,
        units: random.below(2) == 0,
        memory_budget: [1 << 28, 64][random.below(2)],
        ..ReadOptions::default()
    };
    if random.below(2) == 0 {
        options.text = Some(TextOptions::default());
    }
    if random.below(8) == 0 {
        options.delimiter = Some(b",;\t |x"[random.below(6)]);
    }
    if random.below(8) == 0 {
        options.quote = [None, Some(b'\''), Some(b',')][random.below(3)];
    }
    if random.below(4) == 0 {
        let kind = Kind::ALL[random.below(Kind::ALL.len())];
        options.otherwise = Some(KindOverride {
            kind,
            levels: Vec::new(),
        });
    }
    if random.below(6) == 0 {
        options.target = Some(["name", "x", "z", "label"][random.below(4)].into());
    }
    if random.below(8) == 0 {
        options.weight = Some("x".into());
    }
    options
}

/// Reads the raw rows and the chunks of a table. Returns whether it was accepted.
pub fn exercise(path: &str, options: &ReadOptions) -> bool {
    let paths = [path.to_string()];
    if let Ok(rows) = raw_rows(&paths, options) {
        let columns = rows.header().len();
        for batch in rows.flatten() {
            for row in 0..batch.rows() {
                let _ = batch.line(row);
                for column in 0..columns {
                    let _ = batch.cell(row, column);
                }
            }
        }
    }
    let Ok(opened) = open(&paths, options) else {
        return false;
    };
    // Twice, as a fit does.
    for _ in 0..2 {
        if let Ok(scan) = opened.source.scan() {
            scan.flatten().for_each(drop);
        }
    }
    true
}
