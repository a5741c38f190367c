//! The style of plots: colours, symbols and text. The colours are based on Okabe & Ito (2008),
//! which people with red-green colour blindness can distinguish; symbols distinguish groups in
//! black and white. Seven colours and eight symbols give 56 different groups. There is a light
//! and a dark theme.

/// The colours of groups in the light and the dark theme.
const COLOURS: [(&str, &str); 7] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ff8b3d"),
    ("#009e73", "#2fc99b"),
    ("#b5578a", "#e79ac3"),
    ("#3aa0dc", "#2b8fd0"),
    ("#b87d00", "#f0b429"),
    ("#5c5c5c", "#b5b5b5"),
];

/// Circle, triangle, square, diamond, plus, cross, inverted triangle, star.
pub(super) const SYMBOLS: [&str; 8] = [
    "M-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0Z",
    "M0-4L3.7 2.6H-3.7Z",
    "M-2.9-2.9H2.9V2.9H-2.9Z",
    "M0-4.1L3.4 0L0 4.1L-3.4 0Z",
    "M-1.1-3.8H1.1V-1.1H3.8V1.1H1.1V3.8H-1.1V1.1H-3.8V-1.1H-1.1Z",
    "M-2-3.5L0-1.5L2-3.5L3.5-2L1.5 0L3.5 2L2 3.5L0 1.5L-2 3.5L-3.5 2L-1.5 0L-3.5-2Z",
    "M0 4L3.7-2.6H-3.7Z",
    "M0-4.6L1.2-1.5L4.4-1.4L1.9 .6L2.7 3.7L0 1.9L-2.7 3.7L-1.9 .6L-4.4-1.4L-1.2-1.5Z",
];

/// The dashes of the lines of groups.
const DASHES: [&str; 4] = ["none", "6 3", "2 2.5", "8 3 2 3"];

/// The CSS classes of a group's colour and dashes.
pub(super) fn class_of(group: usize) -> String {
    format!("c{} d{}", group % COLOURS.len(), group % DASHES.len())
}

/// The CSS of a plot. Every rule is limited to plots, so that it does not affect the page that
/// contains one.
pub(super) fn style() -> String {
    const LIGHT: &str = ".abduce-plot .paper{fill:#fff}\
        .abduce-plot text{fill:#222}.abduce-plot .tick,.abduce-plot .caption{fill:#555}\
        .abduce-plot .grid{stroke:#e6e6e6}.abduce-plot .axis{stroke:#888}\
        .abduce-plot .total,.abduce-plot .mean,.abduce-plot .dark{color:#222}.abduce-plot .bar{fill:#dcdcdc}\
        .abduce-plot .halo{stroke:#fff}.abduce-plot .dots{stroke:#333}";
    const DARK: &str = ".abduce-plot .paper{fill:#16181d}\
        .abduce-plot text{fill:#e8e8e8}.abduce-plot .tick,.abduce-plot .caption{fill:#a9adb5}\
        .abduce-plot .grid{stroke:#2a2e36}.abduce-plot .axis{stroke:#7c818b}\
        .abduce-plot .total,.abduce-plot .mean,.abduce-plot .dark{color:#f2f2f2}.abduce-plot .bar{fill:#343943}\
        .abduce-plot .halo{stroke:#16181d}.abduce-plot .dots{stroke:#d5d8de}";
    const SHAPES: &str = ".abduce-plot text{font:12px system-ui,-apple-system,\"Segoe UI\",\
        Roboto,\"Helvetica Neue\",Arial,sans-serif;stroke:none}\
        .abduce-plot .title{font-size:15px;font-weight:600}\
        .abduce-plot .tick{font-size:11px}.abduce-plot .caption{font-size:11px}\
        .abduce-plot .middle{text-anchor:middle}.abduce-plot .end{text-anchor:end}\
        .abduce-plot .grid,.abduce-plot .axis{fill:none;stroke-width:1}\
        .abduce-plot .points{fill:currentColor;fill-opacity:.5;stroke:currentColor;\
        stroke-width:.7}\
        .abduce-plot .key{fill:currentColor;stroke:none}\
        .abduce-plot .line{fill:none;stroke:currentColor;stroke-width:1.8;\
        stroke-linejoin:round}\
        .abduce-plot .ellipse{fill:currentColor;fill-opacity:.06;stroke:currentColor;\
        stroke-width:1.3;stroke-dasharray:none}\
        .abduce-plot .under{fill:currentColor;fill-opacity:.16;stroke:none}\
        .abduce-plot .level{fill:currentColor;fill-opacity:.13;fill-rule:evenodd;\
        stroke:currentColor;stroke-width:.9;stroke-opacity:.85}\
        .abduce-plot .total{fill:none;stroke:currentColor;stroke-width:1.4;\
        stroke-linejoin:round}\
        .abduce-plot .mean{fill:none;stroke:currentColor;stroke-width:2;\
        stroke-linecap:round}\
        .abduce-plot .halo{fill:none;stroke-width:4.5;stroke-linecap:round}\
        .abduce-plot .strip{fill:none;stroke:currentColor;stroke-width:1;\
        stroke-opacity:.6}\
        .abduce-plot .dots{fill:none;stroke-width:3;stroke-linecap:round;stroke-opacity:.45}\
        .abduce-plot .small .ellipse{stroke-width:.9}.abduce-plot .small .mean{stroke-width:1.4}\
        .abduce-plot .small .halo{stroke-width:3.2}.abduce-plot .small .dots{stroke-width:2}\
        .abduce-plot .small .level{stroke-width:.6}\
        .abduce-plot .best{fill:none;stroke:currentColor;stroke-width:1.6}";
    let mut style = format!("{SHAPES}{LIGHT}");
    let mut dark = DARK.to_string();
    for (number, (on_light, on_dark)) in COLOURS.iter().enumerate() {
        style.push_str(&format!(".abduce-plot .c{number}{{color:{on_light}}}"));
        dark.push_str(&format!(".abduce-plot .c{number}{{color:{on_dark}}}"));
    }
    for (number, dash) in DASHES.iter().enumerate().skip(1) {
        style.push_str(&format!(
            ".abduce-plot .d{number} .line{{stroke-dasharray:{dash}}}"
        ));
    }
    format!("{style}@media (prefers-color-scheme:dark){{{dark}}}")
}

