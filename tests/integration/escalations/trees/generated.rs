//! Generated trees of agents, as data and as teams.

use crate::escalations::team::Deputy;
use crate::world::Plain;
use agents::{
    Agent, AgentBuilder, Model, Severity,
    agent::Skill,
    escalation::{
        Escalation, Resolution, Settlement, escalate, inherit, reroute_to, reroute_to_skill,
        retry_with_model, return_partial_result, throw,
    },
    model::{Message, ModelError, Reply, Request, ToolCall},
    prelude::*,
    team::{Member, Team},
};
use proptest::prelude::*;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// Response of an agent to every escalation that reaches it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Does {
    Model,
    Skill,
    Reroute,
    Partial,
    Raise(Severity),
    Inherit,
    Throw,
}

impl Does {
    /// Returns `true` if this response ends the escalation.
    pub(super) fn settles(self) -> bool {
        !matches!(self, Does::Raise(_) | Does::Inherit)
    }

    fn resolve(self, escalation: Escalation) -> Resolution<String, String> {
        match self {
            Does::Model => retry_with_model(Steady::new("strong", Vec::new())),
            Does::Skill => reroute_to_skill("by_hand"),
            Does::Reroute => reroute_to(Deputy),
            Does::Partial => return_partial_result(format!("partly: {}", escalation.reason)),
            Does::Raise(severity) => escalate(escalation.reason).severity(severity),
            Does::Inherit => inherit(),
            Does::Throw => throw(escalation.reason),
        }
    }

    /// Returns the settlement that the receipt has to record.
    pub(super) fn settlement(self, agent: String, escalation: &Escalation) -> Option<Settlement> {
        Some(match self {
            Does::Model => Settlement::RetriedWithModel {
                agent,
                model: "strong".into(),
            },
            Does::Skill => Settlement::ReroutedToSkill {
                agent,
                skill: "by_hand".into(),
            },
            Does::Reroute => Settlement::ReroutedTo {
                agent,
                delegate: "deputy".into(),
            },
            Does::Partial => Settlement::PartialResult { agent },
            Does::Throw => Settlement::Thrown {
                agent,
                reason: escalation.reason.clone(),
            },
            Does::Raise(_) | Does::Inherit => return None,
        })
    }
}

/// An agent in the tree.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    does: Option<Does>,
    kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// The calls of the agent escalate with these severities, all in parallel.
    Fails(Vec<&'static str>),
    /// Two such agents in parallel, as one agent.
    Pair(Box<[Tree; 2]>),
    /// The agent asks the first ones of its delegates, in parallel.
    Leads(Vec<Tree>, usize),
}

fn does() -> impl Strategy<Value = Option<Does>> {
    prop_oneof![
        5 => Just(None),
        1 => Just(Some(Does::Model)),
        1 => Just(Some(Does::Skill)),
        1 => Just(Some(Does::Reroute)),
        1 => Just(Some(Does::Partial)),
        1 => Just(Some(Does::Raise(Severity::Low))),
        1 => Just(Some(Does::Raise(Severity::Critical))),
        1 => Just(Some(Does::Inherit)),
        1 => Just(Some(Does::Throw)),
    ]
}

pub(super) fn trees() -> impl Strategy<Value = Tree> {
    let badly = prop::sample::select(vec!["LOW", "MEDIUM", "HIGH", "CRITICAL"]);
    let fails = (does(), prop::collection::vec(badly, 1..=2))
        .prop_map(|(does, calls)| Tree {
            does,
            kind: Kind::Fails(calls),
        })
        .boxed();
    let pair = [fails.clone(), fails.clone()].prop_map(|both| Tree {
        does: None,
        kind: Kind::Pair(Box::new(both)),
    });
    let leaf = prop_oneof![4 => fails, 1 => pair];
    let tree = leaf.prop_recursive(4, 12, 3, |below| {
        (does(), prop::collection::vec(below, 1..=3), 1..=2_usize).prop_map(
            |(does, below, asks)| Tree {
                does,
                kind: Kind::Leads(below, asks),
            },
        )
    });
    // A pair cannot be the root, so it gets an agent above it.
    (does(), tree).prop_map(|(does, tree)| match tree.kind {
        Kind::Pair(_) => Tree {
            does,
            kind: Kind::Leads(vec![tree], 1),
        },
        _ => tree,
    })
}

fn named(severity: &str) -> Severity {
    match severity {
        "LOW" => Severity::Low,
        "MEDIUM" => Severity::Medium,
        "HIGH" => Severity::High,
        _ => Severity::Critical,
    }
}

tool! {
    /// Fails with this severity.
    #[tool(reads)]
    async fn fail(
        /// Id of the failure.
        id: String,
        /// Severity of the failure.
        severity: String,
    ) -> Result<String, String> {
        Err(format!("{severity} {id}"))
    }

    on_error {
        execution_error(Returned(said)) => {
            let (severity, id) = said.split_once(' ').unwrap_or_default();
            escalate(id).severity(named(severity))
        },
    }
}

