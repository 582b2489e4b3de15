//! Sources of tools, which are asked for their lists when an agent begins its work.

use crate::world::{Add, Plain, put_down, put_down_after, scripted_model, told};
use agents::{
    Agent, AgentBuilder, Budget, Error, ErrorKind,
    agent::Skill,
    async_trait,
    journal::MemoryJournal,
    prelude::agent,
    recovery::{AnyError, CallError, Execution, Failure, feedback},
    run::{Approval, ApprovalRequest, RunContext},
    team::Member,
    testing::{Script, ScriptedModel},
    tool::{
        FnTool, IntoTool, NeedsApproval as Asks, Pattern, RemoteTool, SharedTool, ToolPolicy,
        ToolSet, ToolSource,
    },
};
use serde_json::json;
use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

/// A tracker that lists its tools for each tenant, and counts how often it is asked.
#[derive(Clone, Default)]
pub(super) struct Tracker {
    asked: Arc<AtomicU32>,
    is_down: bool,
    hangs: bool,
}

#[async_trait]
impl ToolSource for Tracker {
    fn names(&self) -> Pattern {
        "tracker_*".into()
    }

    async fn list(&self, cx: &RunContext) -> Result<Vec<RemoteTool>, Error> {
        self.asked.fetch_add(1, SeqCst);
        if self.is_down {
            return Err(Error::new(ErrorKind::Failed, "the tracker is down"));
        }
        if self.hangs {
            std::future::pending::<()>().await;
        }
        let of = format!("tracker_get_{}", cx.scope().tenant_id());
        let schema = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
        let reads = json!({"readOnlyHint": true});
        let listed = json!([
            {"name": of, "description": "Reads.", "inputSchema": schema, "annotations": reads},
            {"name": "tracker_close", "description": "Closes.", "inputSchema": schema},
        ]);
        Ok(serde_json::from_value(listed).unwrap())
    }

    fn tool(&self, listed: RemoteTool) -> SharedTool {
        let name = listed.name.clone();
        let tool: FnTool = listed.into_tool(move |args, _| {
            let said = format!("{name} {args}");
            async move {
                match said.contains("13") {
                    true => Err("there is no issue 13".to_owned()),
                    false => Ok(said),
                }
            }
        });
        tool.into_tool()
    }
}

impl Tracker {
    fn asked(&self) -> u32 {
        self.asked.load(SeqCst)
    }
}

pub(super) fn triage(tracker: &Tracker) -> AgentBuilder<'static, String, String> {
    AgentBuilder::new("triage")
        .prompt("You sort issues.")
        .tools(ToolSet::new().with(Add).with_all(tracker))
}

