//! Many workers and many deciders at once, in several processes.

use super::{claim, claimed, owner, request, run, step, store};
use agents_store::{
    Answer, Claim, Commit, Decision, End, ErrorKind, PostgresStore, Rest, RunFilter, RunStatus,
    Store,
};
use std::{
    collections::{BTreeMap, HashSet},
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

/// Variable with the address of the database, for processes that a test has started.
const ADDRESS: &str = "AGENTS_TEST_DATABASE";

/// Starts a test of this program as a process of its own.
fn process(test: &str, address: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command.env(ADDRESS, address);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

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
    let Some((database, store)) = store().await else {
        return;
    };
    let lease = claimed(&store, "run-1", "").await;
    let commit = Commit {
        asked: vec![request("r1")],
        ..step("a", 0)
    };
    store.commit(&lease, &commit).await.unwrap();
    let mut deciders: Vec<_> = (0..4)
        .map(|_| {
            let mut decider = process("fleets::four_deciders", database.address());
            let output = BufReader::new(decider.stdout.take().unwrap());
            (decider, output)
        })
        .collect();
    for (_, output) in &mut deciders {
        said(output, "ready");
    }
    for (decider, _) in &mut deciders {
        let mut input = decider.stdin.take().unwrap();
        input.write_all(b"go\n").unwrap();
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
    let Ok(address) = std::env::var(ADDRESS) else {
        return;
    };
    let store = PostgresStore::connect(&address).await.unwrap();
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

#[tokio::test(flavor = "multi_thread")]
async fn eight_claimers_never_get_a_run_twice_nor_more_of_a_tenant_than_allowed() {
    const ALLOWED: u32 = 2;
    let Some((database, store)) = store().await else {
        return;
    };
    let tenants = ["acme", "bolt", "crab"];
    for n in 0..200 {
        let new = run(&format!("run-{n}"), tenants[n % 3]);
        store.create(&new).await.unwrap();
    }
    // Runs of each tenant between their claim and their release, and the most that there were.
    let under_way: Arc<Mutex<BTreeMap<String, (u32, u32)>>> = Arc::default();
    let claiming: Vec<_> = (0..8)
        .map(|n| {
            let (address, under_way) = (database.address().to_owned(), under_way.clone());
            tokio::spawn(async move {
                let store = PostgresStore::connect(&address).await.unwrap();
                let mut got = Vec::new();
                let wanted = Claim {
                    per_tenant: ALLOWED,
                    ..claim(&format!("w{n}"))
                };
                let ready = RunFilter {
                    status: Some(RunStatus::Ready),
                    limit: 1,
                    ..RunFilter::default()
                };
                loop {
                    let Some(lease) = store.claim(&wanted).await.unwrap() else {
                        if store.runs(&ready).await.unwrap().is_empty() {
                            return got;
                        }
                        tokio::time::sleep(Duration::from_millis(2)).await;
                        continue;
                    };
                    let tenant = lease.run.tenant.clone();
                    {
                        let mut under_way = under_way.lock().unwrap();
                        let (now, most) = under_way.entry(tenant.clone()).or_default();
                        *now += 1;
                        *most = (*most).max(*now);
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    under_way.lock().unwrap().get_mut(&tenant).unwrap().0 -= 1;
                    let done = Rest::done(End::Answered);
                    store.release(&lease, &done).await.unwrap();
                    got.push(lease.run.id);
                }
            })
        })
        .collect();
    let mut all = Vec::new();
    for claimer in claiming {
        all.extend(claimer.await.unwrap());
    }
    let each: HashSet<_> = all.iter().collect();
    assert_eq!((all.len(), each.len()), (200, 200));
    let under_way = under_way.lock().unwrap().clone();
    for (tenant, (_, most)) in under_way {
        assert_eq!(most, ALLOWED, "{tenant}");
    }
}

/// Without its lock on tenants, the store would find room for each of them.
#[tokio::test(flavor = "multi_thread")]
async fn claims_at_the_same_moment_keep_to_the_limit_of_a_tenant() {
    let Some((database, store)) = store().await else {
        return;
    };
    let owner = owner(&database).await;
    for round in 0..20 {
        for n in 0..8 {
            let new = run(&format!("run-{round}-{n}"), "acme");
            store.create(&new).await.unwrap();
        }
        let wanted = Claim {
            per_tenant: 1,
            ..claim("w")
        };
        let claiming: Vec<_> = (0..8)
            .map(|_| {
                let (store, wanted) = (store.clone(), wanted.clone());
                tokio::spawn(async move { store.claim(&wanted).await })
            })
            .collect();
        let mut got = 0;
        for claimed in claiming {
            got += u32::from(claimed.await.unwrap().unwrap().is_some());
        }
        assert_eq!(got, 1, "round {round}");
        owner
            .batch_execute("TRUNCATE agent_runs, agent_audit_events CASCADE")
            .await
            .unwrap();
    }
}
