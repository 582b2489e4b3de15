//! `runs`, `show`, `approvals` and `approval`.

use crate::desk::{Desk, binary, pay};
use agents::{
    AgentBuilder,
    model::{FinishReason, Reply},
    team::Member,
    testing::{Script, ScriptedModel},
    tool::Risk,
};
use serde_json::json;
use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

/// Arguments of a delegate.
const ASKS: &str = r#"{"input": "whales"}"#;

#[tokio::test]
async fn runs_are_listed_and_filtered() {
    let desk = Desk::new("runs").await;
    let (first, _) = desk.waiting("acme", "one").await;
    let second = desk.start("other", "two").await;

    let table = desk.printed(&["runs"]);
    let lines: Vec<_> = table.lines().collect();
    assert!(lines[0].starts_with("RUN ") && lines.len() == 3, "{table}");
    assert!(
        lines[1].starts_with(second.id()) && lines[1].contains(" ready "),
        "{table}"
    );
    assert!(
        lines[2].starts_with(first.id()) && lines[2].contains(" waiting "),
        "{table}"
    );

    let ids = |args: &[&str]| -> Vec<String> {
        let objects = desk
            .agents(&[&["runs", "--json"], args].concat())
            .succeeds()
            .objects();
        let ids = objects
            .iter()
            .map(|run| run["run_id"].as_str().unwrap().to_owned());
        ids.collect()
    };
    let (first, second) = (first.id(), second.id());
    assert_eq!(ids(&[]), [second, first]);
    assert_eq!(ids(&["--status", "waiting"]), [first]);
    assert_eq!(ids(&["--tenant", "other"]), [second]);
    assert_eq!(ids(&["--limit", "1"]), [second]);
    assert_eq!(ids(&["--before", second]), [first]);
    assert_eq!(ids(&["--agent", "payer"]).len(), 2);
    assert!(ids(&["--agent", "nobody"]).is_empty());
    assert_eq!(desk.printed(&["runs", "--agent", "nobody"]), "");
    desk.agents(&["runs", "--before", "never"])
        .fails(1, "no run `never`");
    desk.agents(&["runs", "--status", "asleep"])
        .fails(2, "asleep");
    desk.agents(&["runs", "--limit", "0"]).fails(2, "0");
}

