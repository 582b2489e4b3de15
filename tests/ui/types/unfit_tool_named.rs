//! A tool whose types are refused is one error, at the type: not another one in each list.
use agents::{prelude::*, tool};

struct Place;

/// Brews.
#[tool(none)]
async fn brew(
    /// Where.
    at: Place,
) -> Place {
    at
}

tool! {
    /// Serves.
    #[tool(writes)]
    async fn serve(
        /// Where.
        at: Place,
        #[inject] house: String,
    ) -> Result<String, String> {
        let Place = at;
        Err(house)
    }

    on_error {
        execution_error(_) => escalate("it is closed"),
    }
}

/// You make tea.
#[agent(tools = [Brew, Serve { house: "red".to_owned() }])]
async fn butler(wish: String) -> String;

struct House;

#[agent(prompt = "You keep the house.", tools = [Brew])]
impl House {
    /// Keeps it.
    #[skill(tools = [Brew])]
    async fn keep(&self, wish: String) -> String;

    on_error!(Brew, match error {
        execution_error(_) => throw("no tea"),
    });
}

fn main() {}
