use super::{Collected, Media, collect::push};
use crate::{Error, ErrorKind};
use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
    ser::SerializeStruct,
};
use serde_json::Value;
use std::fmt;

/// Table that a tool returns: columns with names, and rows of cells.
///
/// The model reads the rows as JSON. The receipt of the call has the table as an attachment as well, of the type
/// `text/csv`. The content of the attachment is kept only if the run has a [blob store](crate::blob), and the store
/// takes it.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::Table;
/// use serde_json::json;
///
/// #[derive(serde::Serialize)]
/// struct Lead { name: &'static str, euros: u32 }
///
/// let leads = [Lead { name: "Ada", euros: 40 }, Lead { name: "Grace", euros: 2 }];
/// let table = Table::of(&leads)?;
/// assert_eq!(table, Table::new(["name", "euros"]).row([json!("Ada"), json!(40)]).row([json!("Grace"), json!(2)]));
/// assert_eq!(table.to_csv(), "name,euros\r\nAda,40\r\nGrace,2\r\n");
/// # Ok::<(), agents::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct Table {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows, each with one cell for each column; this is not checked.
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Table {
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Creates a table of structs: a row for each struct, and a column for each field. The cell of a field that a
    /// struct leaves out is `null`.
    ///
    /// # Errors
    /// When a row is not a struct or a map, or cannot be written as JSON.
    pub fn of<T: Serialize>(rows: &[T]) -> Result<Self, Error> {
        let mut table = Table::default();
        for row in rows {
            let record: serde_json::Result<Record> =
                serde_json::to_string(row).and_then(|row| serde_json::from_str(&row));
            let Record(fields) = record.map_err(|error| {
                let why = format!(
                    "a row of a table is not a struct ({error}): give `Table::of(..)` structs, or use `Table::new(..)`"
                );
                Error::new(ErrorKind::InvalidInput, why)
            })?;
            let mut cells = vec![Value::Null; table.columns.len()];
            for (name, value) in fields {
                match table.columns.iter().position(|column| *column == name) {
                    Some(at) => cells[at] = value,
                    None => {
                        table.columns.push(name);
                        table.rows.iter_mut().for_each(|row| row.push(Value::Null));
                        cells.push(value);
                    }
                }
            }
            table.rows.push(cells);
        }
        Ok(table)
    }

    /// Adds a row with one cell for each column; the number of cells is not checked.
    #[must_use]
    pub fn row<V: Into<Value>>(mut self, cells: impl IntoIterator<Item = V>) -> Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    /// Returns the table as comma-separated values (RFC 4180), the names of the columns first.
    pub fn to_csv(&self) -> String {
        let mut csv = String::new();
        let names = self.columns.iter().map(|name| quoted(name));
        line(&mut csv, names);
        for row in &self.rows {
            let cells = row.iter().map(|cell| match cell {
                Value::Null => String::new(),
                Value::String(text) => quoted(text),
                other => quoted(&other.to_string()),
            });
            line(&mut csv, cells);
        }
        csv
    }
}

fn line(csv: &mut String, cells: impl Iterator<Item = String>) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            csv.push(',');
        }
        csv.push_str(&cell);
    }
    csv.push_str("\r\n");
}

fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

/// Writes the table as its columns and rows, and adds it to the attachments of an output.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        push(|| Collected {
            media: Media::of_text("text/csv", &self.to_csv()),
            is_table: true,
        });
        let mut out = serializer.serialize_struct("Table", 2)?;
        out.serialize_field("columns", &self.columns)?;
        out.serialize_field("rows", &self.rows)?;
        out.end()
    }
}

/// Fields of a struct, in their order, as a row of a table.
struct Record(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Record;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a struct")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Record(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::Table;
    use serde_json::json;

    #[test]
    fn cells_are_quoted_where_the_format_needs_it() {
        let table = Table::new(["a,b", "c"])
            .row([json!("say \"hi\""), json!(null)])
            .row([json!("two\nlines"), json!([1, "x"])]);
        assert_eq!(
            table.to_csv(),
            "\"a,b\",c\r\n\"say \"\"hi\"\"\",\r\n\"two\nlines\",\"[1,\"\"x\"\"]\"\r\n"
        );
    }

    #[test]
    fn a_field_that_a_row_leaves_out_is_null() {
        let rows = [json!({ "b": 1 }), json!({ "a": 2, "b": 3 })];
        let table = Table::of(&rows).unwrap();
        assert_eq!(table.columns, ["b", "a"]);
        assert_eq!(table.rows, [[json!(1), json!(null)], [json!(3), json!(2)]]);
        let error = Table::of(&["text"]).unwrap_err().to_string();
        assert!(error.contains("is not a struct"), "{error}");
    }
}
