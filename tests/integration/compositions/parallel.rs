//! Tuples, `Vec`s and arrays; `settled`.

use super::*;
use crate::world::scripted_agent;

#[tokio::test(start_paused = true)]
async fn results_come_in_the_order_in_which_they_are_written() {
    let started = Instant::now();
    let all = (after("a", 3), after("b", 1), after("c", 2));
    assert_eq!(all.name(), "(a, b, c)");
    assert_eq!(
        all.run("x").await.unwrap(),
        ("a(x)".into(), "b(x)".into(), "c(x)".into())
    );
    assert_eq!(started.elapsed(), Duration::from_secs(3));
    assert_eq!(
        vec![after("a", 2), after("b", 1)].run("x").await.unwrap(),
        ["a(x)", "b(x)"]
    );
    assert_eq!(
        [after("a", 2), after("b", 1)].run("x").await.unwrap(),
        ["a(x)", "b(x)"]
    );
}

#[tokio::test(start_paused = true)]
async fn three_agents_of_a_second_take_a_second() {
    let started = Instant::now();
    (after("a", 1), after("b", 1), after("c", 1))
        .run("x")
        .await
        .unwrap();
    assert_eq!(started.elapsed(), Duration::from_secs(1));
    let many: Vec<_> = (0..100).map(|_| after("a", 1)).collect();
    assert_eq!(many.name(), "[a; 100]");
    assert_eq!(many.run("x").await.unwrap().len(), 100);
    assert_eq!(started.elapsed(), Duration::from_secs(2));
}

#[tokio::test]
async fn outputs_may_differ_and_eight_are_enough() {
    let length = || native("length", |text: String| async move { Ok(text.len()) });
    let eight = (
        length(),
        shout(),
        length(),
        shout(),
        length(),
        shout(),
        length(),
        shout(),
    );
    assert_eq!(eight.run("ab").await.unwrap().7, "AB");
    let none: Vec<Plain> = Vec::new();
    assert_eq!((none.name(), none.run("x").await.unwrap().len()), ("[]", 0));
    let boxed = vec![shout().boxed(), after("a", 0).boxed()];
    assert_eq!(boxed.name(), "[shout, a]");
    assert_eq!(boxed.run("x").await.unwrap(), ["X", "a(x)"]);
}

#[tokio::test(start_paused = true)]
async fn the_first_failure_drops_the_others() {
    let freed = Arc::new(AtomicU32::new(0));
    let started = Instant::now();
    let all = (endless("a", &freed), fails("b", 1), endless("c", &freed));
    assert_eq!(all.run("x").await.unwrap_err().to_string(), "out of order");
    assert_eq!(
        (freed.load(SeqCst), started.elapsed()),
        (2, Duration::from_secs(1))
    );
    let error = vec![endless("a", &freed), fails("b", 1)]
        .run("x")
        .await
        .unwrap_err();
    assert_eq!((error.kind(), freed.load(SeqCst)), (ErrorKind::Failed, 3));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_dropped_with_its_agent_has_a_receipt() {
    let slow = scripted_agent("slow", [Script::call("wait", r#"{"millis":60000}"#)])
        .tool(crate::world::Wait)
        .build();
    let all = settled(vec![
        (slow, fails("a", 1)).map(join).boxed(),
        shout().boxed(),
    ]);
    let outcome = all.run("x").outcome().await.unwrap();
    assert!(outcome.result.unwrap()[0].is_err());
    assert_eq!(
        outcome
            .outputs
            .receipts()
            .filter(|receipt| !receipt.is_ok())
            .count(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn settled_collects_what_became_of_each() {
    let all = settled((after("a", 2), fails("b", 1), says("c", ["hm"])));
    assert_eq!(all.name(), "settled(a, b, c)");
    let (a, b, c) = all.run("x").await.unwrap();
    assert_eq!(
        (a.unwrap(), c.unwrap()),
        ("a(x)".to_owned(), "hm".to_owned())
    );
    let failed = b.unwrap_err();
    let kept: Failed = serde_json::from_str(&serde_json::to_string(&failed).unwrap()).unwrap();
    assert_eq!(kept, failed);
    assert_eq!(
        (failed.agent.as_str(), failed.kind),
        ("b", ErrorKind::Failed)
    );
    assert_eq!(
        Error::from(failed).to_string(),
        "agent `b` failed: out of order"
    );
    let texts = settled(vec![after("a", 1), fails("b", 1)])
        .run("x")
        .await
        .unwrap();
    assert_eq!(texts.iter().filter(|text| text.is_ok()).count(), 1);
    let [first, second] = settled([fails("a", 1), after("b", 1)])
        .run("x")
        .await
        .unwrap();
    assert!(first.is_err() && second.is_ok());
}

#[tokio::test(start_paused = true)]
async fn nobody_settles_what_is_about_the_whole_run() {
    let freed = Arc::new(AtomicU32::new(0));
    let thrown = || Error::thrown("stop it all");
    let error = settled((failing("a", 1, thrown), endless("b", &freed)))
        .run("x")
        .await
        .unwrap_err();
    assert!(error.kind() == ErrorKind::Thrown && freed.load(SeqCst) == 1);
    let critical = || Error::escalated("fire", Severity::Critical);
    let error = first_of((failing("a", 1, critical), endless("b", &freed)))
        .run("x")
        .await
        .unwrap_err();
    assert!(error.kind() == ErrorKind::Escalated && freed.load(SeqCst) == 2);
    // A missing model is an error of the program; it does not merely lose the race.
    let forgotten: Plain = AgentBuilder::new("forgotten").build();
    let error = first_of((forgotten, after("b", 1)))
        .run("x")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
}
