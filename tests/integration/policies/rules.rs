//! Policies of a run: they restrict the settings of agents and tools, and a denial has a receipt like any other
//! failure.

use crate::world::{Add, agent_with, always_adds, counted, errors, scripted_agent, spec, told};
use agents::{
    Agent, AgentBuilder, Code, Effects, ErrorKind, Json,
    policy::{
        Action, Policy, Verdict, confirm_tools, confirm_writes, deny_tools, no_external,
        only_tools, read_only,
    },
    recovery::{CallError, Deserialization, Execution, retry, sanitize},
    run::{Approval, ApprovalRequest, Stopped},
    testing::Script,
    tool::{FnTool, ToolSpec},
};
use serde_json::json;
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering::SeqCst},
};

/// Calls each of these tools once under this rule, and returns the results.
async fn under(
    rule: impl Policy,
    specs: Vec<ToolSpec>,
) -> (Vec<Option<(Code, String)>>, Vec<u32>, Vec<String>) {
    let calls: Vec<_> = specs
        .iter()
        .map(|spec| (spec.name.to_string(), "{}"))
        .collect();
    let (tools, runs): (Vec<_>, Vec<_>) = specs.into_iter().map(counted).unzip();
    let (agent, handle) = agent_with(tools, [Script::calls(calls), Script::text("done")]);
    let outcome = agent.run("go").policy(rule).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "done");
    let runs = runs.iter().map(|runs| runs.load(SeqCst)).collect();
    (errors(&outcome.outputs), runs, told(&handle))
}

fn denied(message: &str) -> Option<(Code, String)> {
    Some((Code::PolicyDenied, message.to_owned()))
}

#[tokio::test]
async fn e7_a_read_only_run_writes_nothing() {
    let specs = vec![
        spec("look", Effects::Reads),
        spec("save", Effects::Writes),
        ToolSpec::undeclared("from_afar", "Who knows.", json!({"type": "object"})),
        spec("think", Effects::None),
    ];
    let (errors, runs, told) = under(read_only(), specs).await;
    assert_eq!(runs, [1, 0, 0, 1]);
    assert_eq!(
        errors[1],
        denied("`save` writes, and this run is read-only")
    );
    assert_eq!(
        errors[2],
        denied("the effects of `from_afar` are not declared, and this run is read-only")
    );
    assert!(told[1].starts_with("ERROR POLICY_DENIED (Policy) in `save`: `save` writes"));
}

#[tokio::test]
async fn nothing_leaves_the_organisation() {
    let specs = vec![
        spec("send", Effects::Reads).external(),
        spec("save", Effects::None),
    ];
    let (errors, runs, _) = under(no_external(), specs).await;
    assert_eq!(runs, [0, 1]);
    assert_eq!(
        errors[0],
        denied("`send` has effects outside the organisation, which this run forbids")
    );
}

#[tokio::test]
async fn tools_are_named_by_patterns() {
    let specs = || {
        vec![
            spec("admin_delete", Effects::None),
            spec("read", Effects::None).version("1.4.0"),
            spec("search", Effects::None),
        ]
    };
    let (errors, runs, _) = under(deny_tools("admin_*"), specs()).await;
    assert_eq!(runs, [0, 1, 1]);
    assert_eq!(
        errors[0],
        denied("`admin_delete` may not be used in this run (`admin_*`)")
    );
    let (_, runs, _) = under(deny_tools("read@1.*"), specs()).await;
    assert_eq!(runs, [1, 0, 1]);
    let (errors, runs, _) = under(only_tools(["read", "s*"]), specs()).await;
    assert_eq!(runs, [0, 1, 1]);
    assert_eq!(
        errors[0],
        denied("`admin_delete` may not be used; this run has `read`, `s*`")
    );
    let (errors, runs, _) = under(only_tools::<&str>([]), specs()).await;
    assert_eq!(runs, [0, 0, 0]);
    assert_eq!(
        errors[1],
        denied("`read` may not be used: this run has no tools")
    );
}

/// Creates a tool that takes an amount.
fn pay() -> (FnTool, Arc<AtomicU32>) {
    let schema = json!({
        "type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"],
    });
    counted(ToolSpec::new("pay", "Pays.", Effects::Reads, schema))
}

fn at_most_100(action: &Action<'_>) -> Verdict {
    match action {
        Action::Tool(call) => match call.args.map(Json::to_value) {
            None => Verdict::Allow,
            Some(Ok(args)) if args["amount"].as_u64() <= Some(100) => Verdict::Allow,
            Some(_) => Verdict::deny("more than 100"),
        },
        Action::Model(_) => Verdict::Allow,
    }
}

