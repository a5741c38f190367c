//! A writer of SVG: elements are appended to a string, text is escaped, coordinates have one
//! decimal. A clipping region is a nested `<svg>`, which needs no id, so that a page may contain
//! several plots.

use super::look;
use std::fmt::Write;

/// A drawing under construction.
pub(super) struct Svg {
    out: String,
    open: Vec<&'static str>,
    symbols: Symbols,
}

/// The symbols of a drawing.
#[derive(Clone, Copy)]
pub(super) struct Symbols {
    /// The number of symbols.
    pub count: usize,
    /// Whether they are small.
    pub small: bool,
}

impl Symbols {
    /// Symbols of the default size.
    pub fn new(count: usize) -> Symbols {
        Symbols {
            count,
            small: false,
        }
    }

    /// The id of a group's symbol, which is the same symbol in all plots of a page.
    fn id(self, group: usize) -> String {
        let size = if self.small { "small" } else { "symbol" };
        format!("abduce-{size}-{}", group % look::SYMBOLS.len())
    }
}

/// Escapes text for XML; forbidden characters become `U+FFFD`.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A coordinate rounded to tenths of a pixel, as text.
pub(super) fn pixel(x: f64) -> String {
    let tenths = (x * 10.0).round() / 10.0;
    // Adding 0 turns −0 into 0.
    format!("{}", tenths + 0.0)
}

/// A line through points, closed or not, as the `d` of a path.
pub(super) fn line_through(points: impl IntoIterator<Item = (f64, f64)>, closed: bool) -> String {
    let mut d = String::new();
    let mut last = None;
    for (x, y) in points {
        let at = (pixel(x), pixel(y));
        if last.as_ref() == Some(&at) {
            continue;
        }
        d.push(if last.is_none() { 'M' } else { ' ' });
        let _ = write!(d, "{} {}", at.0, at.1);
        last = Some(at);
    }
    if closed && last.is_some() {
        d.push('Z');
    }
    d
}

/// Simplifies a line to within a tenth of a pixel (Douglas & Peucker 1973).
pub(super) fn simplified(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    const TOLERANCE: f64 = 0.1;
    if points.len() < 3 {
        return points;
    }
    let mut kept = vec![false; points.len()];
    let last = points.len() - 1;
    (kept[0], kept[last]) = (true, true);
    let mut pieces = vec![(0, last)];
    while let Some((from, to)) = pieces.pop() {
        let away = |k: usize| distance(points[k], points[from], points[to]);
        let farthest = (from + 1..to).max_by(|a, b| away(*a).total_cmp(&away(*b)));
        if let Some(middle) = farthest.filter(|k| away(*k) > TOLERANCE) {
            kept[middle] = true;
            pieces.extend([(from, middle), (middle, to)]);
        }
    }
    let points = points.into_iter().zip(kept);
    points.filter(|(_, kept)| *kept).map(|(at, _)| at).collect()
}

/// The distance of a point from the segment between two others.
fn distance((x, y): (f64, f64), a: (f64, f64), b: (f64, f64)) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx.hypot(dy);
    if length == 0.0 {
        return (x - a.0).hypot(y - a.1);
    }
    let along = ((x - a.0) * dx + (y - a.1) * dy) / length;
    let beyond = (along - along.clamp(0.0, length)).abs();
    let beside = ((x - a.0) * dy - (y - a.1) * dx).abs() / length;
    beside.max(beyond)
}

