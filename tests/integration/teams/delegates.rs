//! Delegates as tools.

use super::*;
use crate::world::{scripted_agent, scripted_model};

#[tokio::test]
async fn a_delegate_is_a_tool_of_its_parent() {
    let (coder, coded) = driven(
        "coder",
        [Script::call("compile", "{}"), Script::text("it compiles")],
    );
    let (lead, led) = lead([
        Script::call("coder", r#"{"input":"the parser"}"#),
        Script::text("done"),
    ]);
    let team = structure!(lead.delegates(coder.grants([Compile])));
    let outcome = team.run("go").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "done");

    let asked = &led.requests()[0];
    let function = &asked.declarations[0]["function"];
    assert_eq!(
        (&function["name"], &function["description"]),
        (&json!("coder"), &json!("You are coder."))
    );
    assert_eq!(
        function["parameters"],
        json!({
            "type": "object",
            "properties": { "input": { "type": "string", "description": "What the agent is given to work on." } },
            "required": ["input"],
            "additionalProperties": false,
        })
    );
    assert_eq!(coded.requests()[0].last(), "the parser");
    assert_eq!(told(&led), "it compiles");
    let names: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|receipt| &*receipt.name)
        .collect();
    assert_eq!(names, ["coder", "compile"]);
}

#[tokio::test]
async fn a_delegate_takes_an_object_as_it_is_and_nothing_as_nothing() {
    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Order {
        /// Item to order.
        what: String,
        many: u32,
    }
    let order = AgentBuilder::<Order, String>::new("order")
        .skill(Skill::native(
            "order",
            "Orders.",
            |order: Order| async move { Ok(format!("{} × {}", order.many, order.what)) },
        ))
        .build();
    let clock = AgentBuilder::<(), u32>::new("clock")
        .skill(Skill::native("tell", "Tells.", |()| async { Ok(12) }))
        .build();
    let (lead, led) = lead([
        Script::calls([
            ("order", r#"{"what":"nails","many":"3",}"#),
            ("clock", ""),
            ("order", r#"{"what":3}"#),
        ]),
        Script::text("done"),
    ]);
    let team = structure!(lead.delegates(order, clock));
    team.run("go").await.unwrap();
    let results = crate::world::told(&led);
    assert_eq!((&*results[0], &*results[1]), ("3 × nails", "12"));
    assert!(
        results[2].contains("field `many`: required"),
        "{}",
        results[2]
    );
}

#[tokio::test]
async fn arms_answer_for_a_delegate_as_for_any_tool() {
    use agents::ErrorKind;
    use agents::recovery::{CallError, Execution, Failure, throw};
    let broken = AgentBuilder::<String, String>::new("broken")
        .skill(Skill::native("work", "Works.", |_| async {
            Err(Error::new(ErrorKind::Failed, "out of order"))
        }))
        .build();
    let lead = scripted_agent("lead", [Script::call("broken", r#"{"input":"x"}"#)])
        .on_error_of::<Error>("broken", |error, _| match error {
            CallError::Execution(Failure::Returned(error)) => {
                Some(throw::<Execution>(format!("it said: {}", error.message())).into())
            }
            _ => None,
        })
        .build();
    let error = structure!(lead.delegates(broken))
        .run("go")
        .await
        .unwrap_err();
    assert!(
        error.kind() == ErrorKind::Thrown && error.message() == "it said: out of order",
        "{error}"
    );
}

#[tokio::test]
async fn a_failed_delegate_is_told_to_the_model_and_a_thrown_error_ends_the_run() {
    let failing = |error: fn() -> Error| {
        AgentBuilder::<String, String>::new("coder")
            .skill(Skill::native("work", "Works.", move |_| async move {
                Err(error())
            }))
            .build()
    };
    let call = || Script::call("coder", r#"{"input":"x"}"#);
    let (boss, led) = lead([call(), Script::text("so be it")]);
    let team =
        structure!(boss.delegates(failing(|| Error::new(ErrorKind::Failed, "out of order"))));
    assert_eq!(team.run("go").await.unwrap(), "so be it");
    assert!(told(&led).contains("out of order"), "{}", told(&led));

    let (boss, led) = lead([call(), Script::text("so be it")]);
    let team = structure!(boss.delegates(failing(|| Error::thrown("the disk is stolen"))));
    let outcome = team.run("go").outcome().await.unwrap();
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Thrown {
            source: "coder".into(),
            reason: "the disk is stolen".into()
        })
    );
    assert_eq!(led.count(), 1);
}

#[tokio::test]
async fn a_delegate_that_cannot_work_ends_the_run() {
    let coder: Plain = AgentBuilder::new("coder")
        .skill(Skill::native("work", "Works.", |task: String| async {
            delegate::<Plain>()?.run(task).await
        }))
        .build();
    let (boss, led) = lead([
        Script::call("coder", r#"{"input":"x"}"#),
        Script::text("so be it"),
    ]);
    let team = structure!(boss.delegates(coder));
    let outcome = team.run("go").outcome().await.unwrap();
    assert!(matches!(
        outcome.stopped,
        Some(Stopped::Unfit { agent, reason }) if agent == "coder" && reason.contains("has no delegates")
    ));
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Build);
    assert_eq!(led.count(), 1);
}

#[tokio::test]
async fn a_delegate_that_has_no_skill_for_its_input_tells_the_model_that_called() {
    let clerk: Plain = AgentBuilder::new("clerk")
        .skill(
            Skill::native("count", "Counts.", |task: String| async move {
                Ok(task.len().to_string())
            })
            .when(|task: &String| task.starts_with("count")),
        )
        .build();
    let (boss, led) = lead([
        Script::call("clerk", r#"{"input":"sing"}"#),
        Script::call("clerk", r#"{"input":"count"}"#),
        Script::text("five"),
    ]);
    let outcome = structure!(boss.delegates(clerk)).run("go").outcome().await;
    assert_eq!(outcome.unwrap().result.unwrap(), "five");
    let said = led.requests()[1].last().to_owned();
    assert!(
        said.contains("agent `clerk` (skills `count`): no skill takes this input"),
        "{said}"
    );
    assert_eq!(told(&led), "5");
}

/// Returns a model that makes a call and then answers with its result, in any request.
fn steady(tool: &'static str, arguments: &'static str) -> ScriptedModel {
    let script = (0..50).map(|_| {
        Script::with(move |asked| match asked.results().last() {
            Some((_, told)) => agents::model::Reply {
                content: format!("so: {told}"),
                ..Default::default()
            },
            None => agents::model::Reply {
                calls: vec![agents::model::ToolCall {
                    id: String::new(),
                    name: tool.into(),
                    arguments: arguments.into(),
                }],
                ..Default::default()
            },
        })
    });
    scripted_model(script)
}

#[tokio::test]
async fn from_every_entry_a_team_comes_to_the_same_end() {
    let (led, coded) = (
        steady("coder", r#"{"input":"the parser"}"#),
        steady("compile", "{}"),
    );
    let team = || {
        let lead: Plain = AgentBuilder::new("lead").model(led.clone()).build();
        let coder: Plain = tooled("coder").model(coded.clone()).build();
        structure!(lead.delegates(coder.grants([Compile])))
    };
    let journal = MemoryJournal::new();
    let whole = team().run("go").journal(journal.clone()).outcome().await;
    let whole = whole.unwrap();
    assert_eq!(whole.result.as_ref().unwrap(), "so: so: compiled");
    for at in crate::world::put_down(&journal) {
        let before = led.count() + coded.count();
        let again = team().run("go").journal(at.journal()).outcome().await;
        crate::world::same(&again.unwrap(), &whole, &at);
        // Requests that were answered before the interruption are not repeated.
        let asked = led.count() + coded.count() - before;
        assert_eq!(asked, 4 - at.replies(), "{at}");
    }
}

#[tokio::test]
async fn a_composite_can_be_a_delegate_and_a_team_a_part() {
    let shout = |name: &'static str| {
        AgentBuilder::<String, String>::new(name)
            .skill(Skill::native(
                "shout",
                "Shouts.",
                |text: String| async move { Ok(text + "!") },
            ))
            .build()
    };
    let (boss, led) = lead([
        Script::call("a_b", r#"{"input":"x"}"#),
        Script::text("done"),
    ]);
    let team = structure!(boss.delegates(shout("a").then(shout("b"))));
    let all = team.then(shout("c"));
    assert_eq!(all.run("go").await.unwrap(), "done!");
    assert_eq!(told(&led), "x!!");
    assert_eq!(
        led.requests()[0].declarations[0]["function"]["description"],
        "Shouts; then: Shouts"
    );
}

#[test]
fn what_is_put_together_says_what_it_does() {
    use agents::compose::{first_of, forum, settled};
    let says = |name: &'static str, what: &'static str| -> Plain {
        AgentBuilder::new(name).description(what).build()
    };
    let (a, b) = (|| says("a", "Parses."), || says("b", ""));
    let described = |agent: &dyn Agent<In = String, Out = String>| agent.description().to_owned();
    assert_eq!(
        described(&a().then(b()).then(a())),
        "Parses; then: `b`; then: Parses"
    );
    let both = "Gives its input to `a` and `b` at once; the answer is what each of them gives.";
    assert_eq!((a(), b()).description(), both);
    assert_eq!(settled((a(), b())).description(), both);
    assert_eq!(
        vec![a(), b(), a()].description(),
        "Gives its input to `a`, `b` and `a` at once; the answer is what each of them gives."
    );
    assert_eq!(
        described(&first_of((a(), b()))),
        "Gives its input to `a` and `b` at once; the first answer is the answer."
    );
    let captain = AgentBuilder::<agents::compose::Transcript<String>, String>::new("c").build();
    assert_eq!(
        described(&forum((a(), b())).captain(captain)),
        "A discussion: `a` and `b` speak, and `c` decides."
    );
}

#[tokio::test]
async fn a_team_can_be_a_delegate_of_another() {
    let (coder, coded) = driven(
        "coder",
        [Script::call("compile", "{}"), Script::text("it compiles")],
    );
    let (model, inner) = ScriptedModel::new([
        Script::call("coder", r#"{"input":"code"}"#),
        Script::text("built"),
    ]);
    let master: Plain = tooled("master").model(model).build();
    let sub = structure!(master.grants([Compile]).delegates(coder.grants([Compile])));
    let (boss, led) = lead([
        Script::call("master", r#"{"input":"build"}"#),
        Script::text("done"),
    ]);
    let team = structure!(boss.delegates(sub.budget(tokens(200).time(minutes(1)))));
    team.check().unwrap();
    assert_eq!(
        team.render().to_string(),
        "lead\n└─ master: compile, at most 200 tokens, 1 min\n   └─ coder: compile\n"
    );
    assert_eq!(team.run("go").await.unwrap(), "done");
    assert_eq!(
        (offered(&inner), offered(&coded)),
        (
            vec!["compile".into(), "coder".into()],
            vec!["compile".into()]
        )
    );
    assert_eq!(told(&led), "built");
}

#[tokio::test]
async fn a_recorded_run_tells_which_calls_of_a_delegate_went_to_delegates() {
    let compiles = || Script::call("compile", "{}");
    let coder_script = [compiles(), Script::text("a"), compiles(), Script::text("b")];
    let (coder, _) = driven("coder", coder_script);
    let codes = |what: &str| Script::call("coder", json!({"input": what}).to_string());
    let master_script = [codes("a"), compiles(), codes("b"), Script::text("built")];
    let (master, _) = driven("master", master_script);
    let (boss, _) = lead([
        Script::call("master", r#"{"input":"build"}"#),
        Script::text("done"),
    ]);
    let team =
        structure!(boss.delegates(master.grants([Compile]).delegates(coder.grants([Compile]))));
    let (_, recorded) = crate::world::recorded(team.run("go")).await;
    let (delegated, receipts) = (recorded.delegated(), recorded.receipts());
    let told: Vec<_> = receipts
        .iter()
        .map(|receipt| (&*receipt.name, delegated.contains(&*receipt.call_id)))
        .collect();
    let (coder, compile) = (("coder", true), ("compile", false));
    let master = ("master", true);
    assert_eq!(told, [master, coder, compile, compile, coder, compile]);
}

#[tokio::test]
async fn a_branch_hands_on_to_the_agent_that_fits() {
    let word = |name: &'static str| {
        AgentBuilder::<String, String>::new(name)
            .skill(Skill::native(
                "say",
                "Says.",
                move |text: String| async move { Ok(format!("{name} {text}")) },
            ))
            .build()
    };
    let judge = AgentBuilder::<u32, Result<u32, String>>::new("judge")
        .skill(Skill::native("judge", "Judges.", |n: u32| async move {
            Ok(if n > 9 { Err(n.to_string()) } else { Ok(n) })
        }))
        .build();
    let (small, large) = (word("small"), word("large"));
    let routed = branch!(
        judge,
        match verdict {
            Ok(n) if n < 3 => small.run(n.to_string()),
            Ok(n) => {
                let twice = n * 2;
                if twice > 10 {
                    large.run(twice.to_string())
                } else {
                    small.run(format!("{n}?"))
                }
            }
            Err(text) => large.run(text),
        }
    );
    assert_eq!(routed.name(), "routed(judge)");
    for (n, said) in [
        (1, "small 1"),
        (4, "small 4?"),
        (7, "large 14"),
        (12, "large 12"),
    ] {
        assert_eq!(routed.run(n as u32).await.unwrap(), said);
    }
}
