//! `until`.

use super::*;

fn double() -> (Plain<u32, u32>, Arc<AtomicU32>) {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let agent = native("double", move |n: u32| {
        counted.fetch_add(1, SeqCst);
        async move { Ok(2 * n) }
    });
    (agent, runs)
}

#[tokio::test]
async fn it_runs_at_least_once_and_until_it_is_enough() {
    let (agent, runs) = double();
    let agent = agent
        .until(|n| if n >= 100 { Done(n) } else { Again(n) })
        .at_most(5);
    assert_eq!(agent.name(), "until(double)");
    assert_eq!(agent.run(500_u32).await.unwrap(), 1000);
    assert_eq!(runs.load(SeqCst), 1);
    assert_eq!(agent.run(20_u32).await.unwrap(), 160);
    assert_eq!(runs.load(SeqCst), 4);
    let (agent, runs) = double();
    assert_eq!(
        agent
            .until(|n| if n > 0 { Done(n) } else { Again(n) })
            .at_most(0)
            .run(1_u32)
            .await
            .unwrap(),
        2
    );
    assert_eq!(runs.load(SeqCst), 1);
}

#[tokio::test]
async fn running_out_is_a_budget_error_that_holds_the_last_value() {
    let (agent, runs) = double();
    let agent = agent
        .until(|n| if n >= 100 { Done(n) } else { Again(n) })
        .at_most(3);
    let outcome = agent.run(1_u32).outcome().await.unwrap();
    assert_eq!((runs.load(SeqCst), outcome.stopped), (3, None));
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Budget);
    assert_eq!(
        error.to_string(),
        "`until(double)`: 3 runs are used up (`at_most`); the last gave 8"
    );
    let ran_out: &IterationLimit = error.source().unwrap().downcast_ref().unwrap();
    assert_eq!((ran_out.runs(), ran_out.last_as::<u32>().unwrap()), (3, 8));
    let (agent, runs) = double();
    assert!(
        agent
            .until(|n| if n == 1 { Done(n) } else { Again(0) })
            .run(1_u32)
            .await
            .unwrap_err()
            .kind()
            == ErrorKind::Budget
    );
    assert_eq!(runs.load(SeqCst), 10, "ten unless said otherwise");
}

#[tokio::test]
async fn a_long_last_value_is_shown_in_part_and_held_whole() {
    let long = native("long", |text: String| async move { Ok(text.repeat(100)) });
    let agent = long
        .until(|text| {
            if text.is_empty() {
                Done(text)
            } else {
                Again(text)
            }
        })
        .at_most(1);
    let error = agent.run("äöü").await.unwrap_err();
    assert!(error.to_string().ends_with(" …") && error.to_string().len() < 400);
    let ran_out: &IterationLimit = error.source().unwrap().downcast_ref().unwrap();
    assert_eq!(ran_out.last_as::<String>().unwrap(), "äöü".repeat(100));
}
