//! Tables for people.

use crate::{failure::Failure, out::Out, screen::shorten};
use unicode_width::UnicodeWidthStr;

/// Maximum length of a cell, in characters; `…` follows those that are kept of a longer one.
const LONGEST: usize = 240;

/// Table that a command prints, with a heading for each column.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(headings: &[&str]) -> Self {
        let headings = headings.iter().map(|heading| (*heading).to_owned());
        Table {
            rows: vec![headings.collect()],
        }
    }

    /// Adds a row. Its cells are made safe for a terminal, and cut if they are too long.
    pub(crate) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        let cells = cells.map(|cell| match cell {
            "" => "-".to_owned(),
            cell => shorten(cell, LONGEST),
        });
        self.rows.push(cells.into());
    }

    /// Prints the table. A table without rows is not printed.
    pub(crate) fn print(&self, out: &mut Out) -> Result<(), Failure> {
        if self.rows.len() < 2 {
            return Ok(());
        }
        let mut widths = vec![0; self.rows[0].len()];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.width().max(*width);
            }
        }
        for row in &self.rows {
            let mut line = String::new();
            for (width, cell) in widths.iter().zip(row) {
                line.push_str(cell);
                line.push_str(&" ".repeat(width - cell.width() + 2));
            }
            out.raw(line.trim_end())?;
        }
        Ok(())
    }
}
