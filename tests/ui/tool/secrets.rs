/// Asks the CRM.
#[agents::tool(reads, secrets = "crm")]
async fn ask_one(
    /// Question.
    question: String,
) -> Result<String, std::io::Error> {
    Ok(question)
}

/// Asks the CRM.
#[agents::tool(reads, secrets = [crm, "smtp", 7, ..more, " "])]
async fn ask_many(
    /// Question.
    question: String,
) -> Result<String, std::io::Error> {
    Ok(question)
}

fn main() {}
