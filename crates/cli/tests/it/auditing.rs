//! `audit`, `heads`, `verify`, `executions`, `undo`, `hold-all` and `erase`.

use crate::desk::Desk;
use agents_runtime::{Approval, Principal};
use std::fs;

/// Approves the request, and waits until the run is over.
async fn over(desk: &Desk, run: &agents_runtime::RunRef<String>, request: &str) {
    let approvals = desk.runtime.approvals();
    let grace = Principal::new("grace", "acme");
    approvals
        .decide(request, Approval::Approve, &grace)
        .await
        .unwrap();
    desk.answer(run).await.unwrap();
}

#[tokio::test]
async fn the_trail_is_printed_and_checked() {
    let desk = Desk::new("trail").await;
    let (run, request) = desk.waiting("acme", "one").await;
    over(&desk, &run, &request).await;
    let table = desk.printed(&["audit", "--run", run.id()]);
    for word in [
        "started",
        "requested",
        "approved",
        "began",
        "ended",
        "finished",
        "grace",
    ] {
        assert!(table.contains(word), "{word} in\n{table}");
    }
    let objects = desk.agents(&["audit", "--json"]).succeeds().objects();
    assert_eq!(objects.len(), table.lines().count() - 1);
    let rest = desk.agents(&["audit", "--json", "--after", "3"]).succeeds();
    assert_eq!(rest.objects().len(), objects.len() - 3);
    desk.agents(&["audit", "--run", "never"])
        .fails(1, "no run `never`");

    let heads = desk.folder.0.join("heads.jsonl");
    fs::write(&heads, desk.printed(&["heads"])).unwrap();
    let heads = heads.to_str().unwrap();
    let verdict = desk.printed(&["verify"]);
    assert!(
        verdict.contains("intact") && verdict.contains("not compared"),
        "{verdict}"
    );
    let verdict = desk.printed(&["verify", "--heads", heads]);
    assert!(
        verdict.contains("intact") && !verdict.contains("not compared"),
        "{verdict}"
    );
    let no_heads = desk.folder.0.join("no-heads");
    fs::write(&no_heads, "these are no heads\n").unwrap();
    desk.agents(&["verify", "--heads", no_heads.to_str().unwrap()])
        .fails(1, "line 1 of");

    let db = rusqlite::Connection::open(desk.folder.0.join("runs.db")).unwrap();
    db.execute("UPDATE agent_approvals SET decided_by = 'ada'", [])
        .unwrap();
    let changed = desk.agents(&["verify"]);
    assert_eq!(changed.code, 1);
    assert!(
        changed.out.contains("of agent_approvals was edited"),
        "{changed:?}"
    );
}

#[tokio::test]
async fn an_undo_is_asked_for_once() {
    let desk = Desk::new("undo").await;
    let (run, request) = desk.waiting("acme", "one").await;
    over(&desk, &run, &request).await;
    let listed = desk.agents(&["executions", "--json", run.id()]).succeeds();
    let execution = listed.objects()[0]["execution_id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(desk.printed(&["executions", run.id()]).contains(" done "));
    desk.agents(&["undo", "never"])
        .fails(1, "no execution `never`");
    desk.agents(&["--as", "mallory", "--tenant", "beta", "undo", &execution])
        .fails(1, "no execution");
    let asked = |desk: &Desk| {
        let objects = desk
            .agents(&["--json", "undo", &execution])
            .succeeds()
            .objects();
        objects[0]["run_id"].as_str().unwrap().to_owned()
    };
    let undo = asked(&desk);
    assert_eq!(asked(&desk), undo, "the same run");
    // The tool of the payer says nothing of an undo.
    let undo = desk.runtime.as_client().run::<String>(undo);
    desk.answer(&undo).await.unwrap();
    let shown = desk.printed(&["show", "--exact", undo.id()]);
    assert!(shown.contains("does not say how it is undone"), "{shown}");
    assert!(desk.printed(&["audit"]).contains("not_undone"));
}

#[tokio::test]
async fn runs_are_held_and_erased() {
    let desk = Desk::new("held").await;
    let (run, _) = desk.waiting("acme", "one").await;
    desk.agents(&["erase", run.id()]).fails(1, "cancel it");
    desk.agents(&[
        "--as", "grace", "--tenant", "acme", "hold-all", "--reason", "no",
    ])
    .fails(1, "for the operator");
    let held = desk.printed(&["hold-all", "--reason", "restored"]);
    assert!(held.starts_with("1 runs are held"), "{held}");
    assert!(
        desk.printed(&["runs", "--status", "held"])
            .contains("restored")
    );
    desk.printed(&["cancel", run.id()]);
    desk.answer(&run).await.unwrap_err();
    assert!(desk.printed(&["erase", run.id()]).contains("erased"));
    desk.agents(&["show", "--exact", run.id()])
        .fails(1, "was erased");
    let verdict = desk.printed(&["verify"]);
    assert!(verdict.contains("1 runs were erased"), "{verdict}");
}
