//! Tools that a person has to approve.

use super::*;
use crate::world::PutDown;

#[tokio::test]
async fn confirmed_tools_need_a_person_whatever_they_say_themselves() {
    let script = || {
        [
            Script::calls([("deploy", "{}"), ("compile", "{}")]),
            Script::text("well"),
        ]
    };
    let (coder, coded) = driven("coder", script());
    let team = structure!(coder.grants([Compile]).confirm([Deploy]));
    team.run("go").await.unwrap();
    assert_eq!(offered(&coded), ["compile", "deploy"]);
    let results = crate::world::told(&coded);
    assert!(
        results[0].contains("the run has no approver"),
        "{results:?}"
    );
    assert_eq!(results[1], "compiled");

    let (coder, coded) = driven("coder", script());
    let yes = |request: ApprovalRequest| async move {
        assert_eq!(
            (&*request.agent_name, &*request.tool_name),
            ("coder", "deploy")
        );
        Approval::Approve
    };
    structure!(coder.confirm([Deploy]))
        .run("go")
        .approver(yes)
        .await
        .unwrap();
    assert_eq!(
        offered(&coded).len(),
        4,
        "nothing was granted, so nothing is taken away"
    );
    assert_eq!(coded.requests()[1].results()[0].1, "live");
}

/// A run that waits for approval can be interrupted, and resumed with the decision.
#[tokio::test(start_paused = true)]
async fn a_confirmed_call_goes_on_with_a_decision_that_comes_later() {
    let journal = MemoryJournal::new();
    let team = |script: Vec<Script>| {
        let (coder, handle) = driven("coder", script);
        (structure!(coder.confirm([Deploy])), handle)
    };
    let nobody_answers = |_: ApprovalRequest| std::future::pending::<Approval>();
    let (waiting, _) = team(vec![Script::call("deploy", "{}")]);
    let run = waiting
        .run("go")
        .approver(nobody_answers)
        .journal(journal.clone())
        .outcome();
    let an_hour = Duration::from_secs(3600);
    assert!(tokio::time::timeout(an_hour, run).await.is_err());
    let stored = PutDown(journal.entries());
    assert!(stored.count("asked") > 1, "somebody was asked");
    for (decision, told) in [
        (Some(Approval::Approve), "live"),
        (
            Some(Approval::deny("not on a Friday")),
            "not approved: not on a Friday",
        ),
        (None, "the run has no approver"),
    ] {
        let (team, handle) = team(vec![Script::text("well")]);
        let mut run = team.run("go").journal(stored.journal());
        if let Some(decision) = decision {
            run = run.approver(move |request: ApprovalRequest| {
                assert_eq!(&*request.tool_name, "deploy");
                let decision = decision.clone();
                async move { decision }
            });
        }
        assert_eq!(run.await.unwrap(), "well");
        assert!(
            self::told(&handle).contains(told),
            "{}",
            self::told(&handle)
        );
    }
}

#[tokio::test]
async fn a_delegate_can_be_confirmed() {
    let (coder, coded) = driven("coder", []);
    let (lead, led) = lead([
        Script::call("coder", r#"{"input":"x"}"#),
        Script::text("well"),
    ]);
    let team = structure!(lead.confirm(["coder"]).delegates(coder.grants([])));
    team.run("go").await.unwrap();
    assert_eq!(coded.count(), 0);
    assert!(
        told(&led).contains("the run has no approver"),
        "{}",
        told(&led)
    );
}

#[tokio::test]
async fn a_confirmed_delegate_is_confirmed_for_code_as_well() {
    let scribe = || -> Plain {
        AgentBuilder::new("scribe")
            .skill(Skill::native(
                "write",
                "Writes.",
                |task: String| async move { Ok(format!("wrote {task}")) },
            ))
            .build()
    };
    let by_name = async |task: String| {
        let one = delegate_named::<String, String>("scribe")?;
        agents::Agent::run(&one, task).await
    };
    let team = |named: bool| {
        let body = move |task: String| async move {
            match named {
                true => by_name(task).await,
                false => delegate::<Plain>()?.run(task).await,
            }
        };
        let lead: Plain = AgentBuilder::new("lead")
            .skill(Skill::native("lead", "Leads.", body))
            .build();
        structure!(lead.confirm(["scribe"]).delegates(scribe()))
    };
    for named in [true, false] {
        let error = team(named).run("it").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert!(
            error
                .to_string()
                .contains("agent `scribe`: not approved: the run has no approver"),
            "{error}"
        );
        let asked: Arc<Mutex<Vec<ApprovalRequest>>> = Arc::default();
        let seen = asked.clone();
        let approver = move |request: ApprovalRequest| {
            seen.lock().unwrap().push(request);
            async { Approval::Approve }
        };
        let said = team(named).run("it").approver(approver).await.unwrap();
        assert_eq!(said, "wrote it");
        let asked = asked.lock().unwrap();
        let [request] = &asked[..] else {
            panic!("{asked:?}")
        };
        assert_eq!(
            (
                &*request.agent_name,
                &*request.tool_name,
                request.args.as_str()
            ),
            ("lead", "scribe", r#""it""#)
        );
    }
    // A stored decision is used, and nobody is asked again.
    let journal = MemoryJournal::new();
    let stored = journal.clone();
    let yes = move |_: ApprovalRequest| {
        let stored = stored.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            // What came before is stored while a person is asked.
            let is_stored = |entry: &agents::journal::Entry| entry.kind() == "confirming";
            assert!(stored.entries().iter().any(is_stored));
            Approval::Approve
        }
    };
    let team = team(false);
    let run = team.run("it").approver(yes).journal(journal.clone());
    run.await.unwrap();
    let asked = crate::world::put_down_after(&journal, "confirmed", 1);
    let again = team.run("it").journal(asked.journal()).await;
    assert_eq!(again.unwrap(), "wrote it");
}

#[tokio::test]
async fn the_memory_of_one_skill_can_be_confirmed() {
    let (model, handle) = ScriptedModel::new([
        Script::call("memory_write", r#"{"content":"ACME pays late"}"#),
        Script::text("noted"),
    ]);
    let bank = MemoryBank::new();
    let clerk: Plain = AgentBuilder::new("clerk")
        .memory(bank.clone())
        .skill(Skill::model("note", "Notes.").with_memory())
        .model(model)
        .build();
    let team = structure!(clerk.confirm(["memory_write"]));
    team.check().unwrap();
    team.run("go").await.unwrap();
    assert!(told(&handle).contains("the run has no approver"));
    let owner = agents::memory::Owner::agent("clerk");
    assert!(bank.lines(&owner).is_empty());
}
