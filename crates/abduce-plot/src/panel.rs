//! A panel: two axes in a rectangle of the sheet, with grid lines, labels and names; and the
//! triangle of panels for all pairs of columns.

use super::axes::Axis;
use super::look;
use super::sheet::Room;
use super::svg::{Svg, line_through, pixel, simplified};
use std::fmt::Write;

/// Two axes in a rectangle of the sheet.
pub(super) struct Panel {
    pub x: Axis,
    pub y: Axis,
    pub room: Room,
}

/// The labels of an axis.
#[derive(Clone, Copy, Default)]
pub(super) struct Labels<'a> {
    /// The name of the axis.
    pub name: &'a str,
    /// Whether ticks have numbers.
    pub numbers: bool,
    /// Whether ticks are only at whole numbers.
    pub whole: bool,
}

/// The height of the numbers and the name of an axis below a panel.
pub(super) const BELOW: f64 = 38.0;

impl Panel {
    /// The position of a point on the sheet.
    pub fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.across(x)?, self.up(y)?))
    }

    /// The horizontal position of a number.
    pub fn across(&self, x: f64) -> Option<f64> {
        Some(self.room.left + self.x.fraction(x)? * self.room.width)
    }

    /// The vertical position of a number.
    pub fn up(&self, y: f64) -> Option<f64> {
        Some(self.room.top + (1.0 - self.y.fraction(y)?) * self.room.height)
    }

    /// A line through points. On a logarithmic axis, numbers up to 0 are far to the left of, or
    /// below, the panel.
    pub fn line(&self, points: impl IntoIterator<Item = (f64, f64)>, closed: bool) -> String {
        const FAR: f64 = 1e3;
        let Room { left, top, .. } = self.room;
        let (right, bottom) = (left + self.room.width, top + self.room.height);
        // Very large coordinates are a problem for SVG renderers.
        let place = |(x, y): (f64, f64)| {
            let across = self.across(x).or((x <= 0.0).then_some(-FAR))?;
            let up = self.up(y).or((y <= 0.0).then_some(bottom + FAR))?;
            Some((
                across.clamp(left - FAR, right + FAR),
                up.clamp(top - FAR, bottom + FAR),
            ))
        };
        let places = points.into_iter().filter_map(place).collect();
        line_through(simplified(places), closed)
    }

    /// Opens the clipping region of the panel.
    pub fn open(&self, svg: &mut Svg) {
        let Room {
            left,
            top,
            width,
            height,
        } = self.room;
        svg.region(left, top, width, height);
    }

    fn x_ticks(&self, labels: Labels) -> Vec<(f64, String)> {
        let wanted = tick_count(self.room.width, 58.0);
        if labels.whole {
            self.x.whole_ticks(wanted)
        } else {
            self.x.ticks(wanted)
        }
    }

    fn y_ticks(&self) -> Vec<(f64, String)> {
        self.y.ticks(tick_count(self.room.height, 42.0))
    }

    /// Draws grid lines, axes and labels.
    pub fn draw_axes(&self, svg: &mut Svg, across: Labels, upward: Labels) {
        let Room {
            left,
            top,
            width,
            height,
        } = self.room;
        let (right, bottom) = (left + width, top + height);
        let (x_ticks, y_ticks) = (self.x_ticks(across), self.y_ticks());
        let mut grid = String::new();
        for x in x_ticks.iter().filter_map(|(x, _)| self.across(*x)) {
            let _ = write!(grid, "M{} {}V{}", pixel(x), pixel(top), pixel(bottom));
        }
        for y in y_ticks.iter().filter_map(|(y, _)| self.up(*y)) {
            let _ = write!(grid, "M{} {}H{}", pixel(left), pixel(y), pixel(right));
        }
        svg.path("grid", &grid);
        let (l, t, r, b) = (pixel(left), pixel(top), pixel(right), pixel(bottom));
        svg.path("axis", &format!("M{l} {t}V{b}H{r}"));
        if upward.numbers {
            for (y, label) in &y_ticks {
                let Some(y) = self.up(*y) else { continue };
                svg.text("tick end", left - 6.0, y + 4.0, label, f64::INFINITY);
            }
        }
        self.number_across(svg, across);
    }

    /// Writes the numbers and the name of the horizontal axis.
    pub fn number_across(&self, svg: &mut Svg, across: Labels) {
        let Room { left, width, .. } = self.room;
        let bottom = self.room.top + self.room.height;
        let ticks = if across.numbers {
            self.x_ticks(across)
        } else {
            Vec::new()
        };
        let mut free = f64::NEG_INFINITY;
        for (x, label) in &ticks {
            let Some(x) = self.across(*x) else { continue };
            let half = look::text_width(label, 11.0) / 2.0;
            // Overlapping numbers are left out.
            if x - half > free {
                svg.text("tick middle", x, bottom + 15.0, label, f64::INFINITY);
                free = x + half + 4.0;
            }
        }
        if !across.name.is_empty() {
            svg.text(
                "name middle",
                left + width / 2.0,
                bottom + 33.0,
                across.name,
                width,
            );
        }
    }

    /// Writes the name of the vertical axis at its left.
    pub fn name_upward(&self, svg: &mut Svg, name: &str, x: f64) {
        let middle = self.room.top + self.room.height / 2.0;
        svg.upright_text("name middle", x, middle, name, self.room.height);
    }
}

