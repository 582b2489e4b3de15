//! Evals: case files, scores, reports that are compared, and recorded models.

use crate::world::Plain;
use agents::{
    Agent, AgentBuilder, Budget, Effects, Error,
    evals::{Case, Eval, Judged, Report, Score, Verdict, read_cases},
    model::{Reply, Usage},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

/// A folder that is gone in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("agents-evals-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn parrot() -> (Plain, ScriptedModel) {
    let (model, handle) = ScriptedModel::from_fn(|asked| Script::text(asked.last()));
    let agent = AgentBuilder::new("parrot").model(model).build();
    (agent, handle)
}

fn cases<const N: usize>(cases: [(&str, &str, &str); N]) -> Vec<Case<String, String>> {
    cases
        .map(|(name, input, expected)| Case::new(name, input, expected.to_owned()))
        .into()
}

#[test]
fn a_bad_case_file_names_the_file_the_line_and_the_field() {
    let folder = Folder::new("bad-cases");
    let path = folder.path().join("cases.jsonl");
    let good = r#"{"name": "a", "input": "1", "expected": 1}"#;
    for (line, error) in [
        (
            r#"{"name": "b", "input": 2, "expected": 1}"#,
            "line 3: field `input`: invalid type: integer `2`, expected a string at column 24",
        ),
        (
            r#"{"name": "b", "input": "2", "expectd": 1}"#,
            "line 3: field `expectd`: unknown field `expectd`, expected one of `name`, `input`, `expected` at column 37",
        ),
        (
            r#"{"name": "b", "input": "2"}"#,
            "line 3: missing field `expected` at column 27",
        ),
        (
            r#"{"name": "b", "name": "c", "input": "2", "expected": 1}"#,
            "line 3: duplicate field `name` at column 20",
        ),
        (
            r#"{"name": " ", "input": "2", "expected": 1}"#,
            "line 3: field `name`: it is empty; give each case a name",
        ),
        (
            r#"{"name": "A", "input": "2", "expected": 1}"#,
            "line 3: field `name`: `A` is also the name of the case in line 1; names differ, and not in upper and lower case alone",
        ),
        (
            r#"["b", "2", 1]"#,
            r#"line 3: a line is one case, such as {"name": "norway", "input": "Norway", "expected": "Oslo"}"#,
        ),
        (
            r#"{"name": "b", "input": "2", "expected": 1} {}"#,
            "line 3: trailing characters at line 1 column 44",
        ),
        (
            r#"{"name": "b""#,
            "line 3: EOF while parsing an object at column 12",
        ),
    ] {
        fs::write(&path, format!("{good}\n\n{line}\n")).unwrap();
        let found = read_cases::<String, u32>(&path).unwrap_err().to_string();
        assert_eq!(found, format!("{}, {error}", path.display()));
    }
    fs::write(&path, "\n").unwrap();
    let error = read_cases::<String, u32>(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("cases.jsonl: there is no case in it"),
        "{error}"
    );
    let error = read_cases::<String, u32>(folder.path().join("none.jsonl")).unwrap_err();
    assert!(error.to_string().contains("none.jsonl: "), "{error}");
}

#[tokio::test]
async fn a_nested_field_is_named_by_its_path() {
    #[derive(Debug, serde::Serialize, serde::Deserialize)]
    struct Trip {
        stops: Vec<u32>,
    }
    let folder = Folder::new("nested-cases");
    let path = folder.path().join("cases.jsonl");
    fs::write(
        &path,
        r#"{"name": "a", "input": {"stops": [1, -2]}, "expected": null}"#,
    )
    .unwrap();
    let error = read_cases::<Trip, ()>(&path).unwrap_err().to_string();
    assert!(
        error.contains("line 1: field `input.stops[1]`: "),
        "{error}"
    );
}

