//! `events`.

use crate::desk::{Desk, binary};
use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

#[tokio::test]
async fn events_are_followed_to_the_end_of_the_run() {
    let desk = Desk::new("events").await;
    let (run, request) = desk.waiting("acme", "one").await;
    let so_far = desk.printed(&["events", run.id(), "--no-follow"]);
    assert!(
        so_far
            .lines()
            .last()
            .unwrap()
            .ends_with(" approval_requested tool=pay"),
        "{so_far}"
    );

    let mut command = binary();
    command.args(["--store", &desk.url(), "--json", "events", run.id()]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let following = std::thread::spawn(move || lines.map(Result::unwrap).collect::<Vec<_>>());
    desk.printed(&["approve", &request]);
    desk.answer(&run).await.unwrap();
    let lines = tokio::task::spawn_blocking(|| following.join().unwrap())
        .await
        .unwrap();
    assert!(child.wait().unwrap().success());
    let all = lines.join("\n");
    assert!(
        all.contains(r#""decision":"approved""#) && all.contains(r#""by":"operator""#),
        "{all}"
    );
    let last = lines.last().unwrap();
    assert!(
        last.contains(r#""event":"run_ended""#) && last.contains(r#""ok":true"#),
        "{all}"
    );
    assert!(
        !all.contains("ada@example.com") && !all.contains("Done: "),
        "{all}"
    );

    let from = |text: &str| {
        text.trim_start()
            .split(' ')
            .next()
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let later = desk.printed(&["events", run.id(), "--after", "9", "--no-follow"]);
    assert!(from(&so_far) == 1 && from(&later) > 9, "{later}");
    let exact = desk.printed(&["events", run.id(), "--exact"]);
    assert!(exact.contains("ada@example.com"), "{exact}");
    desk.agents(&["events", "never"])
        .fails(1, "there is no run `never`");
}

#[tokio::test]
async fn a_run_that_has_not_begun_has_no_events() {
    let desk = Desk::new("no-events").await;
    let run = desk.start("acme", "one").await;
    assert_eq!(desk.printed(&["events", run.id(), "--no-follow"]), "");
}
