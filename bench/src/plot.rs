//! Bar charts as SVG: a group for each column of a table, a bar for each row.

use crate::table::{Cell, Table};
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const NAMES: f64 = 190.0;
const BAR: f64 = 18.0;
const COLOURS: [&str; 8] = [
    "#8a8f98", "#c2410c", "#e08e45", "#3b6ea8", "#5b9a68", "#7a5ca8", "#a8556b", "#4a9a9a",
];

/// Draws a table as a bar chart. The bar of a wrong result is hollow.
pub fn svg(table: &Table, footer: &str) -> String {
    let groups = table.columns.len() as f64;
    let rows = table.rows.len() as f64;
    let height = 64.0 + groups * (rows * (BAR + 4.0) + 34.0) + 30.0;
    let mut out = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12" fill="#24292f">
<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>
<text x="16" y="26" font-size="16" font-weight="bold">{}</text>
<text x="16" y="46" fill="#57606a">{}, {}{}</text>
"##,
        escaped(&table.title),
        escaped(&table.unit),
        if table.less {
            "less is better"
        } else {
            "more is better"
        },
        if table.logarithmic {
            "; logarithmic"
        } else {
            ""
        },
    );
    let mut y = 64.0;
    for (at, column) in table.columns.iter().enumerate() {
        let cell = |row: usize| table.rows[row].cells.get(at).copied().unwrap_or_default();
        let values = (0..table.rows.len()).filter_map(|row| cell(row).value);
        let scale = Scale::of(values.collect(), table.logarithmic);
        y += 16.0;
        let _ = writeln!(
            out,
            r##"<text x="16" y="{y}" font-weight="bold">{}</text>"##,
            escaped(column)
        );
        y += 8.0;
        for (nth, row) in table.rows.iter().enumerate() {
            bar(
                &mut out,
                y,
                &row.name,
                cell(nth),
                &scale,
                COLOURS[nth % COLOURS.len()],
            );
            y += BAR + 4.0;
        }
        y += 10.0;
    }
    let _ = writeln!(
        out,
        r##"<text x="16" y="{}" font-size="10" fill="#57606a">{}</text>
</svg>"##,
        height - 12.0,
        escaped(footer)
    );
    out
}

fn bar(out: &mut String, y: f64, name: &str, cell: Cell, scale: &Scale, colour: &str) {
    let text = y + BAR - 5.0;
    let _ = writeln!(
        out,
        r##"<text x="{}" y="{text}" text-anchor="end">{}</text>"##,
        NAMES - 8.0,
        escaped(name)
    );
    let width = cell.value.map_or(0.0, |value| scale.width(value));
    let fill = if cell.wrong { "none" } else { colour };
    let _ = writeln!(
        out,
        r##"<rect x="{NAMES}" y="{y}" width="{width:.1}" height="{BAR}" fill="{fill}" stroke="{colour}"/>"##
    );
    let _ = writeln!(
        out,
        r##"<text x="{:.1}" y="{text}">{}</text>"##,
        NAMES + width + 6.0,
        cell.text()
    );
}

/// Scale of a bar chart: from a figure to the width of its bar.
struct Scale {
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Scale {
    fn of(values: Vec<f64>, logarithmic: bool) -> Scale {
        let to = values.iter().copied().fold(0.0, f64::max);
        let least = values.iter().copied().filter(|value| *value > 0.0);
        let from = match logarithmic {
            // The scale starts at a tenth of the smallest figure, so that its bar is visible.
            true => least.fold(f64::INFINITY, f64::min) / 10.0,
            false => 0.0,
        };
        Scale {
            from,
            to,
            logarithmic,
        }
    }

    fn width(&self, value: f64) -> f64 {
        let share = match self.logarithmic {
            true => (value / self.from).ln() / (self.to / self.from).ln(),
            false => value / self.to,
        };
        let room = WIDTH - NAMES - 70.0;
        if share.is_finite() {
            share.clamp(0.0, 1.0) * room
        } else {
            0.0
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
