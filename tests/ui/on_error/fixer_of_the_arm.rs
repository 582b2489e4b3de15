use agents::prelude::*;

/// Repairs.
#[agent]
fn json_fixer(broken: String) -> String {
    broken
}

struct Smart {
    hint: String,
}

#[agent]
impl Smart {
    /// Repairs, knowing more.
    #[skill]
    fn repair(&self, broken: String) -> String {
        format!("{broken}{}", self.hint)
    }
}

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file(#[inject] smart: std::sync::Arc<Smart>) -> std::io::Result<String> {
        Ok(smart.hint.clone())
    }

    on_error {
        // Fields are there outside of the arms, too.
        invalid_args(raw, _) if raw.is_empty() => fix(agent = smart.clone()),
        invalid_args(raw, _) => {
            let mine = Smart { hint: raw.to_string() };
            fix(agent = mine)
        }
        deserialization_error(_, _) => fix(agent = json_fixer, retries = 2),
        execution_error(Returned(e)) => fix(agent = Smart { hint: e.to_string() }),
        execution_error(_) => fix(agent = Smart { hint: format!("{}", cx.attempt()) }),
    }
}

fn main() {}