/// The font size of a class, in pixels.
pub(super) fn font_size(class: &str) -> f64 {
    let is = |name: &str| class.split(' ').any(|other| other == name);
    if is("title") {
        16.0
    } else if is("tick") || is("caption") {
        11.0
    } else {
        12.0
    }
}

/// The approximate width of a text, in pixels.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | ' ' | '(' | ')' => 0.32,
        'm' | 'w' | 'M' | 'W' | '%' => 0.9,
        c if c.is_ascii_uppercase() => 0.68,
        c if u32::from(c) >= 0x1100 && !matches!(u32::from(c), 0x2000..0x2300) => 1.0,
        _ => 0.57,
    };
    size * text.chars().map(width).sum::<f64>()
}

/// A text, truncated with an ellipsis if it is wider than `room`.
pub(super) fn fitted(text: &str, size: f64, room: f64) -> String {
    if text_width(text, size) <= room {
        return text.to_string();
    }
    let mut shown = String::new();
    for c in text.chars() {
        shown.push(c);
        if text_width(&shown, size) + 0.9 * size > room {
            shown.pop();
            break;
        }
    }
    format!("{}…", shown.trim_end())
}

/// A text wrapped to lines of at most the width `room`.
pub(super) fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_wide_is_truncated() {
        assert_eq!(fitted("waiting", 12.0, 100.0), "waiting");
        let cut = fitted(&"long ".repeat(50), 12.0, 100.0);
        assert!(
            cut.ends_with('…') && text_width(&cut, 12.0) <= 100.0,
            "{cut}"
        );
        assert_eq!(fitted("abc", 12.0, 0.0), "…");
    }

    #[test]
    fn wrapped_lines_have_all_words_in_order() {
        let text = "one two three four five six seven";
        let lines = wrapped(text, 12.0, 70.0);
        assert!(lines.len() > 2);
        assert_eq!(lines.join(" "), text);
        assert!(lines.iter().all(|line| text_width(line, 12.0) <= 70.0));
    }

    #[test]
    fn fifty_six_groups_look_different() {
        let looks = |group: usize| (group % COLOURS.len(), group % SYMBOLS.len());
        let all: std::collections::HashSet<_> = (0..56).map(looks).collect();
        assert_eq!(all.len(), 56);
    }
}
