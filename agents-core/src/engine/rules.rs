//! Rules of one call, which the actions of the call share.

use crate::{
    context::RunContext,
    definition::{AgentDefinition, Arms},
    error::ReadError,
    evidence::{KnownValues, Reading},
    run::Timestamp,
    tool::{Prepared, SharedTool, ToolContext},
};
use std::time::Duration;

/// Everything that decides how a call is admitted, read and repaired: its tool, the agent's arms, and the author of its
/// arguments.
pub(crate) struct Rules<'a> {
    pub(super) definition: &'a AgentDefinition<'a>,
    pub(super) tool: &'a SharedTool,
    pub(super) context: &'a ToolContext,
    pub(super) strict: bool,
    pub(super) max_bytes: usize,
    pub(super) author: Author,
}

/// Author of the arguments that are read, which decides who vouches for their known values.
#[derive(Clone, Copy)]
pub(super) enum Author {
    /// The model, or whoever repaired its arguments: known values are looked for in the evidence of the run.
    Model,
    /// The person who approved the call and changed its arguments: known values are taken as given by that person.
    Approver,
    /// The run, which has accepted these arguments before: their known values are not looked for again.
    Stored,
}

impl<'a> Rules<'a> {
    pub(super) fn new(
        definition: &'a AgentDefinition<'a>,
        tool: &'a SharedTool,
        context: &'a ToolContext,
    ) -> Self {
        let settings = &context.cx.root.settings;
        let strict = definition.strict || settings.strict || tool.spec().strict;
        Rules {
            definition,
            tool,
            context,
            strict,
            max_bytes: settings.max_argument_bytes,
            author: Author::Model,
        }
    }

    /// Returns the rules for arguments that the approver gave: they are read strictly, whatever the tool declares.
    pub(super) fn of_the_approver(&self) -> Rules<'a> {
        Rules {
            strict: true,
            author: Author::Approver,
            ..*self
        }
    }

    /// Returns the rules for arguments that the run has accepted before: known values are not looked for again.
    pub(super) fn of_the_run(&self) -> Rules<'a> {
        Rules {
            author: Author::Stored,
            ..*self
        }
    }

    /// Reads arguments into the tool's type. Returns them with the known values among them: who gave each, such as the
    /// user or an earlier call, and which of them are spelled in another way there.
    pub(super) fn prepare(&self, arguments: &str) -> Result<(Prepared, KnownValues), ReadError> {
        let reading = match self.author {
            Author::Model => self.cx().root.reading(),
            Author::Approver => Reading::of_approver(),
            Author::Stored => Reading::of_the_run(),
        };
        let (prepared, known) = reading.read(|| self.tool.prepare(arguments));
        Ok((prepared?, known))
    }

    /// Returns the error of a key that the tool's schema does not know, if the tool writes and such a key makes the
    /// model's arguments uncertain.
    pub(super) fn unknown_key(&self, arguments: &str) -> Option<ReadError> {
        let spec = self.tool.spec();
        let is_judged =
            !self.strict && matches!(self.author, Author::Model) && spec.doubts_unknown_keys();
        let schema = is_judged.then(|| spec.expected().compiled)?;
        schema.unknown_key(arguments)
    }

    pub(super) fn tool(&self) -> &SharedTool {
        self.tool
    }

    pub(super) fn arms(&self) -> &Arms<'a> {
        &self.definition.arms
    }

    /// Returns the time at which a wait is over, by the run's clock, in milliseconds since 1970; 0 if there is no wait.
    ///
    /// The time is rounded up: after a wait that is too short, a service would be called before the time that it has
    /// asked for.
    pub(crate) fn after(&self, wait: Duration) -> u64 {
        if wait.is_zero() {
            return 0;
        }
        let wait = u64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        // A part of the millisecond that the clock shows has passed already.
        let now = self.cx().now().as_millis().saturating_add(1);
        now.saturating_add(wait)
    }

    /// Returns the time that is left until `millis`, a time by the run's clock in milliseconds since 1970; zero if that
    /// time has passed.
    pub(crate) fn until(&self, millis: u64) -> Duration {
        Timestamp::from_millis(millis).since(self.cx().now())
    }

    pub(super) fn cx(&self) -> &RunContext {
        &self.context.cx
    }

    /// Returns a pseudo-random number from 0 to 1 for the length of a wait. A resumed run gets the same number again.
    pub(crate) fn chance(&self) -> f64 {
        let cx = self.cx();
        let mut digest = hmac_sha256::Hash::new();
        digest.update(cx.run_id());
        digest.update(cx.step_place());
        digest.update(cx.round().to_le_bytes());
        let [a, b, c, d, ..] = digest.finalize();
        f64::from(u32::from_le_bytes([a, b, c, d])) / f64::from(u32::MAX)
    }
}
