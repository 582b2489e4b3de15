use agents::{
    prelude::*,
    tool::{SharedTool, ToolSpec},
};
use std::convert::Infallible;

struct ByHand;

impl Tool for ByHand {
    type Args = ();
    type Ok = ();
    type Err = Infallible;
    fn spec(&self) -> &ToolSpec {
        unreachable!()
    }
    async fn call(&self, _: (), _: &ToolContext) -> Result<(), Infallible> {
        Ok(())
    }
}

struct Writer;

#[agent(prompt = "You write.", tools = [..tools()])]
impl Writer {
    /// Writes.
    #[skill(tools = [ByHand])]
    async fn write(&self, request: String) -> String;
}

fn tools() -> Vec<SharedTool> {
    Vec::new()
}

fn main() {}
