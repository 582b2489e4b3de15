//! Direct calls: a person calls a tool of an agent, once, as a run like every other.

use crate::*;
use agents::{Json, team::Member};
use agents_runtime::{Action, Approval, DIRECT_CALL, Roles, RuntimeErrorKind};
use agents_store::RunFilter;

fn rate() -> FnTool {
    let schema = json!({
        "type": "object",
        "properties": {"currency": {"type": "string"}},
        "required": ["currency"],
    });
    FnTool::new(
        "rate",
        "Returns a rate.",
        Effects::Reads,
        schema,
        |args: Value, _| async move { Ok::<_, Error>(format!("1.16 {}", args["currency"])) },
    )
}

fn json(value: &Value) -> Json {
    Json::of(value).unwrap()
}

/// The person who makes the call is its user: the values of the form are known.
#[tokio::test(flavor = "multi_thread")]
async fn the_arguments_of_a_direct_call_are_words_of_the_user() {
    use agents::evidence::{Known, User};

    /// Returns a rate.
    #[agents::tool(reads)]
    async fn rate_of(
        /// Currency.
        currency: Known<String, User>,
        /// Amount.
        amount: Known<f64, User>,
    ) -> String {
        format!("1.16 {currency} {amount}")
    }

    everywhere("known", async |place| {
        let (runtime, _) = place.runtime([]);
        let clerk = AgentBuilder::<String, String>::new("clerk").tool(RateOf);
        runtime.agent(clerk.build());
        let _worker = Worker::start(&runtime);
        let args = json(&json!({"currency": "US\"D", "amount": 12.5}));
        let client = place.client();
        let call = client.call("clerk", "rate_of", "1.0.0", args);
        let run = call.by(&Principal::operator()).await.unwrap();
        assert_eq!(done(&run).await.result.unwrap(), "1.16 US\"D 12.5");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_call_of_a_tool_that_reads_is_a_run_with_one_execution() {
    everywhere("direct", async |place| {
        let (runtime, model) = place.runtime([]);
        let clerk = AgentBuilder::<String, String>::new("clerk").tool(rate());
        runtime.agent(clerk.build());
        let _worker = Worker::start(&runtime);
        let client = place.client();
        let operator = Principal::operator();
        let args = json(&json!({"currency": "USD"}));
        let call = client.call("clerk", "rate", "1.0.0", args).scope("acme");
        let run = call.by(&operator).await.unwrap();
        assert_eq!(done(&run).await.result.unwrap(), "1.16 \"USD\"");
        assert_eq!(model.requests().len(), 0, "no model is asked");

        let executions = client.executions(run.id(), &operator).await.unwrap();
        assert_eq!(executions.len(), 1);
        assert_eq!(executions[0].tool_name, "rate");
        let filter = RunFilter {
            labels: [(DIRECT_CALL.to_owned(), "rate".to_owned())].into(),
            ..RunFilter::default()
        };
        let found = client.runs(&filter).await.unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((&*found[0].tenant, &*found[0].agent), ("acme", "clerk"));

        let misfit = client.call("clerk", "rate", "1.0.0", json(&json!({"curency": 7})));
        let run = misfit.by(&operator).await.unwrap();
        let told = done(&run).await.result.unwrap();
        assert!(told.contains("currency"), "{told}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_call_of_a_tool_that_writes_asks_somebody_else_whatever_the_tool_says() {
    everywhere("direct-writes", async |place| {
        let till = Till::open();
        let (runtime, _) = place.runtime([]);
        payer_that_asks(&runtime, &till, NeedsApproval::Never);
        let _worker = Worker::start(&runtime);
        let client = place
            .client()
            .roles(Roles::new().for_action(Action::Call, "tester"));
        let tess = Principal::new("tess", "acme").role("tester");
        let args = json(&json!({"cents": 5}));
        let call = client.call("payer", "pay", "1.0.0", args);
        let run = call.by(&tess).await.unwrap();
        let request = waiting(&run).await;
        assert_eq!((&*request.tool_name, till.paid()), ("pay", vec![]));
        let decide = async |by: &Principal| {
            let yes = Approval::Approve;
            let decided = client.approvals().decide(&request.id, yes, by).await;
            decided.map(drop).map_err(|error| error.kind())
        };
        assert_eq!(decide(&tess).await, Err(RuntimeErrorKind::Forbidden));
        decide(&grace()).await.unwrap();
        assert_eq!(done(&run).await.result.unwrap(), "paid 5");
        assert_eq!(till.paid(), [5]);
        let verdict = client.audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{verdict}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_call_is_the_operators_unless_a_role_is_named_and_never_for_another_tenant() {
    everywhere("direct-roles", async |place| {
        let client = place.client();
        let kind = async |client: &Client, scope: &str, by: &Principal| {
            let call = client.call("payer", "pay", "1.0.0", json(&json!({"cents": 5})));
            call.scope(scope)
                .by(by)
                .await
                .map(drop)
                .map_err(|error| error.kind())
        };
        let forbidden = Err(RuntimeErrorKind::Forbidden);
        assert_eq!(kind(&client, "acme", &grace()).await, forbidden);
        let client = client.roles(Roles::new().for_action(Action::Call, "tester"));
        let tess = Principal::new("tess", "acme").role("tester");
        assert_eq!(kind(&client, "acme", &grace()).await, forbidden);
        assert_eq!(kind(&client, "beta", &tess).await, forbidden);
        assert_eq!(kind(&client, "acme", &tess).await, Ok(()));
        assert_eq!(client.runs(&RunFilter::default()).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_call_of_a_version_that_is_not_there_is_held_and_says_so() {
    everywhere("direct-version", async |place| {
        let (runtime, _) = place.runtime([]);
        payer(&runtime, &Till::open());
        let _worker = Worker::start(&runtime);
        let call = place.client();
        let call = call.call("payer", "pay", "2.0.0", json(&json!({"cents": 5})));
        let run = call.by(&Principal::operator()).await.unwrap();
        let why = held(&run).await;
        assert!(
            why.contains("`payer` has no version 2.0.0 of the tool `pay`"),
            "{why}"
        );
        // It can be ended, although the tool is not there.
        place
            .client()
            .cancel(run.id(), &Principal::operator())
            .await
            .unwrap();
        let over = run.wait(LONG).await.unwrap();
        assert!(
            matches!(&over, Progress::Done(outcome) if outcome.result.is_err()),
            "{over:?}"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_call_with_a_key_is_made_once() {
    everywhere("direct-key", async |place| {
        let client = place.client();
        let call = async |cents: u32| {
            let args = json(&json!({"cents": cents}));
            let call = client.call("payer", "pay", "1.0.0", args).key("form-1");
            call.by(&Principal::operator()).await
        };
        let first = call(5).await.unwrap();
        assert_eq!(call(5).await.unwrap().id(), first.id());
        assert_eq!(call(6).await.unwrap_err().kind(), RuntimeErrorKind::Invalid);
        assert_eq!(client.runs(&RunFilter::default()).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_call_asks_where_a_place_in_a_team_asks() {
    everywhere("direct-team", async |place| {
        let (runtime, _) = place.runtime([]);
        let clerk = AgentBuilder::<String, String>::new("clerk").tool(rate());
        let office = AgentBuilder::<String, String>::new("office").build();
        let clerk = Member::new(clerk.build()).confirm_named("rate");
        runtime.agent(Member::new(office).delegate(clerk).build());
        let _worker = Worker::start(&runtime);
        let client = place.client();
        let args = json(&json!({"currency": "USD"}));
        let call = client.call("office", "rate", "1.0.0", args).scope("acme");
        let run = call.by(&Principal::operator()).await.unwrap();
        let request = waiting(&run).await;
        assert_eq!(
            (&*request.tool_name, &*request.agent_name),
            ("rate", "office")
        );
    })
    .await;
}
