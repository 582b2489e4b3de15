//! Blanket implementation: every agent whose input can be made from a [`Repair`], and whose output is a `String`, is a
//! repair agent.

use super::Agent;
use crate::{
    Error,
    context::RunContext,
    recovery::{Fixer, Repair},
};
use async_trait::async_trait;

#[async_trait]
#[diagnostic::do_not_recommend]
impl<A> Fixer for A
where
    A: Agent<Out = String> + 'static,
    A::In: From<Repair>,
{
    fn fixer_name(&self) -> &str {
        self.name()
    }

    async fn repair(&self, cx: &RunContext, repair: Repair) -> Result<String, Error> {
        let input = self.profile().repair_input.of(repair);
        self.run_in(cx, input).await
    }
}
