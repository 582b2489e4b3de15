//! Tools from a server's list, with policies by their names.

use crate::world::{Add, Plain, WriteFile, scripted_model, told};
use agents::{
    Agent, AgentBuilder, Effects, ErrorKind,
    prelude::agent,
    recovery::{AnyError, CallError, ErrorContext, Execution, Plan, exponential, feedback, retry},
    run::{Approval, ApprovalRequest},
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval as Asks, RemoteTool, ToolPolicy, ToolSet, ToolSpec},
};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

fn listed(tools: Value) -> Vec<RemoteTool> {
    serde_json::from_value(tools).unwrap()
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]})
}

/// Returns the tools that an issue tracker's server lists. A call returns its name and arguments, and fails for issue
/// 13.
fn github() -> ToolSet {
    let tools = listed(json!([
        {"name": "github_get_issue", "description": "Reads an issue.", "inputSchema": schema(),
         "annotations": {"title": "Get", "readOnlyHint": true, "openWorldHint": true}},
        {"name": "github_label_issue", "inputSchema": schema(), "annotations": {"idempotentHint": true}},
        {"name": "github_close_issue", "inputSchema": schema()},
    ]));
    ToolSet::new().with_all(tools.into_iter().map(runs))
}

fn runs(tool: RemoteTool) -> FnTool {
    let name = tool.name.clone();
    tool.into_tool(move |args, _| {
        let name = name.clone();
        async move {
            match args["id"].as_i64() {
                Some(13) => Err(format!("{name} is offline")),
                id => Ok(format!("{name} {}", id.unwrap_or_default())),
            }
        }
    })
}

fn triage() -> AgentBuilder<'static, String, String> {
    AgentBuilder::new("triage")
        .prompt("You sort issues.")
        .tools(github())
}

/// Runs these calls; returns the results as the model got them, and the calls that needed approval.
async fn run(agent: Plain, calls: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let script = [Script::calls(calls.iter().copied()), Script::text("done")];
    let (model, handle) = ScriptedModel::new(script);
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let asking = asked.clone();
    let approver = move |request: ApprovalRequest| {
        asking
            .lock()
            .unwrap()
            .push(format!("{} {}", request.tool_name, request.args));
        async { Approval::Approve }
    };
    agent
        .run("go")
        .model(model)
        .approver(approver)
        .await
        .unwrap();
    let asked = asked.lock().unwrap().clone();
    (told(&handle), asked)
}

#[test]
fn a_missing_hint_is_the_worst_case() {
    const SAID: [Option<bool>; 3] = [None, Some(false), Some(true)];
    for nth in 0..81 {
        let [reads, destroys, again, outside] = [27, 9, 3, 1].map(|unit| SAID[nth / unit % 3]);
        let mut annotations = json!({});
        for (hint, said) in [
            ("readOnlyHint", reads),
            ("destructiveHint", destroys),
            ("idempotentHint", again),
            ("openWorldHint", outside),
        ] {
            if let Some(said) = said {
                annotations[hint] = json!(said);
            }
        }
        let tool = json!([{"name": "t", "inputSchema": schema(), "annotations": annotations}]);
        let spec = listed(tool).remove(0).spec();
        let writes = reads != Some(true);
        let effects = match writes {
            true => Effects::Writes,
            false => Effects::Reads,
        };
        let asks = writes && (destroys != Some(false) || outside != Some(false));
        let approval = match asks {
            true => Asks::Always,
            false => Asks::Never,
        };
        assert_eq!(
            (spec.effects, spec.idempotent, spec.external, spec.approval),
            (
                effects,
                !writes || again == Some(true),
                outside != Some(false),
                approval
            ),
            "{annotations}"
        );
        assert_eq!(spec.description, "t");
    }
}