#[tokio::test]
async fn a_run_is_shown_without_its_contents_unless_they_are_asked_for() {
    let desk = Desk::new("show").await;
    let (run, request) = desk.waiting("acme", "one").await;
    let shown = desk.printed(&["show", run.id()]);
    for part in [
        "state      waiting",
        "by ada",
        "pay   1.0.0    open",
        &request,
        "[email]",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    desk.printed(&["approve", &request]);
    desk.answer(&run).await.unwrap();

    let shown = desk.printed(&["show", run.id()]);
    assert!(
        shown.contains("done (answered)") && shown.contains("pay   1.0.0    ok "),
        "{shown}"
    );
    assert!(shown.contains("operator"), "{shown}");
    let json = desk.printed(&["--json", "show", run.id()]);
    for hidden in ["ada@example.com", "Pay the bills.", "Done: paid"] {
        assert!(
            !shown.contains(hidden) && !json.contains(hidden),
            "{hidden}: {shown}{json}"
        );
    }
    let exact = desk.printed(&["show", run.id(), "--exact"]);
    let object = desk
        .agents(&["show", run.id(), "--exact", "--json"])
        .objects()
        .remove(0);
    for there in ["ada@example.com", "Pay the bills.", "Done: "] {
        assert!(
            exact.contains(there) && object.to_string().contains(there),
            "{there}: {exact}"
        );
    }
    assert_eq!(object["calls"][0]["input"]["cents"], 1200);
    assert_eq!(object["answer"], "Done: paid");
    desk.agents(&["show", "never"])
        .fails(1, "`agents runs` lists them");
}

/// A delegate that was dropped with its caller is no execution in doubt: its calls have receipts of their own.
#[tokio::test]
async fn a_delegate_that_was_cut_off_is_not_in_doubt_and_what_is_partial_says_so() {
    let desk = Desk::new("cut-off").await;
    let (model, _) = ScriptedModel::from_async_fn(|asked| async move {
        match asked.results()[..] {
            [] if asked.prompt() == "Look." => std::future::pending().await,
            [] if asked.prompt() == "Tell." => Script::with(|_| Reply {
                content: "Once upon a".to_owned(),
                finish: FinishReason::Length,
                ..Reply::default()
            }),
            [] => Script::calls([("teller", ASKS), ("looker", ASKS)]),
            _ => Script::text("enough"),
        }
    });
    let agent = |name: &'static str, prompt: &'static str| {
        let agent = AgentBuilder::<String, String>::new(name).model(model.clone());
        agent
            .prompt(prompt)
            .tool(pay(&desk.paid, "1.0.0", Risk::Low))
            .build()
    };
    let team = Member::new(agent("lead", "Lead."))
        .delegate(Member::new(agent("teller", "Tell.")))
        .delegate(Member::new(agent("looker", "Look.")).background_until_answer());
    let lead = desk.runtime.agent(team.build());
    let run = lead.run("Go.").start().await.unwrap();
    assert_eq!(desk.answer(&run).await.unwrap(), "enough");

    let shown = desk.printed(&["show", run.id()]);
    let results: Vec<_> = shown
        .lines()
        .filter(|line| line.contains("1.0.0"))
        .collect();
    assert!(
        results.len() == 2
            && results[0].starts_with("teller")
            && results[0].contains("ok, partial")
            && results[1].starts_with("looker")
            && results[1].contains("failed (UNKNOWN), cut off")
            && !shown.contains("in doubt"),
        "{shown}"
    );
    let shown = desk.agents(&["show", run.id(), "--json"]).succeeds();
    let calls = &shown.objects()[0]["calls"];
    assert_eq!(
        (&calls[0]["partial"], &calls[0]["delegate"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(
        (&calls[1]["effect_unknown"], &calls[1]["delegate"]),
        (&json!(true), &json!(true))
    );
}

#[tokio::test]
async fn a_held_run_says_why_and_the_way_out() {
    let desk = Desk::new("held").await;
    let run = desk.start("acme", "one").await;
    desk.by_hand("UPDATE agent_runs SET status = 'held', held = 'the tool is gone'");
    let shown = desk.printed(&["show", run.id()]);
    let way_out = format!("agents release {}", run.id());
    assert!(
        shown.contains("the tool is gone") && shown.contains(&way_out),
        "{shown}"
    );
    assert!(
        desk.printed(&["runs", "--status", "held"])
            .contains("the tool is gone")
    );
}

#[tokio::test]
async fn requests_are_listed_in_short_and_shown_exactly() {
    let desk = Desk::new("requests").await;
    let (run, request) = desk.waiting("acme", "one").await;
    let (_, other) = desk.waiting("other", "two").await;
    let list = desk.printed(&["approvals"]);
    assert!(list.contains(&request) && list.contains(&other), "{list}");
    assert!(
        list.contains("cents: 1200, to: [email]") && !list.contains("ada@"),
        "{list}"
    );
    let own = desk.printed(&["approvals", "--tenant", "acme"]);
    assert!(own.contains(&request) && !own.contains(&other), "{own}");
    let objects = desk
        .agents(&["approvals", "--run", run.id(), "--json"])
        .succeeds()
        .objects();
    assert_eq!(
        (objects.len(), &objects[0]["id"]),
        (1, &request.clone().into())
    );

    let exact = desk.printed(&["approval", &request]);
    assert!(
        exact.contains(r#""to": "ada@example.com""#) && exact.contains("pending"),
        "{exact}"
    );
    let object = desk
        .agents(&["--json", "approval", &request])
        .succeeds()
        .objects()
        .remove(0);
    assert_eq!(object["detail"]["request"]["args"]["to"], "ada@example.com");
    assert_eq!(object["detail"]["schema"]["required"][0], "cents");
    desk.agents(&["approval", "never"])
        .fails(1, "`agents approvals` lists them");
}

#[tokio::test]
async fn text_of_models_cannot_steer_the_terminal() {
    let args =
        r#"{"cents": 1, "to": "\u001b[2J\u001b[1;1Hok\u009b2J\u202egpj\r\u0007", "big": 1.500}"#;
    let desk = Desk::with("terminal", args, Risk::Medium).await;
    let (run, request) = desk.waiting("acme", "\u{1b}]0;title\u{7}").await;
    desk.by_hand("UPDATE agent_runs SET held = char(27) || '[31mheld', status = 'held'");
    for args in [
        &["runs"][..],
        &["runs", "--json"],
        &["show", run.id()],
        &["show", run.id(), "--exact", "--json"],
        &["approvals"],
        &["approvals", "--json"],
        &["approval", &request],
        &["approval", &request, "--json"],
        &["events", run.id(), "--no-follow", "--exact"],
    ] {
        let printed = desk.printed(args);
        let is_inert = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
        assert!(printed.chars().all(is_inert), "{args:?}: {printed:?}");
        assert!(!printed.is_empty(), "{args:?}");
    }
    let exact = desk.printed(&["approval", &request]);
    let shown = exact.lines().last().unwrap();
    assert!(shown.contains("1.500"), "{exact}");
    let value: serde_json::Value = serde_json::from_str(shown).unwrap();
    assert!(
        value["to"].as_str().unwrap().contains("\u{1b}[2J"),
        "{exact}"
    );
}

#[tokio::test]
async fn a_reader_may_stop_reading() {
    let desk = Desk::new("pipe").await;
    desk.start("acme", "one").await;
    // More than a pipe holds.
    desk.by_hand(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
         INSERT INTO agent_runs
             (number, id, tenant_id, agent_name, priority, data, data_key, status, created_at, updated_at)
         SELECT number + i, 'copy-' || i, tenant_id, agent_name, priority, data, data_key, status, created_at, updated_at
         FROM n, agent_runs",
    );
    let mut command = binary();
    command.args(["--store", &desk.url(), "runs", "--json", "--limit", "2000"]);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    assert!(first.contains("copy-1000"), "{first}");
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
}

/// Pays a bill.
#[agents::tool(writes, name = "pay_known", approval = always)]
async fn pay_known(
    /// Account of the supplier.
    account: agents::evidence::Known<String, agents::evidence::User>,
) -> String {
    format!("paid to {account}")
}

#[tokio::test]
async fn the_origins_of_known_values_are_shown_with_the_request() {
    use agents::testing::{Script, ScriptedModel};
    let folder = crate::desk::Folder::new("known");
    let file = folder.0.join("runs.db");
    let store = agents_runtime::SqliteStore::open(&file).await.unwrap();
    let (model, _) =
        ScriptedModel::new([Script::call("pay_known", r#"{"account": "DE02120300"}"#)]);
    let runtime = agents_runtime::Runtime::open(store).model(model);
    let agent = agents::AgentBuilder::<String, String>::new("payer").tool(PayKnown);
    let payer = runtime.agent(agent.build());
    let run = payer
        .run("Pay the bill to DE02120300.")
        .start()
        .await
        .unwrap();
    let stop = tokio_util::sync::CancellationToken::new();
    let working = tokio::spawn(runtime.clone().work(stop.clone()));
    let request = loop {
        match run.progress().await.unwrap() {
            agents_runtime::Progress::Waiting(requests) if !requests.is_empty() => {
                break requests[0].id.clone();
            }
            agents_runtime::Progress::Done(outcome) => panic!("{outcome:?}"),
            _ => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
        }
    };
    stop.cancel();
    working.await.unwrap();
    let url = format!("sqlite:{}", file.display());
    let agents = |args: &[&str]| {
        let mut command = crate::desk::binary();
        crate::desk::Ran::of(command.args(["--store", &url]).args(args)).succeeds()
    };
    let shown = agents(&["approval", &request]).out;
    let known = "known       \"DE02120300\" from the user\n";
    assert!(shown.contains(known), "{shown}");
    let json = agents(&["--json", "approval", &request]).objects();
    let known = &json[0]["detail"]["request"]["known"][0];
    assert_eq!(known["value"], "DE02120300", "{json:?}");
}