impl Svg {
    /// An empty drawing of a size in pixels, with a title and a description for screen readers.
    pub fn new(width: f64, height: f64, title: &str, description: &str, symbols: Symbols) -> Svg {
        let (w, h) = (pixel(width), pixel(height));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"abduce-plot\" role=\"img\" \
             width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\">\n\
             <title>{}</title>\n<desc>{}</desc>\n<style>{}</style>\n<defs>",
            escape(title),
            escape(description),
            look::style(),
        );
        let scale = if symbols.small {
            " transform=\"scale(.55)\""
        } else {
            ""
        };
        for (symbol, d) in look::SYMBOLS.iter().enumerate().take(symbols.count) {
            let id = symbols.id(symbol);
            let _ = write!(out, "<path id=\"{id}\"{scale} d=\"{d}\"/>");
        }
        out.push_str("</defs>\n");
        let mut svg = Svg {
            out,
            open: vec!["svg"],
            symbols,
        };
        svg.rectangle("paper", 0.0, 0.0, width, height);
        svg
    }

    /// Opens a group with a class.
    pub fn group(&mut self, class: &str) {
        let _ = write!(self.out, "<g class=\"{class}\">");
        self.open.push("g");
    }

    /// Opens a clipping region.
    pub fn region(&mut self, x: f64, y: f64, width: f64, height: f64) {
        let box_ = [x, y, width, height].map(pixel);
        let [x, y, w, h] = &box_;
        let _ = write!(
            self.out,
            "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\">"
        );
        self.open.push("svg");
    }

    /// Closes the last open group or region.
    pub fn close(&mut self) {
        if let Some(element) = self.open.pop() {
            let _ = writeln!(self.out, "</{element}>");
        }
    }

    pub fn rectangle(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        let [x, y, w, h] = [x, y, width.max(0.0), height.max(0.0)].map(pixel);
        let _ = write!(
            self.out,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/>"
        );
    }

    /// Draws a path, unless it is empty.
    pub fn path(&mut self, class: &str, d: &str) {
        if !d.is_empty() {
            let _ = write!(self.out, "<path class=\"{class}\" d=\"{d}\"/>");
        }
    }

    /// Draws the symbol of a group in the current colour.
    pub fn symbol(&mut self, group: usize, x: f64, y: f64) {
        let (id, [x, y]) = (self.symbols.id(group), [x, y].map(pixel));
        let _ = write!(self.out, "<use href=\"#{id}\" x=\"{x}\" y=\"{y}\"/>");
    }

    /// Draws the symbol of a group with a class, scale and opacity.
    pub fn scaled_symbol(
        &mut self,
        class: &str,
        group: usize,
        (x, y): (f64, f64),
        scale: f64,
        opacity: f64,
    ) {
        let (id, [x, y, scale]) = (self.symbols.id(group), [x, y, scale].map(pixel));
        let opacity = (opacity * 100.0).round() / 100.0;
        let _ = write!(
            self.out,
            "<use class=\"{class}\" href=\"#{id}\" \
             transform=\"translate({x} {y})scale({scale})\" opacity=\"{opacity}\"/>"
        );
    }

    /// Writes a line of text, truncated to the width `room` with the full text as a tooltip.
    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str, room: f64) {
        self.any_text(
            class,
            &format!("x=\"{}\" y=\"{}\"", pixel(x), pixel(y)),
            text,
            room,
        );
    }

    /// Writes a line of text upwards.
    pub fn upright_text(&mut self, class: &str, x: f64, y: f64, text: &str, room: f64) {
        let place = format!(
            "transform=\"translate({} {})rotate(-90)\"",
            pixel(x),
            pixel(y)
        );
        self.any_text(class, &place, text, room);
    }

    fn any_text(&mut self, class: &str, place: &str, text: &str, room: f64) {
        let shown = look::fitted(text, look::font_size(class), room);
        let tooltip = if shown == text {
            String::new()
        } else {
            format!("<title>{}</title>", escape(text))
        };
        let shown = escape(&shown);
        let _ = write!(
            self.out,
            "<text class=\"{class}\" {place}>{tooltip}{shown}</text>"
        );
    }

    /// Closes the drawing and returns its text.
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(
            escape("a<b & \"c\" > 'd'"),
            "a&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39;"
        );
        assert_eq!(escape("x\0y\nz\u{ffff}"), "x\u{fffd}y z\u{fffd}");
        assert_eq!(escape("größe 長さ"), "größe 長さ");
    }

    #[test]
    fn coordinates_have_at_most_one_decimal() {
        assert_eq!(
            [1.0, 2.25, -0.04, 1e3].map(pixel),
            ["1", "2.3", "0", "1000"]
        );
    }

    #[test]
    fn a_simplified_line_keeps_its_ends_and_stays_within_a_tenth() {
        let wave: Vec<(f64, f64)> = (0..=1000)
            .map(|k| (f64::from(k) / 2.0, 80.0 * (f64::from(k) / 90.0).sin()))
            .collect();
        let few = simplified(wave.clone());
        assert!(few.len() < 200, "{}", few.len());
        assert_eq!((few[0], few[few.len() - 1]), (wave[0], wave[1000]));
        for at in wave {
            let nearest = few.windows(2).map(|two| distance(at, two[0], two[1]));
            assert!(nearest.fold(f64::INFINITY, f64::min) <= 0.1 + 1e-9);
        }
        assert_eq!(simplified(vec![(1.0, 1.0); 5]).len(), 2);
    }

    #[test]
    fn coinciding_points_are_merged() {
        let points = [(0.0, 0.0), (0.01, 0.02), (1.0, 2.0)];
        assert_eq!(line_through(points, true), "M0 0 1 2Z");
        assert_eq!(line_through([], true), "");
    }
}