/// A model that makes its calls and then answers with their results, in any request.
struct Steady {
    id: &'static str,
    calls: Vec<(String, String)>,
}

impl Steady {
    fn new(id: &'static str, calls: Vec<(String, String)>) -> Self {
        Steady { id, calls }
    }
}

#[agents::async_trait]
impl Model for Steady {
    fn id(&self) -> &str {
        self.id
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let results = request
            .messages()
            .iter()
            .filter_map(|message| match message {
                Message::Tool { content, .. } => Some(&*content.text),
                _ => None,
            });
        let results: Vec<_> = results.collect();
        let call = |(name, arguments): &(String, String)| ToolCall {
            id: String::new(),
            name: name.clone(),
            arguments: arguments.clone(),
        };
        Ok(match results.is_empty() {
            true => Reply {
                calls: self.calls.iter().map(call).collect(),
                ..Reply::default()
            },
            false => Reply {
                content: format!("{} [{}]", self.id, results.join(", ")),
                ..Reply::default()
            },
        })
    }
}

/// Handlers that were called, with the escalation, in order.
pub(super) type Asked = Arc<Mutex<Vec<(String, String)>>>;

/// Description of a generated tree: the agents by name, and the path of each failing call.
#[derive(Default)]
pub(super) struct Known {
    pub(super) does: BTreeMap<String, Option<Does>>,
    pub(super) ways: BTreeMap<String, Vec<String>>,
}

/// Builds a tree.
pub(super) struct Builder {
    pub(super) asked: Asked,
    pub(super) known: Known,
}

pub(super) type Part = Box<dyn Agent<In = String, Out = String>>;

impl Builder {
    fn agent(&mut self, name: &str, does: Option<Does>, calls: Vec<(String, String)>) -> Plain {
        self.known.does.insert(name.to_owned(), does);
        let by_hand = |task: String| async move { Ok(format!("{task}, by hand")) };
        let agent = AgentBuilder::<String, String>::new(name.to_owned())
            .tool(Fail)
            .model(Steady::new("steady", calls))
            .skill(Skill::model("manage", "Manages.").when(|_| true))
            .skill(Skill::native("by_hand", "By hand.", by_hand));
        let Some(does) = does else {
            return agent.build();
        };
        let (asked, me) = (self.asked.clone(), name.to_owned());
        agent
            .on_escalation(move |escalation: Escalation| {
                let one = (me.clone(), escalation.reason.clone());
                asked.lock().unwrap().push(one);
                does.resolve(escalation)
            })
            .build()
    }

    /// Creates an agent whose calls fail, with the agents of `way` above it.
    fn fails(&mut self, name: &str, does: Option<Does>, calls: &[&str], way: &[String]) -> Plain {
        let mut failing = Vec::new();
        for (nth, severity) in calls.iter().enumerate() {
            let id = format!("{name}.{nth}");
            let arguments = format!(r#"{{"id":"{id}","severity":"{severity}"}}"#);
            failing.push(("fail".to_owned(), arguments));
            let up = [name.to_owned()].into_iter().chain(way.iter().cloned());
            self.known.ways.insert(id, up.collect());
        }
        self.agent(name, does, failing)
    }

    /// Creates an agent with its delegates; `way` lists the agents above it. Also returns the name of the agent's
    /// tool.
    fn member(&mut self, tree: &Tree, name: &str, way: &[String]) -> (Member<Part>, String) {
        match &tree.kind {
            Kind::Fails(calls) => {
                let agent = self.fails(name, tree.does, calls, way);
                (Member::new(agent.boxed()), name.to_owned())
            }
            Kind::Pair(both) => {
                let mut part = |nth: usize| {
                    let Kind::Fails(calls) = &both[nth].kind else {
                        panic!("a pair is made of two that fail");
                    };
                    self.fails(&format!("{name}_{nth}"), both[nth].does, calls, way)
                };
                let pair = (part(0), part(1)).map(|(a, b): (String, String)| format!("{a} + {b}"));
                let tool = format!("{name}_0_{name}_1");
                (Member::new(pair.boxed()), tool)
            }
            Kind::Leads(below, asks) => {
                let up = [name.to_owned()].into_iter().chain(way.iter().cloned());
                let up: Vec<_> = up.collect();
                let mut members = Vec::new();
                let mut calls = Vec::new();
                for (nth, tree) in below.iter().enumerate() {
                    let (member, tool) = self.member(tree, &format!("{name}_{nth}"), &up);
                    if nth < *asks {
                        calls.push((tool, r#"{"input":"go"}"#.to_owned()));
                    }
                    members.push(member);
                }
                let agent = self.agent(name, tree.does, calls);
                let member = Member::new(agent.boxed());
                let member = members.into_iter().fold(member, Member::delegate);
                (member, name.to_owned())
            }
        }
    }
}

pub(super) fn built(tree: &Tree) -> (Team<Part>, Builder) {
    let mut builder = Builder {
        asked: Asked::default(),
        known: Known::default(),
    };
    let (member, _) = builder.member(tree, "a", &[]);
    (member.build(), builder)
}