#[tokio::test]
async fn rules_see_the_arguments_as_they_will_run() {
    let (pay, runs) = pay();
    let script = [
        Script::calls([
            ("pay", r#"{"amount":100}"#),
            ("pay", r#"{"amount":101}"#),
            ("pay", r#"{"amount":"a lot"}"#),
        ]),
        Script::text("done"),
    ];
    // A repair cannot bypass a policy, since changed arguments pass all checks again.
    let agent = scripted_agent("clerk", script)
        .tool(pay)
        .on_error(|error, _| match error {
            CallError::Deserialization(..) => Some(sanitize::<Deserialization>(5000).into()),
            _ => None,
        })
        .build();
    let outcome = agent.run("go").policy(at_most_100).outcome().await.unwrap();
    assert_eq!(runs.load(SeqCst), 1);
    let errors = errors(&outcome.outputs);
    assert_eq!(errors[0], None);
    assert_eq!(errors[1], denied("more than 100"));
    // A failed repair does not hide the original error.
    assert_eq!(errors[2].as_ref().unwrap().0, Code::ValidationError);
    let repaired = outcome.outputs.receipts().last().unwrap();
    assert_eq!(repaired.input.as_str(), r#"{"amount":"a lot"}"#);
    let tried = repaired.repairs.iter().last().unwrap();
    assert_eq!(
        tried.note,
        "`sanitize` tried `{\"amount\":5000}` in vain: more than 100"
    );
}

#[tokio::test]
async fn e2_what_a_rule_refuses_by_its_tool_is_not_even_read() {
    let (pay, _) = pay();
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    let script = [Script::call("pay", "rubbish"), Script::text("done")];
    let agent = scripted_agent("clerk", script)
        .tool(pay)
        .on_error(move |_, _| {
            count.fetch_add(1, SeqCst);
            None
        })
        .build();
    let run = agent.run("go").policy(deny_tools("pay"));
    let outcome = run.outcome().await.unwrap();
    assert_eq!(
        errors(&outcome.outputs),
        [denied("`pay` may not be used in this run (`pay`)")]
    );
    assert_eq!(asked.load(SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_rule_is_asked_again_before_each_execution() {
    let flaky = FnTool::with_spec(spec("flaky", Effects::Reads), |_, _| async {
        Err::<(), _>(std::io::Error::other("not now"))
    });
    let agent = scripted_agent("clerk", [Script::call("flaky", "{}"), Script::text("done")])
        .tool(flaky)
        .on_error(|error, _| match error {
            CallError::Execution(_) => Some(retry::<Execution>().max_attempts(9).into()),
            _ => None,
        })
        .build();
    let asked = AtomicU32::new(0);
    let twice = move |action: &Action<'_>| match action {
        Action::Tool(call) if call.args.is_some() && asked.fetch_add(1, SeqCst) >= 2 => {
            Verdict::deny("that was enough")
        }
        _ => Verdict::Allow,
    };
    let outcome = agent.run("go").policy(twice).outcome().await.unwrap();
    assert_eq!(errors(&outcome.outputs), [denied("that was enough")]);
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.attempts.len(), 2, "{receipt:?}");
}

#[tokio::test]
async fn several_rules_tighten_and_never_loosen() {
    let allow = |_: &Action<'_>| Verdict::Allow;
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = asked.clone();
    let approver = move |request: ApprovalRequest| {
        heard.lock().unwrap().push(request.tool_name);
        async { Approval::Approve }
    };
    let specs = [
        spec("look", Effects::Reads),
        spec("save", Effects::Writes),
        spec("drop", Effects::Writes),
        spec("always", Effects::Reads).approval(agents::tool::NeedsApproval::Always),
    ];
    let calls: Vec<_> = specs
        .iter()
        .map(|spec| (spec.name.to_string(), "{}"))
        .collect();
    let (tools, runs): (Vec<_>, Vec<_>) = specs.into_iter().map(counted).unzip();
    let (agent, _) = agent_with(tools, [Script::calls(calls), Script::text("done")]);
    let run = agent.run("go").policy(confirm_writes()).policy(allow);
    let run = run.policy(deny_tools("drop")).policy(allow);
    let outcome = run.approver(approver).outcome().await.unwrap();
    let runs: Vec<_> = runs.iter().map(|runs| runs.load(SeqCst)).collect();
    assert_eq!(runs, [1, 1, 0, 1]);
    assert_eq!(*asked.lock().unwrap(), ["save", "always"]);
    assert_eq!(
        errors(&outcome.outputs)[2].as_ref().unwrap().0,
        Code::PolicyDenied
    );
}

#[tokio::test]
async fn with_nobody_to_confirm_the_answer_is_no() {
    let (errors, runs, _) = under(confirm_tools("lo*"), vec![spec("look", Effects::Reads)]).await;
    assert_eq!(runs, [0]);
    assert_eq!(errors[0].as_ref().unwrap().0, Code::PolicyDenied);
}

#[tokio::test]
async fn e2_a_denied_model_call_ends_the_run() {
    let (add, handle) = {
        let (model, handle) = always_adds();
        let agent = AgentBuilder::<String, String>::new("adder")
            .tool(Add)
            .model(model);
        (agent.build(), handle)
    };
    let two_turns = |action: &Action<'_>| match action {
        Action::Model(ask) if ask.usage.requests >= 2 => {
            assert_eq!((ask.agent, ask.turn, ask.model), ("adder", 3, "scripted"));
            Verdict::deny("two turns are enough")
        }
        _ => Verdict::Allow,
    };
    let outcome = add.run("go").policy(two_turns).outcome().await.unwrap();
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert_eq!(error.kind(), ErrorKind::Denied);
    let reason = "the model `scripted` may not be asked: two turns are enough";
    assert_eq!(error.to_string(), format!("agent `adder`: {reason}"));
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Denied {
            agent: "adder".into(),
            reason: reason.into()
        })
    );
    assert_eq!(handle.count(), 2);
    assert_eq!(outcome.outputs.tool_order.len(), 2);
}

#[tokio::test]
async fn a_rule_that_panics_has_not_allowed_anything() {
    let of_tools = |action: &Action<'_>| match action {
        Action::Tool(_) => panic!("what now"),
        Action::Model(_) => Verdict::Allow,
    };
    let (errors, runs, _) = under(of_tools, vec![spec("look", Effects::Reads)]).await;
    assert_eq!(runs, [0]);
    assert_eq!(errors[0], denied("a rule panicked: what now"));

    let (agent, handle) = agent_with([], [Script::text("done")]);
    let of_models = |action: &Action<'_>| match action {
        Action::Model(_) => panic!("what now"),
        Action::Tool(_) => Verdict::Allow,
    };
    let error = agent.run("go").policy(of_models).await.unwrap_err();
    assert!(
        error.kind() == ErrorKind::Denied && error.to_string().contains("what now"),
        "{error}"
    );
    assert_eq!(handle.count(), 0);

    // A request to a model cannot be confirmed, so it is denied.
    let run = agent.run("go").policy(|_: &Action<'_>| Verdict::Confirm);
    assert_eq!(run.await.unwrap_err().kind(), ErrorKind::Denied);
}

#[tokio::test]
async fn a_run_within_a_run_is_under_its_rules() {
    let (inner, runs) = counted(spec("save", Effects::Writes));
    let (nested, _) = agent_with([inner], [Script::call("save", "{}"), Script::text("in")]);
    let nested = Arc::new(nested);
    let outer = FnTool::new(
        "ask",
        "Asks.",
        Effects::None,
        json!({"type": "object"}),
        move |_, _| {
            let nested = nested.clone();
            // A scope makes it a separate run.
            async move { nested.run("go").scope("other").await }
        },
    );
    let (agent, _) = agent_with([outer], [Script::call("ask", "{}"), Script::text("out")]);
    let outcome = agent.run("go").policy(read_only()).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "out");
    assert!(outcome.outputs.last_tool.is_some());
    assert_eq!(runs.load(SeqCst), 0);
}

#[tokio::test]
async fn a_run_within_a_run_is_no_less_strict() {
    let (counter, runs) = counted(spec("look", Effects::None));
    let sloppy = Script::call("look", "{},");
    let (nested, _) = agent_with([counter], [sloppy, Script::text("in")]);
    let nested = Arc::new(nested);
    let ask = move |_, _| {
        let nested = nested.clone();
        async move { nested.run("go").scope("other").await }
    };
    let schema = json!({"type": "object"});
    let outer = FnTool::new("ask", "Asks.", Effects::None, schema, ask);
    let script = || [Script::call("ask", "{}"), Script::text("out")];
    let (agent, _) = agent_with([outer], script());
    let outcome = agent.run("go").strict().outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "out");
    assert_eq!(
        runs.load(SeqCst),
        0,
        "what has a comma too much is not read"
    );
}