const CALLS: [(&str, &str); 3] = [
    ("github_get_issue", r#"{"id": 1}"#),
    ("github_label_issue", r#"{"id": "2",}"#),
    ("github_close_issue", r#"{"id": 3}"#),
];

#[tokio::test]
async fn what_leaves_the_organisation_is_asked_about_unless_a_policy_says_otherwise() {
    let (told, asked) = run(triage().build(), &CALLS).await;
    assert_eq!(
        told,
        [
            "github_get_issue 1",
            "github_label_issue 2",
            "github_close_issue 3"
        ]
    );
    assert_eq!(
        asked,
        [
            r#"github_label_issue {"id":2}"#,
            r#"github_close_issue {"id": 3}"#
        ]
    );

    let trusting = triage()
        .policy("github_*", ToolPolicy::new().approval(Asks::Never))
        .policy(
            "*_close_*",
            ToolPolicy::new().confirm_when(|args, _| args["id"].as_i64() > Some(2)),
        )
        .build();
    let (_, asked) = run(trusting, &CALLS).await;
    assert_eq!(asked, [r#"github_close_issue {"id": 3}"#]);
}

#[tokio::test]
async fn a_policy_can_ask_for_more_than_a_tool_and_not_for_less() {
    let agent = || {
        AgentBuilder::<String, String>::new("a")
            .tool(Add)
            .tool(WriteFile)
    };
    let confirming = agent().policy(
        "add",
        ToolPolicy::new()
            .confirm_when(|args, cx| args["left"].as_i64() == Some(1) && cx.tool() == "add"),
    );
    let calls = [
        ("add", r#"{"left":1,"right":2}"#),
        ("add", r#"{"left":2,"right":2}"#),
    ];
    let (told, asked) = run(confirming.build(), &calls).await;
    assert_eq!(told, ["3", "4"]);
    assert_eq!(asked, [r#"add {"left":1,"right":2}"#]);

    let loosening = agent()
        .policy("*", ToolPolicy::new().approval(Asks::Never))
        .policy("ad", ToolPolicy::new())
        .on_error_of_named("github_*", |_, _| None)
        .build();
    let model = scripted_model([]);
    let error = loosening.run("go").model(model).outcome().await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert_eq!(
        error.message(),
        "the policy of agent `a` for `*` asks for less approval than `write_file` demands; a policy can only ask for more, so change the tool or remove the policy; \
         agent `a` has `on_error` arms for `github_*`, which fits none of its tools; correct the pattern, or remove it; \
         agent `a` has a policy for `ad`, which fits none of its tools; correct the pattern, or remove it"
    );
}

/// A tool's own approval condition still holds under a policy with another one.
#[tokio::test]
async fn a_tool_that_asks_for_itself_is_asked_as_well() {
    use agents::tool;
    /// Pays.
    #[tool(writes, approval = when(|args, _| args.amount > 100))]
    async fn pay(
        /// Amount to pay.
        amount: u32,
    ) -> u32 {
        amount
    }
    let agent = AgentBuilder::<String, String>::new("a")
        .tool(Pay)
        .policy(
            "pay",
            ToolPolicy::new().confirm_when(|args, _| args["amount"] == 13),
        )
        .build();
    let calls = [
        ("pay", r#"{"amount": 13}"#),
        ("pay", r#"{"amount": 14}"#),
        ("pay", r#"{"amount": 101}"#),
    ];
    let (told, asked) = run(agent, &calls).await;
    assert_eq!(told, ["13", "14", "101"]);
    assert_eq!(asked, [r#"pay {"amount": 13}"#, r#"pay {"amount": 101}"#]);
}

#[tokio::test(start_paused = true)]
async fn t9_timeouts_and_strictness_by_name() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let hang = FnTool::new("slow_hang", "Hangs.", Effects::None, schema, |_, _| async {
        std::future::pending::<Result<(), String>>().await
    });
    let agent = AgentBuilder::<String, String>::new("a")
        .tool(hang)
        .policy(
            "slow_*",
            ToolPolicy::new().timeout(Duration::from_secs(2)).strict(),
        )
        .build();
    let (told, _) = run(
        agent,
        &[("slow_hang", r#"{"n": 1}"#), ("slow_hang", r#"{"n": "1"}"#)],
    )
    .await;
    assert!(told[0].contains("did not finish within 2s"), "{}", told[0]);
    assert!(told[1].contains("VALIDATION_ERROR"), "{}", told[1]);
}

fn patient(error: CallError<'_, AnyError>, _: &ErrorContext) -> Option<Plan> {
    match error {
        CallError::Execution(_) => Some(
            retry::<Execution>()
                .max_attempts(3)
                .backoff(exponential())
                .or(feedback("try later"))
                .into(),
        ),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn arms_by_name_with_the_refusals_of_any_tool() {
    let runs = Arc::new(AtomicU32::new(0));
    let counting = |name: &str, spec: fn(ToolSpec) -> ToolSpec, effects| {
        let runs = runs.clone();
        let spec = spec(ToolSpec::new(
            name.to_owned(),
            "Fails.",
            effects,
            json!({"type": "object"}),
        ));
        FnTool::with_spec(spec, move |_, _| {
            runs.fetch_add(1, SeqCst);
            async { Err::<(), _>("offline") }
        })
    };
    for (tool, expected) in [
        (counting("x_read", |spec| spec, Effects::Reads), 3),
        (counting("x_write", |spec| spec, Effects::Writes), 1),
        (counting("x_put", ToolSpec::idempotent, Effects::Writes), 3),
        (counting("y_read", |spec| spec, Effects::Reads), 1),
    ] {
        let agent = AgentBuilder::<String, String>::new("a")
            .tool(tool.clone())
            .tool(counting("x_other", |spec| spec, Effects::None))
            .on_error_of_named("x_*", patient)
            .build();
        runs.store(0, SeqCst);
        let name = agents::tool::DynTool::spec(&tool).name.clone();
        let (told, _) = run(agent, &[(&name, "{}")]).await;
        assert_eq!(runs.load(SeqCst), expected, "{name}");
        assert_eq!(
            told[0].contains("try later"),
            name.starts_with("x_"),
            "{name}: {}",
            told[0]
        );
    }
}

#[tokio::test]
async fn one_tool_s_arms_come_before_those_by_name_and_these_before_the_default() {
    let say = |what: &'static str| {
        move |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
            CallError::Execution(_) => Some(Plan::from(feedback::<Execution>(what))),
            _ => None,
        }
    };
    let agent = triage()
        .policy("*", ToolPolicy::new().approval(Asks::Never))
        .on_error(say("by default"))
        .on_error_of_named("github_*_issue", say("by name"))
        .on_error_of::<String>("github_close_issue", |error, _| match error {
            CallError::Execution(_) => Some(feedback::<Execution>("for one").into()),
            _ => None,
        })
        .tool(FnTool::new(
            "other",
            "Fails.",
            Effects::None,
            json!({"type": "object"}),
            |_, _| async { Err::<(), _>("offline") },
        ))
        .build();
    let calls = [
        ("github_get_issue", r#"{"id": 13}"#),
        ("github_close_issue", r#"{"id": 13}"#),
        ("other", "{}"),
    ];
    let (told, _) = run(agent, &calls).await;
    for (told, said) in told.iter().zip(["by name", "for one", "by default"]) {
        assert!(told.contains(said), "{told}");
    }
}

struct Triage {
    tools: ToolSet,
}

#[agent(
    prompt = "You sort issues.",
    tools = [Add, ..self.tools.clone()],
    policies = [
        ("github_*", ToolPolicy::new().timeout(Duration::from_secs(10))),
        ("github_label_*", ToolPolicy::new().approval(Asks::Never)),
    ],
)]
impl Triage {
    /// Sorts issues.
    #[skill]
    async fn sort(&self, request: String) -> String;

    on_error!(
        "github_*",
        match error {
            execution_error(Returned(_)) =>
                retry(max_attempts = 2, backoff = none()).or(feedback("github is down")),
        }
    );
}

#[tokio::test]
async fn an_agent_from_a_macro_says_the_same() {
    let (model, handle) = ScriptedModel::new([
        Script::calls([
            ("github_get_issue", r#"{"id": 13}"#),
            ("github_label_issue", r#"{"id": 2}"#),
            ("github_close_issue", r#"{"id": 3}"#),
        ]),
        Script::text("done"),
    ]);
    let triage = Triage { tools: github() };
    let outcome = triage.run("go").model(model).outcome().await.unwrap();
    let told = told(&handle);
    assert!(told[0].contains("github is down"), "{}", told[0]);
    assert_eq!(told[1], "github_label_issue 2");
    assert!(told[2].contains("the run has no approver"), "{}", told[2]);
    assert_eq!(outcome.outputs.receipts().next().unwrap().attempts.len(), 2);
}
