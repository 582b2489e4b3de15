//! Runs the examples. Each test lists lines that the output has to contain, in this order.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod built;

use serde_json::Value;
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
fn parcels() {
    check(
        "parcels",
        &[
            "└─ tracker: track",
            "… track again in",
            r#"✓ tracker {"parcel": 17} → "It was delivered.""#,
            "? json_fixer is asked to repair track, try 1",
            "~ track repaired: `json_fixer` gave the arguments anew for 15 tokens",
            "^ `tracker` ends with a partial result",
            r#"✓ tracker {"parcel": 18} → "No answer: nobody knows this parcel.""#,
            // What the first call has found is in the answer.
            "= Parcel 17 was delivered. Nobody knows parcel 18: please check its number.",
        ],
    );
}

/// The example asks an Ollama, whose part this test plays.
#[test]
fn first_agent() {
    let call = serde_json::json!({ "name": "copies", "arguments": { "title": "Emma" } });
    let call = serde_json::json!({ "content": "", "tool_calls": [{ "function": call }] });
    let answer = serde_json::json!({ "content": "true" });
    assert_eq!(output("first_agent", &[], &serve([call, answer])), "true\n");
}

#[test]
fn claims() {
    check(
        "claims",
        &[
            "the model                             plain types  Done, Known",
            "says so, and has not called                  lied      stopped",
            "writes a receipt itself                      lied      stopped",
            "invents an account                           paid      stopped",
            "in all                                         10            0",
        ],
    );
}

#[test]
fn replay() {
    check(
        "replay",
        &[
            "A-17 is refunded",
            "today, without a model, and without a refund:",
            "the same",
            "now `You refund orders, and say that you are sorry.` (fact 2)",
            "the call of `refund` needs approval now, and needed none in the recording (fact 6)",
        ],
    );
}

#[test]
fn questions() {
    check(
        "questions",
        &[
            "the user is asked: Where do you want to sit?",
            "the user is asked: Who flies?",
            r#"ask_user: "Window" from the user"#,
            r#"Booked for {"name":"Ada Lovelace","bags":2}."#,
        ],
    );
}

#[test]
fn background() {
    check(
        "background",
        &[
            "├─ researcher: in the background",
            "… researcher-1 goes on in the background",
            "✓ researcher {\"question\": \"How old does it get?\"}",
            "✗ illustrator",
            "= Done: the last line is about a whale of 211 years.",
            "[Result of `researcher`, ticket `researcher-1`] A blue whale weighs up to 199 tonnes.",
            "[Result of `researcher`, ticket `researcher-2`] The oldest one that is known was 211 years old.",
        ],
    );
}

#[test]
fn steering() {
    check(
        "steering",
        &[
            r#""examples: all green""#,
            "paused: nothing else begins",
            "ada says: Never mind the units. Test the payments.",
            r#""payments: all green""#,
            "The payments are green.",
        ],
    );
}

