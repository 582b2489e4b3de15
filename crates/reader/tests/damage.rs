//! Tests on damaged texts from the example `damage`: a tool that writes never gets wrong arguments.

#[path = "../examples/damage/damages.rs"]
mod damages;
#[path = "../examples/damage/generate.rs"]
mod generate;
#[path = "../examples/damage/printed.rs"]
mod printed;
#[path = "../examples/damage/score.rs"]
#[allow(dead_code, reason = "the program prints, the test does not")]
mod score;

use score::{Case, Table};

/// Number of generated values; each is damaged in every way.
const VALUES: u64 = 3_000;

fn table(seed: u64) -> Table {
    let mut table = Table::new(damages::KINDS);
    for index in 0..VALUES {
        let value = generate::value(seed, index);
        for (kind, text) in damages::all(&value, seed, index) {
            let case = Case {
                kind,
                schema: &value.schema,
                compiled: Some(&value.compiled),
                meant: &value.meant,
                text: &text,
            };
            table.add(&case, Some(kind));
        }
        for outcome in printed::all(seed, index) {
            table.add_printed(&outcome, Some(outcome.kind));
        }
    }
    table
}

#[test]
fn a_tool_that_writes_never_gets_wrong_arguments() {
    let table = table(7);
    for kind in damages::KINDS {
        let row = table.of(kind);
        assert!(row.n > 20, "{kind} was made {} times only", row.n);
        let wrong = row.writes.wrong as f64 / row.n as f64;
        // Text without quotes may have several meanings, and two kinds of damage may cancel each other out.
        let most = match *kind {
            "unquoted_string" => 0.03,
            "two" => 0.01,
            _ => 0.001,
        };
        assert!(wrong <= most, "{kind}: {wrong} of {} are wrong", row.n);
    }
    for kind in printed::KINDS {
        let row = table.of(kind);
        assert!(row.n > 20, "{kind} was made {} times only", row.n);
        assert_eq!(row.writes.wrong, 0, "{kind}");
    }
}

#[test]
fn damage_with_one_meaning_is_read() {
    let table = table(8);
    for (kind, least) in [
        ("trailing_comma", 1.0),
        ("missing_comma", 1.0),
        ("missing_colon", 1.0),
        ("single_quotes", 1.0),
        ("unquoted_keys", 1.0),
        ("fence", 1.0),
        ("python", 1.0),
        ("wrapped", 0.98),
        ("stringified", 1.0),
        ("key_case", 1.0),
        ("wrong_closer", 0.85),
        ("missing_quote", 0.85),
        ("semicolons", 0.85),
        ("backslash_newline", 1.0),
        ("calls_in_a_row", 0.80),
    ] {
        let row = table.of(kind);
        let right = row.writes.right as f64 / row.n as f64;
        assert!(right >= least, "{kind}: {right} of {} are right", row.n);
    }
}
