use super::Live;
use agents_core::{
    model::{FinishReason, Usage},
    run::{Event, EventKind, Timestamp, ToolEnvelope},
};
use std::{sync::Arc, time::Duration};

fn event(place: &str, kind: EventKind) -> Event {
    Event {
        run_id: "run".into(),
        seq: 1,
        at: Timestamp::default(),
        agent: if place.contains("helper") {
            "helper"
        } else {
            "clerk"
        }
        .into(),
        depth: 0,
        place: place.into(),
        kind,
    }
}

fn receipt(name: &str) -> Arc<ToolEnvelope> {
    let receipt = serde_json::json!({
        "call_id": name, "name": name, "version": "1.0.0", "input": {"n": 1}, "output": "done",
        "t_start": "2026-01-01T00:00:00Z", "t_end": "2026-01-01T00:00:01Z",
        "attempts": [{"number": 1}, {"number": 2}], "cached": true,
    });
    Arc::new(serde_json::from_value(receipt).unwrap())
}

/// Returns the events of a run for a test, and the milliseconds at which they occur.
fn story() -> Vec<(u64, Event)> {
    let usage = Usage {
        input_tokens: 10,
        output_tokens: 5,
        requests: 1,
        ..Usage::default()
    };
    let asked = |turn| EventKind::ModelRequested {
        choosing: false,
        turn,
        model: "scripted".into(),
    };
    let replied = |turn, calls| EventKind::ModelReplied {
        turn,
        calls,
        finish: FinishReason::Stop,
        usage,
    };
    let started = |tool: &str| EventKind::CallStarted {
        tool_call_id: "1".into(),
        tool: tool.into(),
        arguments: "{}".into(),
    };
    let helper = "/call0000.01/helper#ab.01";
    vec![
        (0, event("", EventKind::RunStarted { run_id: "r".into() })),
        (0, event("", asked(1))),
        (200, event("", EventKind::Text("not shown".into()))),
        (200, event("", replied(1, 2))),
        (200, event("/call0000", started("ask"))),
        (200, event("/call0001", started("add"))),
        (300, event(helper, EventKind::AgentStarted)),
        (300, event(helper, asked(1))),
        (
            400,
            event("/call0001", EventKind::CallEnded(receipt("add"))),
        ),
        (700, event(helper, replied(1, 0))),
        (700, event(helper, EventKind::AgentEnded { ok: true })),
        (
            800,
            event("/call0000", EventKind::CallEnded(receipt("ask"))),
        ),
        (800, event("", asked(2))),
        (1000, event("", replied(2, 0))),
        (
            1000,
            event(
                "",
                EventKind::RunEnded {
                    ok: true,
                    partial: false,
                    usage,
                    took: Duration::from_secs(1),
                },
            ),
        ),
    ]
}

fn drawn(redraw: bool) -> Vec<String> {
    let mut live = Live {
        out: Vec::new(),
        redraw,
        rows: Vec::new(),
        drawn: 0,
        raised: Vec::new(),
        unsettled: Vec::new(),
        escalations: Vec::new(),
        why: None,
    };
    let mut frames = Vec::new();
    for (millis, event) in story() {
        live.on(&event, Timestamp::from_millis(millis)).unwrap();
        let written = String::from_utf8(std::mem::take(&mut live.out)).unwrap();
        frames.extend((!written.is_empty()).then_some(written));
    }
    frames
}

/// Returns the text without colours.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("\x1b[") {
        out.push_str(&rest[..start]);
        let end = rest[start..]
            .find(|c: char| c.is_ascii_alphabetic())
            .unwrap();
        rest = &rest[start + end + 1..];
    }
    out + rest
}

#[test]
fn a_line_for_each_step_when_it_ends() {
    expect_test::expect![[r#"
          · scripted             200 ms  (15 tokens) 2 calls
          ✓ add                  200 ms  (cached, 2 attempts) {"n":1} → "done"
              · scripted         400 ms  (15 tokens) answered
            ▸ helper             400 ms
          ✓ ask                  600 ms  (cached, 2 attempts) {"n":1} → "done"
          · scripted             200 ms  (15 tokens) answered
        ▸ clerk                 1000 ms
    "#]]
    .assert_eq(&drawn(false).concat());
}

#[test]
fn what_is_no_terminal_gets_no_codes() {
    assert!(!drawn(false).concat().contains('\u{1b}'));
}

#[test]
fn a_terminal_is_drawn_over() {
    let frames = drawn(true);
    expect_test::expect![[r#"
        ▸ clerk                ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒   300 ms
          · scripted           █████████████          200 ms  (15 tokens) 2 calls
          … ask                             ▒▒▒▒▒▒▒   100 ms  {}
            ▸ helper                              ▒    <1 ms
              · scripted                          ▒    <1 ms
          … add                             ▒▒▒▒▒▒▒   100 ms  {}
    "#]]
    .assert_eq(&plain(&frames[6]));
    expect_test::expect![[r#"
        ▸ clerk                ████████████████████  1000 ms
          · scripted           ████                   200 ms  (15 tokens) 2 calls
          ✓ ask                    ████████████       600 ms  (cached, 2 attempts) {"n…
            ▸ helper                 ████████         400 ms
              · scripted             ████████         400 ms  (15 tokens) answered
          ✓ add                    ████               200 ms  (cached, 2 attempts) {"n…
          · scripted                           ████   200 ms  (15 tokens) answered
    "#]]
    .assert_eq(&plain(frames.last().unwrap()));
    for (before, after) in frames.iter().zip(&frames[1..]) {
        let lines = before.matches('\n').count();
        assert!(
            after.starts_with(&format!("\x1b[?7l\x1b[{lines}A\x1b[0J")),
            "{after:?}"
        );
    }
    let widest = frames.iter().flat_map(|frame| {
        plain(frame)
            .lines()
            .map(|line| line.chars().count())
            .collect::<Vec<_>>()
    });
    assert!(widest.max().unwrap() < 80);
}
