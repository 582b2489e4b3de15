use agents::{prelude::*, recovery::Repair};

/// Reads a slip such as `Emma -> Ada`.
pub fn from_slip(raw: &str) -> Option<String> {
    let (title, reader) = raw.split_once(" -> ")?;
    Some(serde_json::json!({ "title": title, "reader": reader }).to_string())
}

/// You read slips of paper. Answer with the JSON that was meant, and nothing else.
#[agent(budget(max_turns = 2))]
pub async fn slip_reader(request: Repair) -> String;
