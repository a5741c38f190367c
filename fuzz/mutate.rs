//! Mutations of files: of bytes, and of the structure of JSON documents. All randomness
//! comes from one seeded generator, so that every run can be repeated.

use serde_json::{Map, Number, Value, json};

/// A small generator of random numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// Changes some bytes: flips, insertions, truncation, slices repeated or removed, integers
/// of binary formats replaced.
pub fn bytes(original: &[u8], random: &mut Random) -> Vec<u8> {
    const SPECIAL: &[u8] = b"\0\n\r\",;\t{}[]:-+.eE0979 \\'#\x1a\x7f\x80\xc3\xef\xff";
    const INTEGERS: &[i64] = &[
        -1,
        0,
        1,
        1 << 7,
        1 << 16,
        1 << 30,
        i32::MAX as i64,
        i64::MAX,
    ];
    let mut bytes = original.to_vec();
    let limit = 1 + random.below(4);
    for _ in 0..=random.below(limit) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = random.below(bytes.len());
        let end = (at + 1 + random.below(64)).min(bytes.len());
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = SPECIAL[random.below(SPECIAL.len())],
            2 => bytes.insert(at, SPECIAL[random.below(SPECIAL.len())]),
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at..end)),
            5 => {
                let slice = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, slice);
            }
            6 => {
                let integer = INTEGERS[random.below(INTEGERS.len())].to_le_bytes();
                let end = (at + [1, 2, 4, 8][random.below(4)]).min(bytes.len());
                bytes[at..end].copy_from_slice(&integer[..end - at]);
            }
            _ => {
                let byte = bytes[at];
                let many = 1 << random.below(12);
                bytes.splice(at..at, std::iter::repeat_n(byte, many));
            }
        }
    }
    bytes
}

/// Changes one or two values of a JSON document.
pub fn document(original: &Value, random: &mut Random) -> Value {
    let mut document = original.clone();
    for _ in 0..=random.below(2) {
        change(&mut document, random);
    }
    document
}

/// Descends to a random value and changes it.
fn change(value: &mut Value, random: &mut Random) {
    let stop = random.below(6) == 0;
    match value {
        Value::Array(list) if !list.is_empty() => {
            let at = random.below(list.len());
            if stop {
                change_list(list, at, random);
            } else {
                change(&mut list[at], random);
            }
        }
        Value::Object(map) if !map.is_empty() => {
            let at = random.below(map.len());
            let Some(key) = map.keys().nth(at).cloned() else {
                return;
            };
            if stop {
                change_key(map, &key, random);
            } else if let Some(inner) = map.get_mut(&key) {
                change(inner, random);
            }
        }
        other => *other = replacement(other, random),
    }
}

fn change_list(list: &mut Vec<Value>, at: usize, random: &mut Random) {
    match random.below(6) {
        0 => drop(list.remove(at)),
        1 => drop(list.pop()),
        2 => list.truncate(at),
        3 => list.push(list[at].clone()),
        4 => {
            let other = random.below(list.len());
            list.swap(at, other);
        }
        _ => list[at] = replacement(&list[at], random),
    }
}

fn change_key(map: &mut Map<String, Value>, key: &str, random: &mut Random) {
    let Some(value) = map.get(key).cloned() else {
        return;
    };
    match random.below(4) {
        0 => drop(map.remove(key)),
        1 => {
            let at = random.below(map.len());
            if let Some(other) = map.values().nth(at).cloned() {
                map.insert(key.into(), other);
            }
        }
        2 => drop(map.insert(format!("{key}x"), value)),
        _ => drop(map.insert(key.into(), replacement(&value, random))),
    }
}

/// Another value, often of the same type.
fn replacement(value: &Value, random: &mut Random) -> Value {
    let other_type = random.below(8) == 0;
    match value {
        Value::Number(number) if !other_type => number_like(number, random),
        Value::String(text) if !other_type => match random.below(5) {
            0 => json!(""),
            1 => json!(format!("{text}{text}")),
            2 => json!(text.chars().skip(1).collect::<String>()),
            3 => json!("\u{0}é😀,\"\n"),
            _ => json!("real"),
        },
        Value::Bool(yes) => json!(!yes),
        _ => match random.below(8) {
            0 => Value::Null,
            1 => json!([]),
            2 => json!({}),
            3 => json!(""),
            4 => json!(0),
            5 => json!([0.5, 0.5]),
            6 => json!(true),
            _ => json!("gaussian"),
        },
    }
}

fn number_like(number: &Number, random: &mut Random) -> Value {
    let x = number.as_f64().unwrap_or(0.0);
    match random.below(16) {
        0 => json!(0),
        1 => json!(-1),
        2 => json!(u64::MAX),
        3 => json!(i64::MIN),
        4 => json!(1e300),
        5 => json!(-1e300),
        6 => json!(5e-324),
        7 => json!(0.5),
        8 => json!(-x),
        9 => json!(x + 1.0),
        10 => json!(number.as_u64().map_or(1, |n| n.wrapping_add(1))),
        11 => json!(number.as_u64().map_or(1, |n| n.wrapping_sub(1))),
        12 => json!(number.as_u64().map_or(1, |n| n.wrapping_mul(1 << 20))),
        13 => json!(x * 1e6),
        14 => json!(1u64 << 40),
        // NaN and infinity, as many programs write them.
        _ => Value::Null,
    }
}
