//! Many deciders at once, in several processes.

use super::{TempFile, run};
use agents_store::{
    Answer, Claim, Commit, Decision, ErrorKind, NewApproval, Risk, SqliteStore, Store,
};
use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    time::Duration,
};

/// Variable with the path of the store, for the processes of the test.
const PATH: &str = "AGENTS_TEST_SQLITE";

/// Time that is not over within the test.
const LONG: Duration = Duration::from_secs(60);

/// Returns the rest of the first line of a process that begins so.
fn said(output: &mut impl BufRead, begin: &str) -> String {
    loop {
        let mut line = String::new();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "it says `{begin}`");
        // The harness begins the line.
        if let Some((_, rest)) = line.split_once(begin) {
            return rest.trim().to_owned();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_sixteen_deciders_in_four_processes_wins() {
    let file = TempFile::new("deciders");
    let store = SqliteStore::open(&file.0).await.unwrap();
    store.create(&run("run-1")).await.unwrap();
    let claim = Claim {
        worker: "w".to_owned(),
        agents: vec!["payer".to_owned()],
        run: None,
        time: LONG,
        per_tenant: 0,
        most_claims: 3,
        alone: true,
    };
    let lease = store.claim(&claim).await.unwrap().unwrap();
    let asked = NewApproval {
        id: "r1".to_owned(),
        request: "r1".to_owned(),
        place: "payer".to_owned(),
        agent_name: "payer".to_owned(),
        tool_name: "pay".to_owned(),
        version: "1.0.0".to_owned(),
        args_summary: "cents 100".to_owned(),
        effect_description: "Pays.".to_owned(),
        risk_level: Risk::High,
        user_id: None,
        args_digest: "digest".to_owned(),
        expires_after: LONG,
        detail: Vec::new(),
        reasons: None,
        follows: None,
        by_mode: None,
    };
    let commit = Commit {
        id: "a".to_owned(),
        last: 1,
        asked: vec![asked],
        ..Commit::default()
    };
    store.commit(&lease, &commit).await.unwrap();
    let mut deciders: Vec<_> = (0..4)
        .map(|_| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args([
                "--exact",
                "deciders::four_deciders",
                "--ignored",
                "--nocapture",
            ]);
            command.env(PATH, &file.0);
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut decider = command.spawn().unwrap();
            let output = BufReader::new(decider.stdout.take().unwrap());
            (decider, output)
        })
        .collect();
    for (_, output) in &mut deciders {
        said(output, "ready");
    }
    for (decider, _) in &mut deciders {
        decider.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    let mut won = Vec::new();
    for (mut decider, mut output) in deciders {
        let wins = said(&mut output, "won:");
        won.extend(wins.split_whitespace().map(str::to_owned));
        assert!(decider.wait().unwrap().success());
    }
    assert_eq!(won.len(), 1, "{won:?}");
    let found = store.approval("r1").await.unwrap().unwrap();
    assert_eq!(found.decided_by.as_ref(), won.first());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a process of `one_of_sixteen_deciders_in_four_processes_wins`"]
async fn four_deciders() {
    let Ok(path) = std::env::var(PATH) else {
        return;
    };
    let store = SqliteStore::open(&path).await.unwrap();
    println!("ready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let deciding: Vec<_> = (0..4)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                let decision = Decision {
                    id: "r1".to_owned(),
                    tenant: None,
                    by: format!("decider-{}-{n}", std::process::id()),
                    answer: Answer::Deny("no".to_owned()),
                    proof: Vec::new(),
                };
                let decided = store.decide(&decision).await;
                (decision.by, decided)
            })
        })
        .collect();
    let mut won = Vec::new();
    for decided in deciding {
        match decided.await.unwrap() {
            (by, Ok(_)) => won.push(by),
            (_, Err(error)) => assert_eq!(error.kind(), ErrorKind::Settled, "{error}"),
        }
    }
    println!("won: {}", won.join(" "));
}