/// The number of ticks of an axis of some length.
fn tick_count(length: f64, apart: f64) -> usize {
    (length / apart).max(4.0) as usize
}

/// The width of the numbers of a vertical axis.
pub(super) fn numbers_width(axis: &Axis, height: f64) -> f64 {
    let ticks = axis.ticks(tick_count(height, 42.0));
    let widths = ticks.iter().map(|(_, label)| look::text_width(label, 11.0));
    widths.fold(0.0, f64::max) + 8.0
}

/// A panel that fills a rectangle, with names and numbers of both axes.
pub(super) fn single(
    svg: &mut Svg,
    room: Room,
    (x, y): (Axis, Axis),
    across: Labels,
    upward: &str,
) -> Panel {
    let height = (room.height - BELOW).max(10.0);
    let left = 20.0 + numbers_width(&y, height);
    let panel = Panel {
        x,
        y,
        room: Room {
            left: room.left + left,
            top: room.top,
            // Half of the last number is beyond the axis.
            width: (room.width - left - 10.0).max(10.0),
            height,
        },
    };
    let numbers = Labels {
        numbers: true,
        ..Labels::default()
    };
    panel.draw_axes(svg, across, numbers);
    panel.name_upward(svg, upward, room.left + 11.0);
    panel
}

/// Panels for all pairs of columns below the diagonal, and for each column on it.
pub(super) struct Corner {
    axes: Vec<Axis>,
    inner: Room,
}

impl Corner {
    const GAP: f64 = 9.0;

    pub fn new(axes: Vec<Axis>, room: Room) -> Corner {
        let cell = room.height / axes.len() as f64;
        let widths = axes.iter().skip(1).map(|axis| numbers_width(axis, cell));
        let left = 20.0 + widths.fold(0.0, f64::max);
        Corner {
            axes,
            inner: Room {
                left: room.left + left,
                top: room.top,
                width: (room.width - left).max(10.0),
                height: (room.height - BELOW).max(10.0),
            },
        }
    }

    fn cell(&self, column: usize, row: usize) -> Room {
        let count = self.axes.len() as f64;
        let (w, h) = (self.inner.width / count, self.inner.height / count);
        Room {
            left: self.inner.left + w * column as f64,
            top: self.inner.top + h * row as f64,
            width: (w - Corner::GAP).max(5.0),
            height: (h - Corner::GAP).max(5.0),
        }
    }

    /// The panel of two columns, with its axes drawn.
    pub fn pair(&self, svg: &mut Svg, column: usize, row: usize, names: &[&str]) -> Panel {
        let panel = Panel {
            x: self.axes[column].clone(),
            y: self.axes[row].clone(),
            room: self.cell(column, row),
        };
        self.draw(svg, &panel, column, row, names);
        panel
    }

    /// The panel of one column with a vertical axis, with its axes drawn.
    pub fn diagonal(&self, svg: &mut Svg, column: usize, upward: Axis, names: &[&str]) -> Panel {
        let panel = Panel {
            x: self.axes[column].clone(),
            y: upward,
            room: self.cell(column, column),
        };
        self.draw(svg, &panel, column, column, names);
        panel
    }

    fn draw(&self, svg: &mut Svg, panel: &Panel, column: usize, row: usize, names: &[&str]) {
        let (last, first) = (row + 1 == self.axes.len(), column == 0);
        let across = Labels {
            name: if last { names[column] } else { "" },
            numbers: last,
            whole: false,
        };
        let upward = Labels {
            numbers: first && row > 0,
            ..Labels::default()
        };
        panel.draw_axes(svg, across, upward);
        if first {
            panel.name_upward(svg, names[row], 27.0);
        }
    }

    /// The free rectangle above the diagonal.
    pub fn free(&self) -> Room {
        let first = self.cell(self.axes.len().div_ceil(2), 0);
        let diagonal = self.cell(0, self.axes.len().div_ceil(2));
        Room {
            left: first.left + 8.0,
            top: first.top,
            width: (self.inner.left + self.inner.width - first.left - 8.0).max(10.0),
            height: (diagonal.top - first.top - Corner::GAP).max(10.0),
        }
    }
}
