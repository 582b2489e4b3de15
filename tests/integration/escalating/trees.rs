//! In any tree, an escalation comes to the nearest agent above that handles it, once.

use super::{
    own::{Work, asks},
    team::{Plain, passes_on},
};
use agents::{
    Agent, AgentBuilder,
    escalation::{inherit, return_partial_result},
    team::{Member, Team},
    testing::{Script, ScriptedModel},
};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// An agent in the tree: whether it handles, and who is below it.
#[derive(Clone, Debug)]
struct Tree {
    handles: bool,
    below: Vec<Tree>,
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = any::<bool>().prop_map(|handles| Tree {
        handles,
        below: Vec::new(),
    });
    leaf.prop_recursive(5, 20, 3, |below| {
        (
            prop::bool::weighted(0.4),
            prop::collection::vec(below, 0..=3),
        )
            .prop_map(|(handles, below)| Tree { handles, below })
    })
}

/// Who was asked, in order.
type Asked = Arc<Mutex<Vec<String>>>;

/// The member for this agent, and the way down to the one that fails: at each agent, `choices` says
/// which delegate it asks.
fn member(
    tree: &Tree,
    name: &str,
    choices: Option<&[usize]>,
    asked: &Asked,
    way: &mut Vec<(String, bool)>,
) -> Member<Plain> {
    let next = choices.filter(|_| !tree.below.is_empty()).map(|choices| {
        let (first, rest) = choices.split_first().unwrap_or((&0, &[]));
        (first % tree.below.len(), rest)
    });
    let script: Vec<Script> = match next {
        Some((at, _)) => passes_on(&format!("{name}_{at}"), "go").into(),
        None => vec![asks("medium"), Script::text("told")],
    };
    if choices.is_some() {
        way.push((name.to_owned(), tree.handles));
    }
    let mut agent = AgentBuilder::<String, String>::new(name.to_owned())
        .tool(Work)
        .model(ScriptedModel::new(script).0);
    if tree.handles {
        let (asked, me) = (asked.clone(), name.to_owned());
        agent = agent.on_escalation(move |_| {
            asked.lock().unwrap().push(me.clone());
            return_partial_result(format!("settled by {me}"))
        });
    } else if name.len() % 3 == 0 {
        // One that looks and leaves it to the next is passed by as well.
        agent = agent.on_escalation(|_| inherit());
    }
    tree.below
        .iter()
        .enumerate()
        .fold(Member::new(agent.build()), |parent, (at, below)| {
            let choices = next
                .filter(|(chosen, _)| *chosen == at)
                .map(|(_, rest)| rest);
            parent.delegate(member(below, &format!("{name}_{at}"), choices, asked, way))
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_nearest_handler_is_asked_once(tree in trees(), choices in prop::collection::vec(0usize..3, 5)) {
        let (asked, mut way) = (Asked::default(), Vec::new());
        let team: Team<Plain> = member(&tree, "a", Some(&choices), &asked, &mut way).build();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let outcome = runtime.block_on(team.run("go").outcome()).unwrap();

        let nearest = way.iter().rev().find(|(_, handles)| *handles).map(|(name, _)| name.clone());
        let asked = asked.lock().unwrap().clone();
        prop_assert_eq!(&asked, &nearest.clone().into_iter().collect::<Vec<_>>());
        let [receipt] = &outcome.escalations[..] else { panic!("{:?}", outcome.escalations) };
        let mut path: Vec<_> = way.iter().rev().map(|(name, _)| name.clone()).collect();
        match &nearest {
            Some(name) => {
                path.truncate(path.iter().position(|one| one == name).unwrap() + 1);
                let said = outcome.result.unwrap();
                prop_assert!(said.contains(&format!("settled by {name}")), "{}", said);
                prop_assert_eq!(outcome.partial, name == "a");
            }
            None => prop_assert!(outcome.result.unwrap().ends_with("told")),
        }
        prop_assert_eq!(&receipt.escalation.path, &path);
    }
}
