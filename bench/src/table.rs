//! Figures of a benchmark, in rows and columns.

use serde::Serialize;

/// A table of figures, which becomes a part of the README and a chart.
#[derive(Debug, Serialize)]
pub struct Table {
    /// Name of the result files, without extension.
    pub name: String,
    /// Title of the chart.
    pub title: String,
    /// Unit of the table's figures.
    pub unit: String,
    /// Method of measurement, in a sentence.
    pub method: String,
    /// Is `true` if the chart has a logarithmic scale.
    pub logarithmic: bool,
    /// Is `true` if smaller figures are better.
    pub less: bool,
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
pub struct Row {
    pub name: String,
    /// Figures of the row, one for each column.
    pub cells: Vec<Cell>,
}

/// A figure of a table, or an empty cell.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Cell {
    pub value: Option<f64>,
    /// Is `true` if the measured program gave a wrong result.
    pub wrong: bool,
}

impl Cell {
    pub fn of(value: f64) -> Cell {
        Cell {
            value: Some(value),
            wrong: false,
        }
    }

    /// Formats the figure with about three digits, in brackets if the result is wrong.
    pub fn text(&self) -> String {
        let Some(value) = self.value else {
            return "–".to_owned();
        };
        let places = match value.abs() {
            value if value >= 100.0 || value.fract() == 0.0 => 0,
            value if value >= 10.0 => 1,
            _ => 2,
        };
        let text = format!("{value:.places$}");
        match self.wrong {
            true => format!("({text})"),
            false => text,
        }
    }
}
