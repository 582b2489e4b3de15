//! Runs the examples. Each test lists lines that the output has to contain, in this order.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod built;

use std::{
    env::consts::EXE_SUFFIX,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
    thread,
};

/// Address without a server, so that the examples run offline.
const NOBODY: &str = "127.0.0.1:9";

/// Runs an example and returns its output.
fn output(example: &str, args: &[&str], ollama: &str) -> String {
    let program = built::EXAMPLES.join(format!("{example}{EXE_SUFFIX}"));
    let output = Command::new(program)
        .args(args)
        .env("OLLAMA_HOST", ollama)
        .env_remove("AGENTS_RECORD")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{example}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Checks that each of these texts begins or ends a line, in this order.
fn check(example: &str, expected: &[&str]) {
    let output = output(example, &[], NOBODY);
    let mut lines = output.lines().map(str::trim);
    for expected in expected {
        assert!(
            lines.any(|line| line.starts_with(expected) || line.ends_with(expected)),
            "{example}: no {expected:?}, or not in its place, in\n{output}"
        );
    }
}

#[test]
fn file_manager() {
    check(
        "file_manager",
        &[
            r#"[list_dir] args={"path": ""} result=["config.json","notes"]"#,
            "? json_fixer is asked to repair read_file, try 2",
            "! read_file → UNKNOWN: the disk sleeps",
            "… read_file again in",
            r#"[read_file] args={"path": "config.json"} result="{\"port\": 8080}""#,
            "error=`read_file` gave up (MEDIUM): file not found",
            "~ write_file repaired: `fix` gave the arguments anew",
            "… write_file again in",
            "result=\"24 bytes written to summary.md\"",
            "~ write_file repaired: path: `sanitize` replaced it",
            r#"[list_dir] args={"path": "notes"} result=["todo.md"]"#,
            "= config.json sets the port to 8080",
            "notes/todo.md: Change the port.",
        ],
    );
}

#[test]
fn hybrid() {
    check(
        "hybrid",
        &[
            "~ create_task repaired: priority: trailing comma dropped",
            "~ create_task repaired: `fix` gave the arguments anew",
            "? json_fixer is asked to repair create_task, try 1",
            "? json_fixer is asked to repair create_task, try 2",
            r#"✓ create_task {"title": "Pay the rent", "priority": 1}"#,
            "= Three tasks are on your list.",
            r#""Sure! A task needs a title and a priority." failed: the arguments cannot be read"#,
        ],
    );
}

#[test]
fn deterministic_fixer() {
    check(
        "deterministic_fixer",
        &[
            r#"{"name": "Ada", "phones": ["1", "2"]}"#,
            r#"string_fixer gave {"name": "Ada", "phones": ["12 34", "56 78"]}  (0 tokens, "#,
            "✓ save_contact",
            "! string_fixer: escalated (MEDIUM): this is encrypted, not malformed",
            "The model was asked 3 times, and never to repair anything.",
        ],
    );
}

#[test]
fn smart_fixer() {
    check(
        "smart_fixer",
        &[
            "= Ada calls the plumber.",
            "? smart_fixer is asked to repair create_task, try 3",
            r#"escalation: source "smart_fixer", severity "MEDIUM", attempts 3, reason "nobody said who the owner is""#,
            "told: ERROR VALIDATION_ERROR (User) in `create_task`: `smart_fixer` gave up (MEDIUM)",
            "= Who should call the plumber?",
            "! smart_fixer: thrown: these are the bytes of a program",
            "= no answer (thrown)",
        ],
    );
}

#[test]
fn timeline() {
    check(
        "timeline",
        &[
            // During the run, each step prints a line at its end.
            r#"{"page": "attic"} → UNKNOWN: entity not found"#,
            "✓ fetch",
            "▸ translator",
            "▸ editor",
            // After the run, the timeline is in the order of the tree.
            "▸ editor",
            "· scripted",
            "✓ fetch",
            "✗ fetch",
            "· scripted",
            "✓ translate",
            "▸ translator",
            "= There is news, and an archive.",
        ],
    );
}

#[test]
fn key_counter() {
    check(
        "key_counter",
        &[
            r#"count_keys {"json": "{name: world, age: 30, active: true}"} failed: `json_fixer` gave up (MEDIUM)"#,
            r#"\"active\": true}"} = 3"#,
            "= 3",
            "The repair agent is sure",
            r#"\"active\": true}"} = 3"#,
            "= 3",
        ],
    );
}

#[test]
fn defaults() {
    check(
        "defaults",
        &[
            "= read_file ran 3 time(s)",
            "= write_file ran 2 time(s)",
            "? path_fixer is asked to repair delete_file, try 1",
            "= delete_file ran 1 time(s)",
        ],
    );
}

#[test]
fn shared_policy() {
    check(
        "shared_policy",
        &[
            "~ read_file repaired: lines: `sanitize` replaced it",
            "✗ delete_file",
            "~ the answer was repaired",
            "= config.json sets the port to 8080; old.log could not be deleted.",
            "= /srv/files",
        ],
    );
}

#[test]
fn quickstart() {
    check(
        "quickstart",
        &[
            "~ to_celsius repaired: `fix` gave the arguments anew",
            "= 36.7 °C",
        ],
    );
}

/// Starts a server that answers chat requests with these texts, as Ollama does; returns its address.
fn server(answers: &'static [&'static str]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while request.read_line(&mut line).unwrap() > 2 {
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            request.read_exact(&mut vec![0; length]).unwrap();
            let message = serde_json::json!({ "role": "assistant", "content": answer });
            let body = serde_json::json!({ "message": message, "done": true }).to_string();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
            .unwrap();
        }
    });
    address
}

