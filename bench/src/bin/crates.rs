//! Counts the crates that a client of a provider costs, without TLS and with it.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin crates [-- --write]`

use agents_bench::{
    minimal::{crates, package},
    table::{Cell, Row, Table},
};

/// Rows of the table: name, the features of `minimal/providers` without TLS, and those with TLS. AutoAgents always has
/// TLS.
const ROWS: [(&str, Option<&str>, &str); 8] = [
    ("reqwest, by hand", Some("hand"), "hand-tls"),
    ("agents, Ollama", Some("ollama"), "ollama agents-tls"),
    ("agents, OpenAI", Some("openai"), "openai agents-tls"),
    (
        "agents, Anthropic",
        Some("anthropic"),
        "anthropic agents-tls",
    ),
    ("agents, Gemini", Some("gemini"), "gemini agents-tls"),
    (
        "async-openai 0.43",
        Some("async-openai"),
        "async-openai-tls",
    ),
    ("rig 0.44", Some("rig"), "rig-tls"),
    ("AutoAgents 0.4", None, "autoagents"),
];

fn main() {
    let folder = package("providers");
    let count = |features: &str| Cell::of(crates(&folder, &["--features", features]) as f64);
    let rows = ROWS.into_iter().map(|(name, without, with)| Row {
        name: name.into(),
        cells: vec![without.map_or_else(Cell::default, count), count(with)],
    });
    let table = Table {
        name: "crates".into(),
        title: "Crates that a client of a provider costs".into(),
        unit: "crates".into(),
        method:
            "Crates that `cargo tree -e normal` lists for a package that depends on nothing else \
                 (`bench/minimal/providers/`), at the versions of one lock file, for this machine."
                .into(),
        logarithmic: false,
        less: true,
        columns: vec!["without TLS".into(), "with TLS".into()],
        rows: rows.collect(),
    };
    println!("{}", table.markdown());
    if std::env::args().any(|text| text == "--write") {
        table.write().expect("the results can be written");
    }
}
