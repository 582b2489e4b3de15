//! Variations of runs that are over: what would have become of a run if a call had ended otherwise.

use crate::*;
use agents::{Code, Json, team::Member};
use agents_runtime::{Action, Roles, RuntimeErrorKind, WHAT_IF};
use agents_store::RunFilter;

/// Returns a runtime whose clerk looks into a room, tells what is there, and pays for a lamp if it is dark.
fn house(place: &Place, till: &Till) -> (Runtime, AgentRef<String, String>) {
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.results()[..] {
        [] => Script::call("look", "{}"),
        [("look", told)] if told.contains("dark") => Script::call("pay", r#"{"cents": 5}"#),
        [("look", told)] => Script::text(format!("It is {told}.")),
        [.., (_, told)] => Script::text(format!("A lamp? {told}")),
    });
    let runtime = place.runtime_on(model);
    let schema = json!({"type": "object"});
    let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async {
        Ok::<_, Error>("light")
    });
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tool(look)
        .tool(till.tool(NeedsApproval::Never));
    let clerk = runtime.agent(clerk.build());
    (runtime, clerk)
}

async fn finished(clerk: &AgentRef<String, String>, client: &Client) -> (RunRef<String>, String) {
    let run = clerk
        .run("Is it dark?")
        .scope("acme")
        .by(&ada())
        .start()
        .await
        .unwrap();
    assert_eq!(done(&run).await.result.unwrap(), "It is light.");
    let executions = client.executions(run.id(), &Principal::operator()).await;
    (run, executions.unwrap()[0].call_id.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_varied_by_the_output_and_the_error_of_a_call_and_nothing_is_written() {
    everywhere("what-if", async |place| {
        let till = Till::open();
        let (runtime, clerk) = house(place, &till);
        let _worker = Worker::start(&runtime);
        let (client, operator) = (place.client(), Principal::operator());
        let (run, call) = finished(&clerk, &client).await;
        let told = async |run: RunRef<String>| done(&run).await.result.unwrap();

        let output = client
            .what_if(run.id(), &*call)
            .output(Json::string("bright"));
        let output = told(output.by(&operator).await.unwrap()).await;
        assert!(
            output.starts_with("The answer would be: It is bright."),
            "{output}"
        );
        // The model wants to pay then, and may not.
        let dark = client
            .what_if(run.id(), &*call)
            .output(Json::string("dark"));
        let dark = dark.by(&operator).await.unwrap();
        let labels = client.stored(dark.id(), &operator).await.unwrap().labels;
        assert_eq!(labels.get(WHAT_IF).map(|run| &**run), Some(run.id()));
        let dark = told(dark).await;
        assert!(
            dark.contains("`pay` writes, and this run only tries"),
            "{dark}"
        );
        assert_eq!(till.paid(), [0; 0]);
        let failed = client
            .what_if(run.id(), &*call)
            .error(Code::Timeout, "the lamp is broken");
        let failed = told(failed.by(&operator).await.unwrap()).await;
        assert!(failed.contains("the lamp is broken"), "{failed}");

        // The run itself is as it was.
        assert_eq!(done(&run).await.result.unwrap(), "It is light.");
        let executions = client.executions(run.id(), &operator).await.unwrap();
        assert_eq!(executions.len(), 1);
        let verdict = client.audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{verdict}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variation_of_what_cannot_be_varied_says_why() {
    everywhere("what-if-not", async |place| {
        let till = Till::open();
        let (runtime, clerk) = house(place, &till);
        let worker = Worker::start(&runtime);
        let (client, operator) = (place.client(), Principal::operator());
        let (run, call) = finished(&clerk, &client).await;
        let why = async |run: &str, call: &str, by: &Principal| {
            let tried = client
                .what_if(run, call)
                .output(Json::string("dark"))
                .by(by);
            tried.await.unwrap_err()
        };
        let no_call = why(run.id(), "none", &operator).await;
        assert_eq!(no_call.kind(), RuntimeErrorKind::Invalid, "{no_call}");
        assert!(no_call.to_string().contains("`none`"), "{no_call}");
        assert_eq!(
            why(run.id(), &call, &grace()).await.kind(),
            RuntimeErrorKind::Forbidden
        );
        let tester = client
            .clone()
            .roles(Roles::new().for_action(Action::Call, "tester"));
        let other = Principal::new("eve", "other").role("tester");
        let unseen = tester
            .what_if(run.id(), &*call)
            .output(Json::string("dark"))
            .by(&other);
        assert!(
            unseen.await.unwrap_err().to_string().contains("no run"),
            "it does not exist"
        );

        let call_args = Json::parse("{}").unwrap();
        let called = client
            .call("clerk", "look", "1.0.0", call_args)
            .scope("acme");
        let called = called.by(&operator).await.unwrap();
        done(&called).await;
        let of_call = why(called.id(), &call, &operator).await;
        assert!(
            of_call.to_string().contains("no model has worked in it"),
            "{of_call}"
        );
        worker.stop().await;
        let open = start(&clerk).await;
        let open = why(open.id(), &call, &operator).await;
        assert!(open.to_string().contains("it is not over"), "{open}");
        assert_eq!(client.runs(&RunFilter::default()).await.unwrap().len(), 3);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_delegate_is_varied_although_another_tool_of_it_writes() {
    everywhere("what-if-team", async |place| {
        let till = Till::open();
        let (model, _) = ScriptedModel::from_fn(|asked| {
            match (asked.prompt().contains("clerk"), &asked.results()[..]) {
                (true, []) => Script::call("look", "{}"),
                (false, []) => Script::call("clerk", r#"{"input": "look"}"#),
                (_, [.., (_, told)]) => Script::text(*told),
            }
        });
        let runtime = place.runtime_on(model);
        let schema = json!({"type": "object"});
        let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async {
            Ok::<_, Error>("light")
        });
        let clerk = AgentBuilder::<String, String>::new("clerk")
            .prompt("You are a clerk.")
            .tool(look)
            .tool(till.tool(NeedsApproval::Never));
        let office = AgentBuilder::<String, String>::new("office").prompt("You lead.");
        let team = Member::new(office.build()).delegate(clerk.build());
        let office = runtime.agent(team.build());
        let _worker = Worker::start(&runtime);
        let (client, operator) = (place.client(), Principal::operator());
        let run = office.run("Look.").scope("acme").start().await.unwrap();
        assert_eq!(done(&run).await.result.unwrap(), "light");
        let executions = client.executions(run.id(), &operator).await.unwrap();
        let look = executions
            .iter()
            .find(|one| one.tool_name == "look")
            .unwrap();
        let varied = client
            .what_if(run.id(), &*look.call_id)
            .output(Json::string("dark"));
        let varied = varied.by(&operator).await.unwrap();
        let told = done(&varied).await.result.unwrap();
        assert!(told.starts_with("The answer would be: dark"), "{told}");

        // Whoever erases the run erases what tells its contents.
        client.erase(run.id(), &operator).await.unwrap();
        let erased = client.stored(varied.id(), &operator).await.unwrap();
        assert!(
            erased.data_key.is_empty(),
            "the variation is erased as well"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn contents_that_are_kept_for_a_time_go_with_their_variations() {
    everywhere("what-if-kept", async |place| {
        let till = Till::open();
        let (runtime, clerk) = house(place, &till);
        let _worker = Worker::start(&runtime);
        let (client, operator) = (place.client(), Principal::operator());
        let (run, call) = finished(&clerk, &client).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        let began = std::time::Instant::now();
        let vary = async || {
            let varied = client.what_if(run.id(), &*call).output(Json::string("dim"));
            let varied = varied.by(&operator).await.unwrap();
            done(&varied).await.result.unwrap();
            varied
        };
        let varied = [vary().await, vary().await];
        // The run has been over for as long, and its variations have not.
        let time = began.elapsed() + Duration::from_millis(100);
        assert_eq!(client.erase_after(time, &operator).await.unwrap(), 3);
        for id in [run.id(), varied[0].id(), varied[1].id()] {
            let erased = client.stored(id, &operator).await.unwrap();
            assert!(erased.data_key.is_empty(), "{id} is erased");
        }
        assert_eq!(client.erase_after(time, &operator).await.unwrap(), 0);

        // When all of them are old, each is erased once.
        let (run, call) = finished(&clerk, &client).await;
        let varied = client.what_if(run.id(), &*call).output(Json::string("dim"));
        done(&varied.by(&operator).await.unwrap())
            .await
            .result
            .unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        let erased = client.erase_after(Duration::from_millis(10), &operator);
        assert_eq!(erased.await.unwrap(), 2);
    })
    .await;
}
