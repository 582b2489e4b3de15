//! Repair agents.

use super::*;
use ::agents::{
    AgentBuilder, ErrorKind, Severity, agent, agent::Skill, recovery::*, run::Stopped, tool::FnTool,
};
use serde_json::json;

fn asks(agent: ScribeAgent, retries: u32) -> impl Arms {
    on_args(move |_, _| fix_with(agent.clone()).retries(retries))
}

// 12
#[tokio::test]
async fn what_a_repair_agent_gives_is_read_in_place_of_what_failed() {
    let (agent, asked) = scribe(|_| Ok(r#"{"n": 4}"#.into()));
    let seen = call(0, "four, please", asks(agent, 1)).await;
    assert_eq!(seen.told(), "did 4");
    assert_eq!(seen.receipt().input.as_str(), r#"{"n": 4}"#);
    assert_eq!(
        seen.receipt().repairs.to_string(),
        "`scribe` gave the arguments anew"
    );
    let asked = asked.lock().unwrap();
    let repair = &asked[0];
    assert_eq!(
        (repair.tool.as_str(), repair.stage.as_str()),
        ("job", "invalid_args")
    );
    assert_eq!((repair.raw.as_str(), repair.attempt), ("four, please", 1));
    assert!(repair.schema["properties"]["n"].is_object() && !repair.error.is_empty());
}

// 13
#[tokio::test]
async fn a_repair_agent_that_fails_twice_is_asked_three_times() {
    let (agent, asked) = scribe(|repair| match repair.attempt {
        3 => Ok(r#"{"n":3}"#.into()),
        _ => Err(Error::new(ErrorKind::Model, "the line is dead")),
    });
    let seen = call(0, "three", asks(agent, 3)).await;
    assert_eq!(
        (seen.told().as_str(), asked.lock().unwrap().len()),
        ("did 3", 3)
    );
    let asked = asked.lock().unwrap();
    let tried = &asked[2].previous;
    assert_eq!(tried.len(), 2);
    assert!(
        tried
            .iter()
            .all(|tried| tried.error.contains("the line is dead"))
    );
}

// 13, further: text that does not read uses up a try too, and the next try sees why.
#[tokio::test]
async fn text_that_does_not_read_uses_up_a_try() {
    let (agent, asked) = scribe(|repair| Ok(format!("nonsense {}", repair.attempt)));
    let seen = call(0, "three", asks(agent, 3)).await;
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[2].previous[1].text, "nonsense 2");
    assert!(!asked[2].previous[1].error.is_empty());
    assert!(seen.told().starts_with("ERROR VALIDATION_ERROR"));
}

// 14: used-up attempts are no separate error. The next step of the plan follows, then the model.
#[tokio::test]
async fn spent_tries_fall_through_to_the_next_step() {
    let (agent, asked) = scribe(|_| Err(Error::new(ErrorKind::Model, "no")));
    let arms = on_args(move |_, _| {
        fix_with(agent.clone())
            .retries(2)
            .or(feedback("send a number"))
    });
    let seen = call(0, "three", arms).await;
    assert_eq!(asked.lock().unwrap().len(), 2);
    assert!(seen.told().ends_with("; send a number"));
    assert_eq!(seen.outcome.result.unwrap(), "end");
}

// 15
#[tokio::test]
async fn an_escalating_repair_agent_ends_the_repair_with_its_reason_and_severity() {
    let (agent, asked) = scribe(|_| Err(Error::escalated("schema mismatch", Severity::Medium)));
    let seen = call(0, "three", asks(agent, 3)).await;
    assert_eq!(asked.lock().unwrap().len(), 1);
    let error = seen.error();
    assert_eq!(
        (error.kind.as_str(), error.reason.as_deref()),
        ("EscalationError", Some("schema mismatch"))
    );
    let mut details = error.details.clone().unwrap();
    let original = details.as_object_mut().unwrap().remove("original").unwrap();
    assert_eq!(
        details,
        json!({
            "source": "scribe", "severity": "MEDIUM", "attempts": 1,
            "remark": "no agent above handled this, so decide yourself how to go on",
        })
    );
    assert_eq!(
        (&original["kind"], &original["details"]["raw_args"]),
        (&json!("InvalidArgs"), &json!("three")),
        "what it began with is told as well"
    );
}

// The complete path: code, then three attempts, then an escalation that reports their number.
#[tokio::test]
async fn an_escalation_counts_the_tries_before_it() {
    let (agent, _) = scribe(|repair| match repair.attempt {
        3 => Err(Error::escalated("not a formatting issue", Severity::High)),
        n => Ok(format!("worse {n}")),
    });
    let arms = on_args(move |raw, _| {
        let cleaned = raw.strip_prefix("json ").map(str::to_owned);
        fix(cleaned).or(fix_with(agent.clone()).retries(3))
    });
    let seen = call(0, "three", arms).await;
    assert_eq!(seen.error().details.as_ref().unwrap()["attempts"], 3);
}

// 16, 17
#[tokio::test]
async fn a_throwing_repair_agent_ends_the_run_at_once() {
    let (agent, asked) = scribe(|_| Err(Error::thrown("this is an attack")));
    let seen = call(0, "three", asks(agent, 5)).await;
    assert_eq!(
        asked.lock().unwrap().len(),
        1,
        "the other tries are not used"
    );
    assert_eq!(seen.model.count(), 1, "no further model call");
    assert_eq!(
        seen.count(|kind| matches!(kind, EventKind::CallEnded(receipt) if receipt.is_ok())),
        0
    );
    assert_eq!(
        seen.count(|kind| matches!(kind, EventKind::CallEnded(_))),
        1,
        "its receipt is told, so that no call is missing"
    );
    let reason = "this is an attack".to_owned();
    assert_eq!(
        seen.outcome.stopped,
        Some(Stopped::Thrown {
            source: "scribe".into(),
            reason
        })
    );
    let error = seen.outcome.result.unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Thrown, "this is an attack")
    );
}

// 18: a repair never invents a result; it gives arguments, and the tool runs again with them.
#[tokio::test]
async fn a_repair_of_a_failed_execution_gives_arguments_and_the_tool_runs_again() {
    let (agent, asked) = scribe(|_| Ok(r#"{"n":2}"#.into()));
    let arms = on_failure(move |_| fix_with(agent.clone()));
    let seen = call(1, r#"{"n":1}"#, arms).await;
    assert_eq!((seen.runs, seen.told().as_str()), (2, "did 2"));
    let asked = asked.lock().unwrap();
    assert_eq!(
        (asked[0].stage.as_str(), asked[0].raw.as_str()),
        ("execution_error", r#"{"n":1}"#)
    );
    assert_eq!(asked[0].error, "failure 1");
}

// 19
#[tokio::test]
async fn the_model_is_told_of_an_escalation_and_may_call_again() {
    let (agent, _) = scribe(|_| Err(Error::escalated("which three?", Severity::Low)));
    let script = vec![
        Script::call("job", "three"),
        Script::call("job", r#"{"n":3}"#),
        Script::text("end"),
    ];
    let seen = see(0, script, asks(agent, 1)).await;
    for part in ["ERROR", "`scribe` gave up (LOW): which three?"] {
        assert!(seen.told().contains(part), "{}", seen.told());
    }
    assert_eq!(seen.model.requests()[2].last(), "did 3");
    let failed =
        seen.count(|kind| matches!(kind, EventKind::CallEnded(receipt) if !receipt.is_ok()));
    assert_eq!(failed, 1, "an escalated call does not look like a success");
}

/// Repairs by editing the text, or gives up.
#[agent]
fn regex_fixer(broken: Repair) -> Result<String, Error> {
    match &*broken.raw {
        raw if raw.contains("secret") => Err(Error::thrown("a secret was sent")),
        raw if raw.contains("unsure") => Err(Error::escalated("I am unsure", Severity::Low)),
        raw => Ok(raw.replace("n is ", r#"{"n":"#) + "}"),
    }
}

// 20
#[tokio::test]
async fn x7_a_repair_agent_without_a_model_may_mend_escalate_and_throw() {
    let arms = || on_args(|_, _| fix_with(RegexFixer));
    assert_eq!(call(0, "n is 5", arms()).await.told(), "did 5");
    assert_eq!(
        call(0, "unsure", arms()).await.error().kind,
        "EscalationError"
    );
    assert!(
        call(0, "a secret", arms())
            .await
            .outcome
            .result
            .unwrap_err()
            .kind()
            == ErrorKind::Thrown
    );
}

// A repair agent may take plain text: that is the text that failed, or everything in words.
#[tokio::test]
async fn a_repair_agent_may_take_plain_text() {
    /// Checks that the request contains everything a repair agent needs.
    fn look(request: String) -> String {
        let complete = ["`job`", "JSON Schema", "The JSON: seven"]
            .iter()
            .all(|part| request.contains(part));
        match (complete, &*request) {
            (true, _) => r#"{"n":7}"#.into(),
            (false, "seven") => r#"{"n":77}"#.into(),
            (false, _) => request,
        }
    }
    let reader = |input| {
        let look = Skill::native("look", "Looks.", async |request| Ok(look(request)));
        let reader = AgentBuilder::<String, String>::new("reader").skill(look);
        reader.repair_input(input).build()
    };
    for (input, told) in [(RepairInput::Report, "did 7"), (RepairInput::Raw, "did 77")] {
        let arms = on_args(move |_, _| fix_with(reader(input)));
        assert_eq!(call(0, "seven", arms).await.told(), told);
    }
}

// 21
#[tokio::test]
async fn a_severity_is_read_in_any_case_and_high_when_it_is_none() {
    for (arguments, severity) in [
        (r#"{"reason":"r","severity":"low"}"#, "LOW"),
        (r#"{"reason":"r","severity":"Medium"}"#, "MEDIUM"),
        (r#"{"reason":"r","severity":"HIGH"}"#, "HIGH"),
        (r#"{"reason":"r","severity":null}"#, "HIGH"),
        (r#"{"reason":"r"}"#, "HIGH"),
    ] {
        let (agent, _) = model_scribe([Script::call("escalate", arguments)]);
        let told = call(0, "three", asks(agent, 1)).await.told();
        assert!(told.contains(&format!("gave up ({severity}): r")), "{told}");
    }
}

// 21: a misspelt severity is refused, and so is an escalation without a reason.
#[tokio::test]
async fn an_unknown_severity_is_refused_with_the_list() {
    let list = r#"expected one of "LOW", "MEDIUM", "HIGH", "CRITICAL", got "apocalyptic""#;
    for (arguments, told) in [
        (r#"{"reason":"r","severity":"apocalyptic"}"#, list),
        (
            r#"{"severity":"LOW"}"#,
            "field `reason`: required, and missing; add it",
        ),
    ] {
        let script = [
            Script::call("escalate", arguments),
            Script::text(r#"{"n": 3}"#),
        ];
        let (model, asked) = ScriptedModel::new(script);
        let agent: ScribeAgent = Arc::new(AgentBuilder::new("scribe").model(model).build());
        let seen = call(0, "three", asks(agent, 1)).await;
        let answer = asked.requests()[1].last().to_owned();
        assert!(answer.contains(told), "{answer}");
        assert_eq!(seen.told(), "did 3");
    }
    let (agent, asked) = model_scribe([Script::text(r#"{"n": 3}"#)]);
    call(0, "three", asks(agent, 1)).await;
    let offered = asked.requests()[0].declarations.to_string();
    assert!(
        offered.contains(r#""enum":["LOW","MEDIUM","HIGH","CRITICAL"]"#)
            && offered.matches(r#""required":["reason"]"#).count() == 2,
        "{offered}"
    );
}

#[tokio::test]
async fn a_critical_escalation_from_the_tool_ends_the_run() {
    let (agent, _) = model_scribe([Script::call(
        "escalate",
        r#"{"reason":"r","severity":"CRITICAL"}"#,
    )]);
    let seen = call(0, "three", asks(agent, 1)).await;
    assert_eq!(
        seen.outcome.result.unwrap_err().kind(),
        ErrorKind::Escalated
    );
    assert_eq!(seen.model.count(), 1);
}

// 22: both tools exist only within a repair, and need no declaration.
#[tokio::test]
async fn escalate_and_throw_exist_only_within_a_repair() {
    let (agent, handle) = model_scribe([Script::text(r#"{"n":1}"#)]);
    call(0, "one", asks(agent.clone(), 1)).await;
    assert_eq!(handle.requests()[0].tools, ["escalate", "throw_exception"]);
    let (model, alone) = ScriptedModel::new([Script::text("fine")]);
    let plain: Plain = AgentBuilder::new("scribe").model(model).build();
    plain.run("go").await.unwrap();
    assert!(alone.requests()[0].tools.is_empty());
}

// Repair agents whose tools fail and are repaired by further repair agents come to an end.
#[tokio::test]
async fn repairs_within_repairs_are_bounded() {
    fn nested(deep: u32) -> ScribeAgent {
        let (model, _) = ScriptedModel::always(Script::call("probe", "not json"));
        let probe = FnTool::new(
            "probe",
            "Probes.",
            ::agents::Effects::None,
            json!({"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}),
            |_, _| async { Ok::<_, io::Error>(()) },
        );
        let builder = AgentBuilder::new(format!("deep{deep}"))
            .model(model)
            .tool(probe)
            .budget(Budget::new().max_turns(1));
        let builder = match deep {
            0 => builder,
            _ => {
                let inner = nested(deep - 1);
                builder.on_error(on_args(move |_, _| fix_with(inner.clone())))
            }
        };
        Arc::new(builder.build())
    }
    let seen = call(0, "three", asks(nested(9), 1)).await;
    let asked = seen.count(|kind| matches!(kind, EventKind::FixerRequested { .. }));
    assert_eq!(asked, 5, "the fifth finds that it is too deep");
    assert_eq!(seen.outcome.result.unwrap(), "end");
}
