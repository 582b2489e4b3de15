//! A composite can be put down and picked up again.

use super::*;

/// A model that says what the request asks for, however often and in whichever order.
fn echo(name: &'static str, runs: &Arc<AtomicU32>) -> Plain {
    let script: Vec<_> = (0..20)
        .map(|_| {
            let runs = runs.clone();
            Script::with(move |asked| {
                runs.fetch_add(1, SeqCst);
                let usage = Usage {
                    input_tokens: 1,
                    output_tokens: 1,
                    requests: 1,
                };
                let content = format!("{name}({})", asked.last());
                agents::model::Reply {
                    content,
                    usage,
                    ..Default::default()
                }
            })
        })
        .collect();
    AgentBuilder::new(name)
        .model(ScriptedModel::new(script).0)
        .budget(Budget::new().max_turns(1))
        .build()
}

/// Two agents of one name at the same input, one that fails, a loop and a discussion.
fn composite(
    runs: &Arc<AtomicU32>,
    failures: &Arc<AtomicU32>,
) -> impl Agent<In = String, Out = String> {
    let counted = failures.clone();
    let broken: Plain = native("broken", move |_| {
        let nth = counted.fetch_add(1, SeqCst);
        async move { Err(Error::new(ErrorKind::Failed, format!("failure {nth}"))) }
    });
    let voters = settled((echo("voter", runs), echo("voter", runs), broken))
        .map(|voted| format!("{voted:?}"));
    let refined = echo("refine", runs).until(|text| {
        if text.len() > 60 {
            Done(text)
        } else {
            Again(text)
        }
    });
    let captain: Plain<Transcript<String>> =
        native("captain", |all: Transcript<String>| async move {
            Ok(all.to_string())
        });
    let discussed = forum((echo("analyst", runs), echo("critic", runs))).captain(captain);
    voters.then(refined).then(
        (
            discussed,
            first_of((endless("never", &Arc::default()), echo("last", runs))),
        )
            .map(join),
    )
}

#[tokio::test]
async fn every_snapshot_of_a_composite_leads_to_the_same_end() {
    let (runs, failures) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let kept: Arc<Mutex<Vec<Snapshot>>> = Arc::default();
    let keep = kept.clone();
    let whole = composite(&runs, &failures)
        .run("go")
        .on_checkpoint(move |snapshot| keep.lock().unwrap().push(snapshot))
        .outcome()
        .await
        .unwrap();
    let answer = whole.result.unwrap();
    let snapshots = kept.lock().unwrap().clone();
    let requests = runs.load(SeqCst);
    assert_eq!(u32::try_from(snapshots.len()).unwrap(), requests);
    for (index, snapshot) in snapshots.into_iter().enumerate() {
        let text = serde_json::to_string(&snapshot).unwrap();
        let (again, failed) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let agent = composite(&again, &failed);
        let resumed = agent
            .resume(serde_json::from_str(&text).unwrap())
            .outcome()
            .await
            .unwrap();
        assert_eq!(resumed.result.unwrap(), answer, "from snapshot {index}");
        assert_eq!(
            again.load(SeqCst),
            requests - 1 - u32::try_from(index).unwrap(),
            "nothing is asked twice"
        );
        assert_eq!(failed.load(SeqCst), 0, "what failed is not asked again");
    }
}

#[tokio::test]
async fn a_composite_s_snapshot_belongs_to_it_alone() {
    let kept: Arc<Mutex<Option<Snapshot>>> = Arc::default();
    let keep = kept.clone();
    let pair = (says("a", ["x"]), says("b", ["y"]));
    pair.run("go")
        .on_checkpoint(move |snapshot| *keep.lock().unwrap() = Some(snapshot))
        .await
        .unwrap();
    let snapshot = kept.lock().unwrap().clone().unwrap();
    let error = first_of((says("a", ["x"]), says("b", ["y"])))
        .resume(snapshot)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the stored run belongs to agent `(a, b)`, not to `first_of(a, b)`"
    );
}