#[test]
fn long_conversation() {
    check(
        "long_conversation",
        &[
            "without `context`",
            "agent `forgetful`, turn 8: the agent can shorten its conversation by itself: `context = trim(at = 0.75)`: prompt is too long: 2021 tokens > 2000 maximum",
            "context = trim(at = 0.75)",
            "1763 tokens for a window of 2000: 6 messages are replaced by 1",
            "Sales grow. (8 receipts)",
            "context = compact(at = 0.75, by = Summariser)",
            "Sales grow. (11 requests, those for summaries included)",
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
fn tools_on_demand() {
    check(
        "tools_on_demand",
        &[
            "approved: tracker_delete_label",
            "= Label 7 is gone.",
            "= There are two milestones.",
            "offered to the model, request by request:",
            "read_clock search_tools",
            "read_clock search_tools tracker_delete_label",
            "read_clock search_tools tracker_delete_label tracker_list_milestone",
        ],
    );
}

#[test]
fn skill_folders() {
    check(
        "skill_folders",
        &[
            "= We pay 42 euros back. They arrive on Friday.",
            "offered at first: pay_back refunds tone-of-voice",
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
            "1 call, succeeded, repaired; ",
        ],
    );
}

/// Starts a server that answers chat requests with these texts, as Ollama does; returns its address.
fn server(answers: &'static [&'static str]) -> String {
    let message = |answer: &&str| serde_json::json!({ "content": answer });
    serve(answers.iter().map(message).collect::<Vec<_>>())
}

/// Starts a server that answers chat requests with these messages, as Ollama does; returns its address.
fn serve(messages: impl IntoIterator<Item = Value, IntoIter: Send> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut message in messages {
            message["role"] = "assistant".into();
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
fn evals() {
    let table = output("evals", &[], NOBODY);
    assert!(
        table.starts_with("celsius: 5 of 8 passed, 7646 tokens"),
        "{table}"
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/evals");
    let now = Path::new(env!("CARGO_TARGET_TMPDIR")).join("evals.json");
    let _ = fs::remove_file(&now);
    let native = folder.join("native.json");
    let arguments = [native.to_str().unwrap(), "--write", now.to_str().unwrap()];
    let diff = output("evals", &arguments, NOBODY);
    // The page shows both, except for the times.
    let page = fs::read_to_string(folder.join("../../book/src/evals.md")).unwrap();
    let (_, shown) = diff.split_once("\n\n").unwrap();
    assert!(page.contains(shown.trim_end()), "{diff}");
    let times = |text: &str| text.replace(|c: char| c.is_ascii_digit() || c == ' ', "");
    assert!(times(&page).contains(&times(table.trim_end())), "{table}");

    // The earlier report is worse, so the exit status says so.
    let program = built::EXAMPLES.join(format!("evals{EXE_SUFFIX}"));
    let better = fs::read_to_string(&now).unwrap();
    fs::write(
        &now,
        better.replace("\"passed\": false", "\"passed\": true"),
    )
    .unwrap();
    let worse = Command::new(program).arg(&now).output().unwrap();
    assert_eq!(worse.status.code(), Some(1));
    let worse = String::from_utf8(worse.stdout).unwrap();
    assert!(worse.contains("celsius: 3 worse, 0 better"), "{worse}");
}

#[test]
fn every_example_is_run_here() {
    let tests = include_str!("main.rs");
    for name in built::names() {
        // These examples score files that are not in the repository.
        let elsewhere = ["repair_score", "printed_score", "reports_score", "score"];
        if !elsewhere.contains(&&*name) {
            assert!(tests.contains(&format!("fn {name}()")), "{name} is not run");
        }
    }
}

/// Runs an example with these lines as its input, and returns its output.
fn talk(example: &str, args: &[&str], lines: &str) -> String {
    let mut program = Command::new(built::EXAMPLES.join(format!("{example}{EXE_SUFFIX}")))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = program.stdin.take().unwrap();
    // An example that reads nothing may have ended by now.
    let _ = stdin.write_all(lines.as_bytes());
    drop(stdin);
    let output = program.wait_with_output().unwrap();
    assert!(output.status.success(), "{example}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn terminal_chat() {
    assert_eq!(
        talk("terminal_chat", &[], "My name is Ada.\nWho am I?\n\n"),
        "You said 1 things. The last was: My name is Ada.\nYou said 2 things. The last was: Who am I?\n"
    );
}

#[test]
fn translator_chat() {
    assert_eq!(
        talk("translator_chat", &[], "Wie spät ist es?\nThanks\n\n"),
        "You asked for the time. It is noon.\nYou are welcome.\n"
    );
}

#[test]
fn bank_support() {
    check(
        "bank_support",
        &[
            "What is my balance?",
            r#"Advice { advice: "Ada, you have $123.45.", block_card: false, risk: 1 }"#,
            r#"Advice { advice: "Ada, your card is blocked.", block_card: true, risk: 8 }"#,
        ],
    );
}

#[test]
fn flight_booking() {
    let said = talk(
        "flight_booking",
        &[],
        "search\nbuy\nsomewhere\nat the window, with room\n",
    );
    let shown: Vec<_> = said
        .lines()
        .filter(|line| line.starts_with("Flight"))
        .collect();
    assert!(
        shown[0].contains("LA101") && shown[1].contains("AK123"),
        "{said}"
    );
    assert!(
        said.ends_with("Which seat?\nWhich seat?\n= AK123, seat 14A\n"),
        "{said}"
    );
}

#[test]
fn airline() {
    let said = talk(
        "airline",
        &[],
        "How many bags may I bring?\nI want another seat.\nABC123, 12A\n\n",
    );
    let mut lines = said.lines().map(str::trim);
    for expected in [
        "→ hands the conversation to questions",
        "questions: One bag of up to 23 kg.",
        "→ hands the conversation to desk",
        "→ hands the conversation to seats",
        "seats: What is your confirmation number, and which seat?",
        "seats: You have seat 12A.",
        r#"Customer { flight: Some("FLT-482"), seat: Some("12A") }"#,
    ] {
        assert!(
            lines.any(|line| line == expected),
            "{expected:?} in\n{said}"
        );
    }
    // A message that only goes to the agent that has the conversation is no hand-off.
    assert_eq!(said.matches("→ hands").count(), 3, "{said}");
}

#[test]
fn homework_guard() {
    assert_eq!(
        talk(
            "homework_guard",
            &[],
            "What is the capital of California?\nPlease solve 2x + 5 = 11.\nWhat did I want?\n\n"
        ),
        "Sacramento is the capital of California.\nSorry, I do no homework (an equation to solve).\nYou wanted an equation solved.\n"
    );
}

#[test]
fn csv_analyst() {
    check(
        "csv_analyst",
        &[
            r#"✗ add_up {"column": "sales"} → UNKNOWN: no column `sales`; there are city, month, sold; hint: call `look`"#,
            "~ add_up repaired: column: trailing comma dropped",
            "= 340 were sold; the report says so.",
            "340 were sold; one cell was no number.",
        ],
    );
}

#[test]
fn approval_later() {
    let journal = std::env::temp_dir().join(format!("approval-later-{}", std::process::id()));
    let _ = fs::remove_file(&journal);
    let file = journal.to_str().unwrap();
    let run = |words: &[&str]| talk("approval_later", &[&[file], words].concat(), "");
    assert_eq!(
        run(&[]),
        "may transfer run with {\"to\": \"rent\", \"amount\": 50}?\n"
    );
    assert_eq!(
        run(&["only 20"]),
        "may transfer run with {\"to\": \"rent\", \"amount\": 20}?\n"
    );
    assert_eq!(
        run(&["approve"]),
        "  transferred $20 to rent\n= $20 went to rent\n"
    );
    // It is done: nothing is asked, and nothing is transferred.
    assert_eq!(run(&["approve"]), "= $20 went to rent\n");
    fs::remove_file(&journal).unwrap();
}

/// Serves these streams of server-sent events, one to each request, and returns the address.
fn streams(answers: [&'static str; 2]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    format!("http://{address}/v1")
}

#[test]
fn openai_compatible() {
    let call = r#"data: {"choices":[{"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"weather","arguments":""}}]},"finish_reason":null}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":"}}]},"finish_reason":null}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"Lisbon\"}"}}]},"finish_reason":null}]}

data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}

data: {"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":10}}

data: [DONE]

"#;
    let text = r#"data: {"choices":[{"delta":{"content":"Sunny, "},"finish_reason":null}]}

data: {"choices":[{"delta":{"content":"all day."},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":80,"completion_tokens":5}}

data: [DONE]

"#;
    let said = talk("openai_compatible", &[&streams([call, text]), "any"], "");
    assert_eq!(said, "Sunny, all day.\n(145 tokens)\n");
}

/// Every split of a stream gives the same line, and every cut an error.
#[test]
fn decode() {
    let stream = concat!(
        "data: {\"choices\":[{\"delta\":{\"content\":\"Lookíng\"}}]}\r\n\r\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}}]}}]}\r\n\r\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":10}}\r\n\r\n",
        "data: [DONE]\r\n\r\n",
    );
    let decode = |args: &[&str]| talk("decode", &[&["openai-chat"], args].concat(), stream);
    let expect = r#"{"calls":[{"arguments":"{}","name":"look"}],"error":null,"finish":"tool_calls","text":"Lookíng","usage":{"input":50,"output":10}}"#;
    for args in [&[][..], &["--framing", "sse"], &["--stop", "9999"]] {
        assert_eq!(decode(args).trim_end(), expect, "{args:?}");
    }
    for chunk in (1..stream.len()).step_by(7) {
        let line = decode(&["--chunk", &chunk.to_string()]);
        assert_eq!(line.trim_end(), expect, "{chunk} bytes");
    }
    for stop in (0..stream.len()).step_by(7).chain([stream.len() - 1]) {
        let line = decode(&["--stop", &stop.to_string()]);
        assert!(
            line.contains(r#""error":"the reply ended before its end""#),
            "{stop}: {line}"
        );
    }
    // A call that may not have ended is left out.
    assert!(decode(&["--stop", "190"]).contains(r#""calls":[]"#));
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

/// The front page has the first program as a whole, and the second in parts.
#[test]
fn the_front_page_shows_its_programs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("README.md")).unwrap();
    for (example, head) in [
        ("first_agent", "\n```rust,no_run\n"),
        ("parcels", "\n```rust,ignore\n"),
    ] {
        let code = fs::read_to_string(root.join(format!("examples/{example}.rs"))).unwrap();
        let (about, code) = code.split_once("\n\n").unwrap();
        assert!(about.lines().all(|line| line.starts_with("//!")), "{about}");
        let parts = page.split(head).skip(1);
        let parts = parts.map(|part| part.split("\n```\n").next().unwrap());
        let parts: Vec<_> = parts.collect();
        assert_eq!(parts.join("\n\n"), code.trim_end(), "{example}");
    }
}

/// The picture on the front page shows the example's current output; `scripts/picture` redraws it.
#[test]
fn the_picture_of_the_parcels() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let picture = manifest.join("book/src/pictures/parcels.svg");
    let picture = fs::read_to_string(picture).unwrap();
    let lines = picture.lines().filter_map(|line| {
        let line = line.strip_prefix("<text ")?.strip_suffix("</text>")?;
        Some(line.split_once('>')?.1)
    });
    let drawn = lines.skip(1).collect::<String>();
    let drawn = drawn.replace("&lt;", "<").replace("&gt;", ">");
    let printed = output("parcels", &[], NOBODY);
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
