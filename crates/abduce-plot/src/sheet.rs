//! The sheet of a plot: title, legend and caption, and the rectangle between them.

use super::look;
use super::svg::{Svg, Symbols};

/// The title and caption of a plot, and its size in pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The title, above the plot.
    pub title: String,
    /// The caption, below the plot.
    pub caption: String,
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
}

impl Frame {
    /// A frame of the default size without a caption.
    pub fn new(title: impl Into<String>) -> Frame {
        Frame {
            title: title.into(),
            caption: String::new(),
            width: 640.0,
            height: 480.0,
        }
    }

    /// A suitable width and height for this many columns.
    pub fn size_for(columns: usize) -> (f64, f64) {
        match columns {
            0..=2 => (640.0, 480.0),
            many => (140.0 * many as f64 + 100.0, 140.0 * many as f64 + 110.0),
        }
    }
}

/// The key of an entry in a legend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Key {
    /// The symbol of a group.
    Symbol(usize),
    /// The line of a group.
    Line(usize),
    /// Line and symbol of a group.
    Both(usize),
    /// The line of all groups together.
    Total,
    /// A bar of a histogram.
    Bar,
    /// A symbol of this size and opacity.
    Sized(f64, f64),
}

pub(super) type Legend = Vec<(Key, String)>;

/// A rectangle on the sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Room {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

const MARGIN: f64 = 16.0;
const LINE: f64 = 18.0;
const KEY: f64 = 22.0;
/// The most groups that a legend names.
const NAMED: usize = 24;

/// A sheet with title and caption, and the rectangle between them.
pub(super) fn sheet(
    frame: &Frame,
    description: &str,
    caption: &str,
    symbols: Symbols,
) -> (Svg, Room) {
    let (width, height) = (frame.width.max(60.0), frame.height.max(60.0));
    let mut svg = Svg::new(width, height, &frame.title, description, symbols);
    let inner = width - 2.0 * MARGIN;
    svg.text("title", MARGIN, 27.0, &frame.title, inner);
    let caption = [caption, frame.caption.as_str()].join(" ");
    let lines = look::wrapped(&caption, look::font_size("caption"), 0.94 * inner);
    let below = lines.len() as f64 * 14.0;
    for (number, line) in lines.iter().enumerate() {
        let y = height - MARGIN - below + 14.0 * (number as f64 + 1.0) - 2.0;
        svg.text("caption", MARGIN, y, line, inner);
    }
    let gap = if lines.is_empty() { 0.0 } else { 6.0 };
    let top = 40.0;
    let room = Room {
        left: MARGIN,
        top,
        width: inner,
        height: (height - top - MARGIN - below - gap).max(10.0),
    };
    (svg, room)
}

/// A legend of groups.
pub(super) fn of_groups(names: &[String], key: impl Fn(usize) -> Key) -> Legend {
    let named = names.iter().take(NAMED).enumerate();
    let mut legend: Legend = named
        .map(|(group, name)| (key(group), name.clone()))
        .collect();
    if names.len() > NAMED {
        let last = legend.len() - 1;
        legend[last].1 = format!("{} and {} more", legend[last].1, names.len() - NAMED);
    }
    legend
}

/// Writes a legend below the title, and removes its area from `room`.
pub(super) fn legend_above(svg: &mut Svg, legend: &Legend, room: &mut Room) {
    let (mut x, mut y) = (room.left, room.top + 12.0);
    for (key, name) in legend {
        let shown = look::fitted(name, 12.0, 180.0_f64.min(room.width - KEY));
        let width = KEY + look::text_width(&shown, 12.0) + 16.0;
        if x + width - 16.0 > room.left + room.width && x > room.left {
            (x, y) = (room.left, y + LINE);
        }
        entry(svg, *key, name, x, y, 180.0_f64.min(room.width - KEY));
        x += width;
    }
    if !legend.is_empty() {
        let used = y + 18.0 - room.top;
        room.top += used;
        room.height = (room.height - used).max(10.0);
    }
}

/// Writes a legend with one line per entry into a rectangle.
pub(super) fn legend_in(svg: &mut Svg, legend: &Legend, corner: Room) {
    let lines = ((corner.height / LINE) as usize).max(1);
    for (number, (key, name)) in legend.iter().enumerate().take(lines) {
        let y = corner.top + 12.0 + LINE * number as f64;
        let rest = legend.len() - number;
        if number + 1 == lines && rest > 1 {
            let text = format!("… and {rest} more");
            svg.text("caption", corner.left, y + 4.0, &text, corner.width);
        } else {
            entry(svg, *key, name, corner.left, y, corner.width - KEY);
        }
    }
}

fn entry(svg: &mut Svg, key: Key, name: &str, x: f64, y: f64, room: f64) {
    let line = format!("M{} {}h16", super::svg::pixel(x), super::svg::pixel(y));
    let coloured = |group: usize| look::class_of(group);
    match key {
        Key::Symbol(group) => {
            svg.group(&format!("{} key", coloured(group)));
            svg.symbol(group, x + 8.0, y);
            svg.close();
        }
        Key::Line(group) | Key::Both(group) => {
            svg.group(&coloured(group));
            svg.path("line", &line);
            if key == Key::Both(group) {
                svg.group("key");
                svg.symbol(group, x + 8.0, y);
                svg.close();
            }
            svg.close();
        }
        Key::Total => svg.path("total", &line),
        Key::Bar => svg.rectangle("bar", x + 2.0, y - 5.0, 12.0, 10.0),
        Key::Sized(scale, opacity) => {
            svg.scaled_symbol("dark points", 0, (x + 8.0, y), scale, opacity);
        }
    }
    svg.text("name", x + KEY, y + 4.0, name, room);
}
