#![deny(warnings, unused_qualifications)]
//! Plain Rust means within the macros what it means elsewhere.

use agents::{prelude::*, tool};

/// Reads.
#[tool(reads)]
async fn read_file(
    /// Place of it.
    path: String,
    /// Lines that are meant.
    #[serde(default = "Vec::new")]
    lines: Vec<u32>,
    /// Purpose of it.
    #[serde(rename = "for", default = "Default::default")]
    r#for: String,
    /// Number of them.
    #[serde(default = "default_of_many")]
    many: u32,
) -> Result<String, String> {
    Err(format!("{path} {lines:?} {for_} {many}", for_ = r#for))
}

fn default_of_many() -> u32 {
    3
}

on_error!(
    ReadFile,
    match error {
        invalid_args(raw, _) => return throw(raw.to_string()),
        deserialization_error(_, error) => {
            if error.field("path") {
                return sanitize("a.txt");
            }
            return feedback("send a path");
        }
        execution_error(Returned(e)) if e.is_empty() => {
            retry(max_attempts = 2)
        }
        execution_error(Returned(e)) => match e.len() {
            3 => return retry(max_attempts = 3),
            _ => unreachable!(),
        },
        execution_error(TimedOut(_)) => {
            todo!()
        }
        execution_error(_) => {
            { feedback("later") }
        }
    }
);

/// Answers.
pub struct Clerk;

#[agent(prompt = "You answer.", tools = [ReadFile])]
impl Clerk {
    /// Answers.
    #[skill]
    pub async fn answer(&self, request: String) -> String;

    on_escalation!(match escalation.severity {
        Low => {
            inherit()
        }
        Medium => {
            if escalation.reason.is_empty() {
                return throw("no reason");
            }
            return inherit();
        }
        _ => todo!(),
    });
}

/// Tools and agents that other macros write.
macro_rules! written {
    ($tool:ident $agent:ident $named:path, $injected:ty, $body:block) => {
        /// Counts.
        #[tool(reads)]
        async fn $tool(#[inject] _from: $injected) -> usize $body

        /// Counts.
        #[agent]
        fn $agent(_request: String) -> usize $body

        on_error!($named, match error { execution_error(_) => retry(max_attempts = 2) });

        fn granted() -> impl Agent<In = String, Out = String> {
            team!(Clerk, [ReadFile])
        }
    };
}

macro_rules! team {
    ($root:expr, [$($tool:expr),*]) => {
        structure!($root.grants([$($tool),*]))
    };
}

written!(count counter Count, &u8, { 3 });

pub mod renamed {
    pub use agents;

    pub mod under {
        pub use agents as another;
    }
}

/// Writes.
#[tool(writes, idempotent, crate = crate::as_in_rust::renamed::agents)]
async fn write_file() -> Result<String, String> {
    Err("no".to_owned())
}

on_error!(
    crate = crate::as_in_rust::renamed::under::another,
    WriteFile,
    match error {
        execution_error(Panicked(_)) => retry(max_attempts = 2),
        execution_error(why)
            if let Failure::Returned(why) = why
                && why.starts_with("no") =>
            feedback(match why.len() {
                2 => "no more",
                _ => "not now",
            }),
        execution_error(why) => match why {
            Failure::Returned(why) => throw(why.source()),
            Failure::TimedOut(_) | Failure::Panicked(_) => feedback(why.to_string()),
        },
    }
);

trait Source {
    fn source(&self) -> String;
}

impl Source for String {
    fn source(&self) -> String {
        self.clone()
    }
}

pub(super) fn main() {
    let _ = (granted(), Count { _from: 3 }, ReadFile, WriteFile);
    let _ = structure!(crate = renamed::agents, Clerk.delegates(Counter));
    let _ = branch!(
        crate = renamed::under::another,
        Clerk,
        match answer {
            answer => Counter.run(answer),
        }
    );
}
