use super::{check, tokens};
use crate::attribute_agent;
use expect_test::expect_file;

#[test]
fn a_function_with_a_body() {
    let item = tokens(
        "/// Repairs JSON by string surgery.\nfn regex_fixer(broken: String) -> String { broken }",
    );
    check(
        attribute_agent(tokens(""), &item),
        expect_file!["snapshots/regex_fixer.rs"],
    );
}

#[test]
fn a_function_that_can_fail() {
    let item =
        tokens("/// Fetches.\npub async fn fetch() -> anyhow::Result<Page> { page().await }");
    check(
        attribute_agent(tokens("description = \"Gets pages.\""), &item),
        expect_file!["snapshots/fetch.rs"],
    );
}

#[test]
fn a_function_without_a_body() {
    let arguments = tokens(
        "model = ollama(\"qwen2.5:7b\").temperature(0.0), tools = [ReadFile, ..more()], budget(max_turns = 1), strict",
    );
    let item = tokens(
        "/// You are a JSON repair tool.\n/// Return ONLY the fixed JSON.\nasync fn json_fixer(request: Repair) -> String;",
    );
    check(
        attribute_agent(arguments, &item),
        expect_file!["snapshots/json_fixer.rs"],
    );
}

#[test]
fn an_impl_with_skills() {
    let arguments =
        tokens("prompt = self.prompt(), tools = [WriteFile { root: self.root.clone() }]");
    let item = tokens(
        "/// Manages files.
        impl FileManager {
            const LIMIT: usize = 3;

            /// File management operations.
            #[skill]
            async fn manage_files(&self, request: String) -> Summary;

            /// Answers without a model.
            #[skill(when = |r: &String| r.contains(\"where\"))]
            fn root(&self, _request: String) -> io::Result<Summary> { todo() }

            fn prompt(&self) -> String { body }
        }",
    );
    check(
        attribute_agent(arguments, &item),
        expect_file!["snapshots/file_manager.rs"],
    );
}

#[test]
fn skills_with_lists_and_knowledge() {
    let arguments = tokens(
        "prompt = \"You are a clerk.\", tools = [ReadFile, Add, ..github()], memory = self.bank.clone()",
    );
    let item = tokens(
        "impl Clerk {
            /// Reads the notes.
            #[skill(tools = [ReadFile, \"github_get_*\"], memory)]
            async fn read_notes(&self, request: String) -> String;

            /// Chats.
            #[skill(when = |r: &String| r.len() < 9, tools = [])]
            async fn small_talk(&self, request: String) -> String;

            /// House style.
            #[knowledge]
            fn style_guide(&self) -> &'static str { STYLE }
        }",
    );
    check(
        attribute_agent(arguments, &item),
        expect_file!["snapshots/clerk.rs"],
    );
}

#[test]
fn policies_and_arms_by_name() {
    let arguments = tokens(
        "prompt = \"You sort issues.\", tools = [..self.github()], policies = [(\"github_*\", ToolPolicy::new().confirm())]",
    );
    let item = tokens(
        "impl Triage {
            /// Sorts issues.
            #[skill]
            async fn sort(&self, request: String) -> String;

            on_error!(\"github_*\", match error { execution_error(_) => feedback(\"try later\") });
        }",
    );
    check(
        attribute_agent(arguments, &item),
        expect_file!["snapshots/triage.rs"],
    );
}
