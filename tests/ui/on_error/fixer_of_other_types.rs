use agents::prelude::*;

/// Takes a number.
#[agent]
fn of_a_number(n: u32) -> String {
    n.to_string()
}

/// Gives a list.
#[agent]
fn gives_a_list(broken: String) -> Vec<String> {
    vec![broken]
}

struct NoAgent;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        invalid_args(_, _) => fix(agent = OfANumber, retries = 2),
        deserialization_error(_, _) => fix(agent = GivesAList),
        execution_error(_) => fix_with(NoAgent),
    }
}

fn main() {}