#[tokio::test]
async fn whatever_happens_to_a_case_is_its_result() {
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.last() {
        "fail" => Script::fail("out of memory"),
        "number" => Script::text("7"),
        text => Script::text(text),
    });
    let agent: Plain<String, u32> = AgentBuilder::new("counter").model(model).build();
    let cases = cases([
        ("fails", "fail", ""),
        ("no number", "many", ""),
        ("panics", "panic", ""),
        ("panics while scored", "8", ""),
        ("good", "number", ""),
    ]);
    let report = Eval::new("all", &cases, |input: String| {
        assert_ne!(input, "panic", "what a day");
        agent.run(input).budget(Budget::new().max_turns(2))
    })
    .predicate("seven", |tried| match tried.output {
        8 => panic!("eight"),
        output => *output == 7,
    })
    .await;

    let found: Vec<_> = report
        .cases
        .iter()
        .map(|case| (&*case.name, case.error.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(found.len(), 5);
    assert_eq!(
        found[0],
        ("fails", "model: agent `counter`, turn 1: out of memory")
    );
    assert!(found[1].1.starts_with("invalid output: "), "{found:?}");
    assert!(found[2].1.starts_with("panicked: ") && found[2].1.contains("what a day"));
    assert_eq!(found[3], ("panics while scored", "panicked: eight"));
    assert_eq!(found[4], ("good", ""));
    assert_eq!(report.passed(), 1);
    // The run of a case that could not be scored has cost what it has cost.
    assert_eq!(report.cases[3].spent.usage.requests, 1);
    assert_eq!(report.cases[1].spent.usage.requests, 2);
    assert!(report.to_string().contains("turn 1: out of memory"));
}

#[tokio::test]
async fn no_more_cases_run_at_once_than_was_said_and_the_order_stays() {
    let (now, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (counted, seen) = (now.clone(), most.clone());
    let (model, _) = ScriptedModel::from_async_fn(move |asked| {
        let (now, most) = (counted.clone(), seen.clone());
        async move {
            let at_once = now.fetch_add(1, SeqCst) + 1;
            most.fetch_max(at_once, SeqCst);
            // Later cases end first.
            let nth: u64 = asked.last().parse().unwrap();
            tokio::time::sleep(Duration::from_millis(30 - nth)).await;
            now.fetch_sub(1, SeqCst);
            Script::text(asked.last())
        }
    });
    let agent: Plain = AgentBuilder::new("parrot").model(model).build();
    let cases: Vec<_> = (0..20)
        .map(|n| Case::new(n.to_string(), n.to_string(), n.to_string()))
        .collect();
    let eval = Eval::new("order", &cases, |input| agent.run(input));
    let report = eval.exact().at_once(3).await;
    assert_eq!((report.passed(), most.load(SeqCst)), (20, 3));
    let names = report.cases.iter().map(|case| case.name.clone());
    assert!(names.eq((0..20).map(|n| n.to_string())));
    let eval = Eval::new("order", &cases, |input| agent.run(input));
    assert_eq!(eval.at_once(0).await.passed(), 20);

    let twins = [&cases[..1], &cases[..1]].concat();
    let report = Eval::new("twins", &twins, |input| agent.run(input)).await;
    assert_eq!(report.passed(), 1);
    let error = report.cases[1].error.as_deref().unwrap();
    assert!(
        error.starts_with("an earlier case has this name"),
        "{error}"
    );
}

#[tokio::test]
async fn each_scorer_has_its_column_and_its_note() {
    let (agent, _) = parrot();
    let cases = cases([
        ("same", r#"{"n": 1}"#, r#"{"n": 1}"#),
        ("other", r#"{"n": "1"}"#, r#"{"n": 1}"#),
    ]);
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let report = Eval::new("scores", &cases, |input| agent.run(input))
        .exact()
        .schema(&schema)
        .predicate("short", |tried| {
            Score::graded(5.0 / tried.output.len() as f64, 0.5)
        })
        .predicate("short", |tried| tried.case.input.len() < 100)
        .await;
    let scores = &report.cases[1].scores;
    let names: Vec<_> = scores.iter().map(|score| &*score.by).collect();
    assert_eq!(names, ["exact", "schema", "short", "short 2"]);
    let notes: Vec<_> = scores
        .iter()
        .map(|score| score.score.note.as_deref())
        .collect();
    assert_eq!(
        notes[0],
        Some(r#"expected "{\"n\": 1}", got "{\"n\": \"1\"}""#)
    );
    assert!(notes[1].unwrap().contains("`n`"), "{notes:?}");
    assert_eq!(
        report.cases[1].output.as_ref().unwrap().to_value().unwrap(),
        r#"{"n": "1"}"#
    );
    let table = report.to_string();
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines[0], "scores: 1 of 2 passed, 30 tokens, cost unknown");
    assert!(lines[1].starts_with("   case   exact  schema  short   short 2  calls  tokens  cost"));
    assert!(
        lines[2].starts_with("✓  same   ✓      ✓       ✓ 0.62  ✓"),
        "{table}"
    );
    assert!(
        lines[3].starts_with("✗  other  ✗      ✗       ✓ 0.50  ✓"),
        "{table}"
    );
}

#[tokio::test]
async fn judges_are_charged_apart_and_a_judge_that_fails_fails_its_score() {
    let usage = Usage {
        input_tokens: 100,
        output_tokens: 10,
        requests: 1,
        ..Usage::default()
    };
    let said = move |content: &str| {
        let content = content.to_owned();
        Script::with(move |_| Reply {
            content: content.clone(),
            usage,
            ..Reply::default()
        })
    };
    let (agent, _) = parrot();
    let (large, asked) = ScriptedModel::from_fn(move |asked| match asked.last().contains("Oslo") {
        true => said(r#"{"reason": "It names Oslo.", "passes": true}"#),
        false => Script::fail("asleep"),
    });
    let judge: Plain<Judged, Verdict> = AgentBuilder::new("examiner").model(large).build();
    let cases = cases([
        ("norway", "It is Oslo.", "Oslo"),
        ("sweden", "Who knows?", "Stockholm"),
    ]);
    let report = Eval::new("capitals", &cases, |input| {
        agent.run(input).price("*", 0.0, 0.0)
    })
    .judge("meaning", |answer| {
        judge.run(answer).price("*", 1000.0, 2000.0)
    })
    .at_once(1)
    .await;

    assert_eq!(report.passed(), 1);
    let [norway, sweden] = &report.cases[..] else {
        panic!("{report}");
    };
    assert_eq!(norway.spent.usage.tokens(), 15);
    assert_eq!(
        (
            norway.judging.usage.tokens(),
            norway.judging.cost.unwrap().amount()
        ),
        (110, 0.12)
    );
    let note = sweden.scores[0].score.note.as_deref().unwrap();
    assert!(note.starts_with("the judge gave no verdict: ") && note.ends_with("asleep"));
    // The judge was told all three.
    let first = asked.requests()[0].last().to_owned();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&first).unwrap(),
        json!({"input": "It is Oslo.", "expected": "Oslo", "output": "It is Oslo."})
    );
}

#[tokio::test]
async fn recorded_models_answer_without_a_model_and_a_difference_is_the_error_of_its_case() {
    let folder = Folder::new("recorded-evals");
    let recordings = folder.path().join("rec");
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let tool = FnTool::new(
        "look",
        "Looks.",
        Effects::Reads,
        json!({"type": "object"}),
        move |_, _| {
            counted.fetch_add(1, SeqCst);
            async { Ok::<_, std::io::Error>("dark") }
        },
    );
    let (model, handle) = ScriptedModel::from_fn(|asked| match asked.results().len() {
        0 => Script::call("look", "{}"),
        _ => Script::text("dark"),
    });
    let agent = |prompt: &'static str| -> Plain {
        AgentBuilder::new("watcher")
            .prompt(prompt)
            .tool(tool.clone())
            .build()
    };
    let watcher = agent("Watch.");
    let (large, judged) =
        ScriptedModel::always(Script::text(r#"{"reason": "so", "passes": true}"#));
    let judge: Plain<Judged, Verdict> = AgentBuilder::new("examiner").build();
    // Names with characters that no file name may have.
    let cases = cases([("in/side", "In?", "dark"), ("..", "Out?", "dark")]);

    let live = Eval::new("watch", &cases, |input| {
        watcher.run(input).model(model.clone())
    })
    .exact()
    .judge("so/so", |answer| judge.run(answer).model(large.clone()))
    .record(&recordings)
    .await;
    assert_eq!(live.passed(), 2, "{live}");
    assert_eq!(
        (handle.count(), judged.count(), runs.load(SeqCst)),
        (4, 2, 2)
    );
    let mut files: Vec<_> = fs::read_dir(&recordings)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(
        files,
        [
            "%2E%2E+so%2Fso.jsonl",
            "%2E%2E.jsonl",
            "in%2Fside+so%2Fso.jsonl",
            "in%2Fside.jsonl"
        ]
    );

    // No model anywhere: the replies are recorded, the tool runs.
    let again = Eval::new("watch", &cases, |input| watcher.run(input))
        .exact()
        .judge("so/so", |answer| judge.run(answer))
        .replay(&recordings)
        .await;
    assert_eq!((again.passed(), runs.load(SeqCst)), (2, 4), "{again}");
    assert_eq!((handle.count(), judged.count()), (4, 2));
    assert_eq!(again.cases[0].spent.usage, live.cases[0].spent.usage);

    // Recorded a second time, it replaces the first recording.
    let other = agent("Watch well.");
    let differs = Eval::new("watch", &cases, |input| other.run(input))
        .replay(&recordings)
        .await;
    let error = differs.cases[0].error.as_deref().unwrap();
    assert!(
        error.starts_with("replay: ") && error.contains("request 1 differs"),
        "{error}"
    );
    let live = Eval::new("watch", &cases, |input| {
        other.run(input).model(model.clone())
    });
    assert_eq!(live.record(&recordings).await.passed(), 2);
    let again = Eval::new("watch", &cases, |input| other.run(input))
        .replay(&recordings)
        .await;
    assert_eq!(again.passed(), 2, "{again}");

    let missing = Eval::new("watch", &cases, |input| other.run(input))
        .replay(folder.path())
        .await;
    let error = missing.cases[1].error.as_deref().unwrap();
    assert!(
        error.starts_with("there is no recording ") && error.contains(".record(..)"),
        "{error}"
    );
}

#[tokio::test]
async fn a_diff_tells_better_worse_new_and_gone() {
    let (agent, _) = parrot();
    let eval = async |cases: &[Case<String, String>]| {
        let graded = |text: &str| Score::graded(text.len() as f64 / 10.0, 0.0);
        Eval::new("diff", cases, |input| agent.run(input))
            .exact()
            .predicate("long", |tried| graded(tried.output))
            .await
    };
    let before = eval(&cases([
        ("stays", "abc", "abc"),
        ("breaks", "abc", "abc"),
        ("mends", "abc", "x"),
        ("shrinks", "abc", "x"),
        ("grows", "abc", "x"),
        ("goes", "abc", "abc"),
    ]))
    .await;
    let now = eval(&cases([
        ("comes", "abc", "x"),
        ("stays", "abc", "abc"),
        ("breaks", "abcdef", "abc"),
        ("mends", "a", "a"),
        ("shrinks", "a", "x"),
        ("grows", "abcd", "x"),
    ]))
    .await;

    // Written and read, nothing is lost.
    let folder = Folder::new("evals-diff");
    let path = folder.path().join("before.json");
    before.write(&path).unwrap();
    before.write(&path).unwrap(); // replaced
    let read = Report::read(&path).unwrap();
    assert_eq!(read, before);

    let diff = read.diff(&now);
    let names = |changes: &[agents::evals::Change]| {
        changes
            .iter()
            .map(|change| change.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&diff.worse), ["breaks", "shrinks"]);
    // Whether a case passes counts more than a score.
    assert_eq!(names(&diff.better), ["mends", "grows"]);
    assert_eq!(diff.new[0].name, "comes");
    assert_eq!((&diff.gone[..], diff.same), (&["goes".to_owned()][..], 1));
    assert_eq!(diff.worse[1].what, ["long 0.30 → 0.10"]);
    let table = diff.to_string();
    for line in [
        "diff: 2 worse, 2 better, 1 new, 1 gone, 1 as before",
        r#"worse   breaks   exact 1.00 → 0.00 (expected "abc", got "abcdef"), long 0.30 → 0.60"#,
        "new     comes    does not pass",
        "gone    goes",
    ] {
        assert!(
            table.lines().any(|other| other == line),
            "{line} in\n{table}"
        );
    }
    // Codes cannot be compared, but printed.
    let code = |code: std::process::ExitCode| format!("{code:?}");
    assert_eq!(
        code(diff.exit_code()),
        code(std::process::ExitCode::FAILURE)
    );
    let same = before.diff(&before);
    assert_eq!(
        code(same.exit_code()),
        code(std::process::ExitCode::SUCCESS)
    );
    assert_eq!((same.same, same.worse.len(), same.better.len()), (6, 0, 0));
    assert_eq!(
        code(before.exit_code()),
        code(std::process::ExitCode::FAILURE)
    );
}

#[tokio::test]
async fn without_an_answer_each_score_counts_as_0() {
    let (agent, _) = parrot();
    let (model, _) = ScriptedModel::always(Script::fail("asleep"));
    let silent: Plain = AgentBuilder::new("silent").model(model).build();
    let cases = cases([("right", "a", "a"), ("wrong", "b", "c")]);
    let said = Eval::new("x", &cases, |input| agent.run(input))
        .exact()
        .await;
    let unsaid = Eval::new("x", &cases, |input| silent.run(input))
        .exact()
        .await;
    let diff = said.diff(&unsaid);
    // A wrong answer is not better than none.
    assert_eq!((diff.worse.len(), diff.same), (1, 1));
    assert_eq!(
        diff.worse[0].what,
        ["model: agent `silent`, turn 1: asleep"]
    );
    let back = unsaid.diff(&said);
    assert_eq!(
        back.better[0].what,
        ["there is an answer now", "exact 0.00 → 1.00"]
    );
}

#[test]
fn a_report_that_is_none_is_refused_with_its_field() {
    let folder = Folder::new("bad-reports");
    let path = folder.path().join("report.json");
    let report = |change: &str| {
        format!(
            r#"{{"agents_evals": 1, "name": "x", "at": "2026-11-26T07:02:44.210Z", "cases": [{change}]}}"#
        )
    };
    for (text, error) in [
        (
            report("").replace(": 1", ": 2"),
            "field `agents_evals`: the report has format 2; this version reads format 1",
        ),
        (
            report(r#"{"name": "a"}"#),
            "field `cases[0]`: missing field `passed`",
        ),
        ("[]".to_owned(), "invalid length 0"),
        (format!("{}x", report("")), "trailing characters"),
        (String::new(), "EOF"),
    ] {
        fs::write(&path, text).unwrap();
        let found = Report::read(&path).unwrap_err().to_string();
        assert!(
            found.starts_with(&format!("{}: ", path.display())),
            "{found}"
        );
        assert!(found.contains(error), "{found}");
    }
}

#[tokio::test]
async fn k3_a_secret_is_not_in_a_report() {
    let (model, _) = ScriptedModel::always(Script::text("the key is hunter2-hunter2"));
    let agent: Plain = AgentBuilder::new("gossip").model(model).build();
    let (large, asked) =
        ScriptedModel::always(Script::text(r#"{"reason": "no", "passes": false}"#));
    let judge: Plain<Judged, Verdict> = AgentBuilder::new("examiner").model(large).build();
    let cases = cases([("leak", "What is it?", "nothing")]);
    let report = Eval::new("secrets", &cases, |input| {
        agent.run(input).secret("crm", "hunter2-hunter2")
    })
    .exact()
    .judge("discreet", |answer| judge.run(answer))
    .await;
    let told = asked.requests()[0].last().to_owned();
    for text in [
        report.to_string(),
        serde_json::to_string(&report).unwrap(),
        told,
    ] {
        assert!(!text.contains("hunter2"), "{text}");
        assert!(text.contains("crm"), "{text}");
    }
}

#[tokio::test]
async fn what_a_model_says_is_inert_on_a_terminal() -> Result<(), Error> {
    let (agent, _) = parrot();
    let cases = cases([("esc\u{1b}[2J", "\u{1b}[2J\u{202e}", "x")]);
    let report = Eval::new("e\u{1b}", &cases, |input| agent.run(input))
        .exact()
        .await;
    let empty = Eval::new("e", &[] as &[Case<String, String>], |input| {
        agent.run(input)
    })
    .await;
    for text in [
        report.to_string(),
        report.diff(&empty).to_string(),
        empty.diff(&report).to_string(),
    ] {
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    }
    Ok(())
}