#[test]
fn small_model_score() {
    let integer = serde_json::json!({ "type": "integer" });
    let case = |id: &str, input: &str| {
        serde_json::json!({
            "id": id,
            "tool": "triangle.area",
            "input": input,
            "schema": {
                "type": "object",
                "properties": { "base": integer, "height": integer },
                "required": ["base", "height"],
            },
            "acceptable": { "base": [10], "height": [5] },
        })
        .to_string()
    };
    let cases = [
        case("read", "{base: 10, height: 5}"),
        case("repaired", "a base of 10 and a height of 5"),
        case("given up", "base 10"),
    ];
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cases.jsonl");
    fs::write(&file, cases.join("\n")).unwrap();
    let file = file.to_str().unwrap();

    let alone = output("small_model_score", &[file], NOBODY);
    assert_eq!(
        alone,
        format!("{file}: 1 valid, 1 accepted, 0 invented of 3\n")
    );

    let address = server(&[
        "Hello.",
        // Two attempts for the second case.
        "The base is 10.",
        r#"{"base": 10, "height": 5}"#,
        // One for the third case.
        r#"<tool_call>{"name": "escalate", "arguments": {"reason": "no height"}}</tool_call>"#,
        // A repair agent that has given up is not asked again.
        r#"{"base": 10, "height": 5}"#,
    ]);
    let repaired = output("small_model_score", &[file], &address);
    let second = format!("{file} repaired: 2 valid, 2 accepted, 0 invented of 3");
    assert_eq!(repaired.lines().nth(1), Some(&*second));
}

#[test]
fn every_example_is_run_here() {
    let tests = include_str!("main.rs");
    for name in built::names() {
        // These examples score files that are not in the repository.
        let elsewhere = [
            "repair_score",
            "printed_score",
            "score",
            // `tests/kills.rs` runs and kills these.
            "payments",
            "payments_wrong",
        ];
        if !elsewhere.contains(&&*name) {
            assert!(tests.contains(&format!("fn {name}()")), "{name} is not run");
        }
    }
}

#[test]
fn terminal_chat() {
    let mut chat = Command::new(built::EXAMPLES.join(format!("terminal_chat{EXE_SUFFIX}")))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = chat.stdin.take().unwrap();
    stdin.write_all(b"My name is Ada.\nWho am I?\n\n").unwrap();
    let output = chat.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "You said 1 things. The last was: My name is Ada.\nYou said 2 things. The last was: Who am I?\n"
    );
}

#[test]
fn escalation_flow() {
    check(
        "escalation_flow",
        &[
            "The cleanup knows what is meant.",
            "~ write_file repaired: `fix` gave the arguments anew",
            "= The coder has written it.",
            "The repair agent repairs it at the second try.",
            "? json_fixer is asked to repair write_file, try 2",
            "= The coder has written it.",
            "It gives up; a stronger model goes on.",
            "^ `coder`: the failed agent goes on with `scripted`",
            "source: json_fixer, severity: MEDIUM, attempts: 3, path: coder",
            "= The coder has written it.",
            "^ `lead` ends with a partial result",
            "source: json_fixer, severity: HIGH, attempts: 3, path: coder ► lead",
            "= nothing was written: the schema is missed, formatting is not the problem (partial)",
            "= no answer (thrown)",
        ],
    );
}

#[test]
fn organisation() {
    check(
        "organisation",
        &[
            "└─ code_master: write_file, compile, read_file, run_tests, confirm deploy",
            "^ `project`: the failed agent goes on with `scripted`",
            "climbed: coder ► code_master ► project",
            "= the parser is built",
            "= ACME is asked whether less than",
            "= built in part, because half of it cannot be built (partial)",
            "^ nobody handled it, and it is critical: the run ends",
            "= no answer (escalated)",
        ],
    );
}

#[test]
fn pipeline() {
    check(
        "pipeline",
        &["improved from 40", "improved from 70", "= no holes in"],
    );
}

#[test]
fn forum() {
    check(
        "forum",
        &["? ", "= We try it on the parser, and nowhere else."],
    );
}

#[test]
fn branch() {
    check(
        "branch",
        &[
            "let a = b?; → live: let a = b?;",
            "let a = b.unwrap(); → Ada, please see to 1 defects in let a = b.unwrap();",
        ],
    );
}

/// The picture on the front page shows the example's current output; `scripts/picture` redraws it.
#[test]
fn the_picture_of_the_file_manager() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let picture = manifest.join("book/src/pictures/file_manager.svg");
    let picture = fs::read_to_string(picture).unwrap();
    let lines = picture.lines().filter_map(|line| {
        let line = line.strip_prefix("<text ")?.strip_suffix("</text>")?;
        Some(line.split_once('>')?.1)
    });
    let drawn = lines.skip(1).collect::<String>();
    let drawn = drawn.replace("&lt;", "<").replace("&gt;", ">");
    let printed = output("file_manager", &[], NOBODY);
    assert_eq!(
        without_times(&drawn.replace("&amp;", "&")),
        without_times(&printed)
    );
}

/// Removes spaces, since the picture breaks lines, and figures, since waits are random and times differ (`<1 ms`, `2
/// ms`).
fn without_times(text: &str) -> String {
    let figures = |c: char| c.is_whitespace() || c.is_ascii_digit() || c == '<';
    text.replace(figures, "")
}