fn closes() -> [Script; 2] {
    [
        Script::calls([
            ("tracker_get_acme", r#"{"id": "7"}"#),
            ("tracker_close", r#"{"id": 7}"#),
        ]),
        Script::text("closed"),
    ]
}

async fn yes(_: ApprovalRequest) -> Approval {
    Approval::Approve
}

#[tokio::test]
async fn a_source_is_asked_once_for_the_scope_of_the_run_before_the_model_is() {
    let tracker = Tracker::default();
    let agent = triage(&tracker).build();
    assert_eq!(tracker.asked(), 0, "building an agent asks nobody");
    let (model, handle) = ScriptedModel::new(closes());
    let run = agent.run("Close 7.").scope("acme").approver(yes);
    assert_eq!(run.model(model).await.unwrap(), "closed");
    assert_eq!(tracker.asked(), 1);
    let requests = handle.requests();
    assert_eq!(
        requests[0].tools,
        ["add", "tracker_get_acme", "tracker_close"]
    );
    let answers = told(&handle);
    assert_eq!(answers[0], r#"tracker_get_acme {"id":7}"#, "read leniently");
    assert_eq!(answers[1], r#"tracker_close {"id":7}"#);

    let (model, handle) = ScriptedModel::new([Script::text("nothing to do")]);
    agent.run("Look.").scope("ada").model(model).await.unwrap();
    assert_eq!(handle.requests()[0].tools[1], "tracker_get_ada");
}

static TRACKER: LazyLock<Tracker> = LazyLock::new(Tracker::default);

/// You sort issues.
#[agent(tools = [Add, ..*TRACKER, ..[Add].into_iter().filter(|_| false)])]
async fn sorter(request: String) -> String;

struct Desk {
    tracker: Tracker,
}

#[agent(
    prompt = "You close issues.",
    tools = [..self.tracker],
    policies = [
        ("tracker_*", ToolPolicy::new().timeout(Duration::from_secs(5))),
        ("tracker_close", ToolPolicy::new().approval(Asks::Never)),
    ],
)]
impl Desk {
    /// Closes issues.
    #[skill(tools = ["tracker_close"])]
    async fn close(&self, request: String) -> String;

    on_error!(
        "tracker_*",
        match error {
            execution_error(Returned(_)) => feedback("look at the number"),
        }
    );
}

#[tokio::test]
async fn a_static_and_a_field_are_spread_as_they_are() {
    let (model, handle) = ScriptedModel::new([Script::text("done")]);
    Sorter
        .run("Look.")
        .scope("acme")
        .model(model)
        .await
        .unwrap();
    assert_eq!(
        handle.requests()[0].tools,
        ["add", "tracker_get_acme", "tracker_close"]
    );
    assert_eq!(TRACKER.asked(), 1);

    // The skill's list, the policies and the arms reach tools that were listed.
    let script = [
        Script::calls([
            ("tracker_close", r#"{"id": 7}"#),
            ("tracker_close", r#"{"id": 13}"#),
        ]),
        Script::text("done"),
    ];
    let (model, handle) = ScriptedModel::new(script);
    let desk = Desk {
        tracker: Tracker::default(),
    };
    desk.run("Close 7 and 13.")
        .scope("acme")
        .model(model)
        .await
        .unwrap();
    assert_eq!(handle.requests()[0].tools, ["tracker_close"]);
    let answers = told(&handle);
    assert_eq!(
        answers[0], r#"tracker_close {"id":7}"#,
        "the policy needs no approval"
    );
    assert!(answers[1].contains("look at the number"), "{}", answers[1]);
}

#[tokio::test]
async fn calls_of_listed_tools_need_the_approval_that_their_hints_ask_for() {
    let (model, handle) = ScriptedModel::new(closes());
    let agent = triage(&Tracker::default()).build();
    agent
        .run("Close 7.")
        .scope("acme")
        .model(model)
        .await
        .unwrap();
    let answers = told(&handle);
    assert!(
        answers[1].starts_with("ERROR POLICY_DENIED"),
        "{}",
        answers[1]
    );
}

#[tokio::test]
async fn a_source_that_fails_ends_the_work_before_the_model_is_asked() {
    let down = Tracker {
        is_down: true,
        ..Tracker::default()
    };
    let (model, handle) = ScriptedModel::new([Script::text("never")]);
    let error = triage(&down)
        .build()
        .run("Look.")
        .model(model)
        .await
        .unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "agent `triage`: the tools `tracker_*`: the tracker is down"
    );
    assert_eq!(handle.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_agent_bounds_a_source_that_hangs() {
    let hangs = Tracker {
        hangs: true,
        ..Tracker::default()
    };
    let agent = triage(&hangs).budget(Budget::new().time(Duration::from_secs(3)));
    let model = scripted_model([Script::text("never")]);
    let error = agent.build().run("Look.").model(model).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Budget, "{error:#}");
}

#[tokio::test]
async fn a_stored_run_goes_on_with_the_tools_that_its_model_was_told_of() {
    let (tracker, journal) = (Tracker::default(), MemoryJournal::new());
    let whole = triage(&tracker).build();
    let whole = whole.run("Close 7.").scope("acme").approver(yes);
    let whole = whole
        .model(scripted_model(closes()))
        .journal(journal.clone());
    assert_eq!(whole.await.unwrap(), "closed");

    for at in put_down(&journal) {
        // The tracker is down by then, so that nothing may ask for the list again.
        let later = Tracker {
            is_down: at.count("listed") > 0,
            ..Tracker::default()
        };
        let model = scripted_model(closes().into_iter().skip(at.replies()));
        let agent = triage(&later).build();
        let run = agent
            .run("Close 7.")
            .scope("acme")
            .approver(yes)
            .model(model);
        let answer = run.journal(at.journal()).await;
        assert_eq!(answer.unwrap(), "closed", "{at}");
    }
    let before = put_down_after(&journal, "listed", 1);
    assert!(before.text().contains("tracker_get_acme") && before.replies() == 0);
}

#[tokio::test]
async fn grants_of_a_team_reach_listed_tools_by_name_and_by_pattern() {
    for (granted, tools) in [
        (vec!["tracker_close"], vec!["tracker_close"]),
        (vec!["tracker_get_*"], vec!["tracker_get_acme"]),
        (
            vec!["tracker_*", "add"],
            vec!["add", "tracker_get_acme", "tracker_close"],
        ),
    ] {
        let (model, handle) = ScriptedModel::new([Script::text("done")]);
        let member = Member::new(triage(&Tracker::default()).build());
        let team = granted
            .into_iter()
            .fold(member, Member::grant_named)
            .build();
        team.run("Look.").scope("acme").model(model).await.unwrap();
        assert_eq!(handle.requests()[0].tools, tools);
    }
    // Of a source of which nothing is granted, nothing is asked.
    let down = Tracker {
        is_down: true,
        ..Tracker::default()
    };
    let team = Member::new(triage(&down).build())
        .grant_named("add")
        .build();
    team.run("Look.")
        .model(scripted_model([Script::text("done")]))
        .await
        .unwrap();
    let member = Member::new(triage(&Tracker::default()).build());
    let team = member.grant_named("gitlab_*").build();
    let error = team
        .run("Look.")
        .model(scripted_model([]))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("no tool here or below has a name like `gitlab_*`"),
        "{error}"
    );
}

#[tokio::test]
async fn names_that_no_source_can_list_are_defects_and_others_are_not() {
    let of_another = |_: CallError<'_, AnyError>, _: &_| None;
    let agent: Plain = triage(&Tracker::default())
        .policy("tracker_*", ToolPolicy::new())
        .policy("jira_*", ToolPolicy::new())
        .on_error_of_named("tracker_close", |error, _| match error {
            CallError::Execution(Failure::Returned(_)) => Some(feedback::<Execution>("no").into()),
            _ => None,
        })
        .on_error_of_named("*_delete", of_another)
        .skill(Skill::model("sort", "Sorts.").tools(["tracker_get_acme", "jira_get"]))
        .build();
    let error = agent
        .run("Look.")
        .model(scripted_model([]))
        .outcome()
        .await
        .unwrap_err();
    let said = error.message();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert_eq!(said.matches(';').count(), 3, "{said}");
    assert!(
        said.contains("a policy for `jira_*`, which fits none of its tools"),
        "{said}"
    );
    assert!(
        said.contains("lists the tool `jira_get`, and agent `triage` has none"),
        "{said}"
    );

    let twice = triage(&Tracker::default()).tools(
        ToolSet::new()
            .with_all(&Tracker::default())
            .with_all(&Tracker::default()),
    );
    let error = twice
        .build()
        .run("Look.")
        .model(scripted_model([]))
        .await
        .unwrap_err();
    assert!(
        error
            .message()
            .contains("two sources list the tools `tracker_*`"),
        "{error}"
    );
}

#[test]
fn a_set_keeps_its_sources_when_it_is_spread_into_another() {
    let inner = ToolSet::new().with_all(&Tracker::default());
    assert_eq!((inner.is_empty(), inner.len()), (false, 0));
    let outer = ToolSet::new().with(Add).with_all(inner);
    assert_eq!(format!("{outer:?}"), r#"["add", "tracker_*"]"#);
}
