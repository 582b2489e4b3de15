use super::{Cx, Limit, Stop};
use crate::{
    Error, ErrorKind, Severity,
    recovery::FixError,
    tool::{Effects, FnTool, SharedTool},
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::Notify;

/// How many repairs may be within each other.
const DEEPEST: u32 = 4;

/// While a repair agent works: what it may do beside repairing, and what its ending does not end.
///
/// Its own budget ends the repair and nothing else; the budget of whoever called it, a throw and a
/// cancellation end the run as they always do.
#[derive(Debug)]
pub(crate) struct RepairScope {
    /// Nodes at this level of the tree and below belong to the repair.
    level: u32,
    nested: u32,
    outer: Option<Arc<RepairScope>>,
    end: Mutex<Option<FixError>>,
    notify: Notify,
}

impl RepairScope {
    /// A repair that begins at `cx`, unless too many have begun around it.
    pub(crate) fn within(cx: &Cx) -> Option<Arc<RepairScope>> {
        let outer = cx.shield().cloned();
        let nested = outer.as_ref().map_or(0, |outer| outer.nested + 1);
        let level = cx.node.level() + 1;
        let (end, notify) = (Mutex::default(), Notify::new());
        (nested < DEEPEST).then(|| {
            Arc::new(RepairScope {
                level,
                nested,
                outer,
                end,
                notify,
            })
        })
    }

    /// The repair to which a bound at this level of the tree belongs: this one, one around it, or
    /// none of them.
    pub(crate) fn of_level(&self, level: u32) -> Option<&RepairScope> {
        let mut scope = Some(self);
        while let Some(here) = scope {
            if level >= here.level {
                return Some(here);
            }
            scope = here.outer.as_deref();
        }
        None
    }

    /// Nodes at this level of the tree and below belong to the repair.
    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    /// Ends the repair. It never returns to the repair agent.
    pub(crate) async fn finish(&self, end: FixError) -> Infallible {
        self.end
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(end);
        self.notify.notify_one();
        std::future::pending().await
    }

    /// Waits until somebody has ended the repair.
    pub(crate) async fn ended(&self) -> FixError {
        loop {
            if let Some(end) = self
                .end
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
            {
                return end;
            }
            self.notify.notified().await;
        }
    }

    /// The two tools that a model-driven repair agent has while it repairs, and at no other time.
    pub(crate) fn tools(self: &Arc<Self>) -> [SharedTool; 2] {
        let (escalate, throw) = (self.clone(), self.clone());
        let reason = json!({ "type": "string", "description": "Why." });
        let severity = json!({
            "type": "string",
            "description": "How bad it is; HIGH if nothing is said.",
            "enum": Severity::ALL,
        });
        let schema = |properties: Value| json!({ "type": "object", "properties": properties, "required": ["reason"] });
        [
            Arc::new(
                FnTool::new(
                    "escalate",
                    "Give up, and hand the failure to somebody who can judge it.",
                    Effects::None,
                    schema(json!({ "reason": reason, "severity": severity })),
                    move |args, _| {
                        let scope = escalate.clone();
                        async move {
                            let end = FixError::Escalated {
                                reason: reason_of(&args),
                                severity: Severity::deserialize(&args["severity"])
                                    .unwrap_or_default(),
                            };
                            Err::<(), _>(scope.finish(end).await)
                        }
                    },
                )
                .part_of_the_run(),
            ),
            Arc::new(
                FnTool::new(
                    "throw_exception",
                    "End everything, because going on would do harm.",
                    Effects::None,
                    schema(json!({ "reason": reason })),
                    move |args, _| {
                        let scope = throw.clone();
                        async move {
                            Err::<(), _>(scope.finish(FixError::Thrown(reason_of(&args))).await)
                        }
                    },
                )
                .part_of_the_run(),
            ),
        ]
    }
}

fn reason_of(args: &Value) -> String {
    args["reason"]
        .as_str()
        .filter(|text| !text.is_empty())
        .unwrap_or("no reason given")
        .to_owned()
}

impl From<Error> for FixError {
    /// What a repair agent returned as `Err`: an escalation and a throw are meant, the rest happened.
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Escalated => FixError::Escalated {
                reason: error.message().to_owned(),
                severity: error.severity().unwrap_or_default(),
            },
            ErrorKind::Thrown => FixError::Thrown(error.message().to_owned()),
            _ => FixError::Failed(error.to_string()),
        }
    }
}

/// A bound that was passed: whose, which, and where in the tree.
#[derive(Clone, Debug)]
pub(crate) struct Passed {
    pub(crate) agent: Arc<str>,
    pub(crate) limit: Limit,
    pub(crate) level: u32,
}

impl Passed {
    pub(crate) fn stop(self) -> Stop {
        Stop::Budget {
            agent: self.agent,
            limit: self.limit,
        }
    }
}
