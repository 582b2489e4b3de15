use super::{check, messages, tokens};
use crate::{attribute_tool, block_in_doubt, block_tool, block_undo};
use expect_test::expect_file;

#[test]
fn a_tool() {
    let expansion = attribute_tool(
        tokens("reads, timeout = Duration::from_secs(2)"),
        &tokens(
            "/// Read a file's contents.
            pub async fn read_file(
                /// Path, relative to the workspace.
                path: PathBuf,
                /// Number of lines at most.
                #[serde(default)] lines: Option<u32>,
            ) -> io::Result<String> { body(path, lines).await }",
        ),
    );
    check(expansion, expect_file!["snapshots/read_file.rs"]);
}

#[test]
fn a_tool_with_everything() {
    let expansion = block_tool(tokens(
        "/// Search the shop.
        #[tool(reads, external, approval = when(|args, cx| args.words.len() > 3), cache = ttl(minute()), crate = crate::renamed)]
        #[example(words = [\"a\"])]
        #[cfg(feature = \"shop\")]
        pub(crate) async fn search(
            cx: &ToolContext,
            /** Search terms. */ words: Vec<String>,
            #[inject] pool: PgPool,
            /// The root.
            #[inject] root: &PathBuf,
        ) -> usize { 0 }",
    ));
    check(expansion, expect_file!["snapshots/search.rs"]);
}

#[test]
fn a_tool_that_takes_and_gives_nothing() {
    let expansion = attribute_tool(
        tokens("none"),
        &tokens("/// Does nothing.\nasync fn nothing() {}"),
    );
    check(expansion, expect_file!["snapshots/nothing.rs"]);
}

#[test]
fn a_tool_that_says_what_became_of_an_execution() {
    let expansion = block_tool(tokens(
        "/// Pays.
        #[tool(writes)]
        async fn pay(
            /// Amount in cents.
            amount: u32,
            #[inject] bank: Bank,
            #[inject] log: &Log,
            context: &ToolContext,
        ) -> Result<Receipt, BankError> { body }
        in_doubt(key) => {
            let Some(receipt) = bank.find(key).await? else { return not_done() };
            done(receipt)
        },",
    ));
    check(expansion, expect_file!["snapshots/pay.rs"]);
    let alone = block_in_doubt(tokens(
        "Pay, |key| match self.bank.find(key, args.amount).await? {
            Some(receipt) => done(receipt),
            None => not_done(),
        }",
    ));
    check(alone, expect_file!["snapshots/in_doubt.rs"]);
}

#[test]
fn a_tool_that_undoes_its_calls() {
    let expansion = block_tool(tokens(
        "/// Moves a lead to another status.
        #[tool(writes, risk = high, effect_description = \"move {lead_id} to {new_status:?}\")]
        async fn set_status(
            /// Which lead.
            #[serde(rename = \"leadId\")] lead_id: u64,
            /// Its new status.
            new_status: Status,
            #[inject] crm: Crm,
        ) -> Result<Change, CrmError> { body }
        undo(Change { previous, .. }) => {
            if previous == new_status { return Ok(undone()); }
            crm.restore(lead_id, previous).await
        },",
    ));
    check(expansion, expect_file!["snapshots/set_status.rs"]);
    let alone = block_undo(tokens(
        "SetStatus, |change| async move { self.crm.restore(args.lead_id, change.previous).await }",
    ));
    check(alone, expect_file!["snapshots/undo.rs"]);
}

#[test]
fn a_tool_whose_calls_cannot_be_undone() {
    let expansion = attribute_tool(
        tokens("writes, external, irreversible = \"an email cannot be unsent\""),
        &tokens("/// Sends an email.\nasync fn send_email() {}"),
    );
    check(expansion, expect_file!["snapshots/send_email.rs"]);
}

#[test]
fn half_typed_undo_keeps_the_tool() {
    for (half, mistakes) in [
        ("undo(change) => crm.x", 0),
        ("undo(change) => crm.", 1),
        ("undo(change) => ", 1),
        ("undo(change)", 1),
        ("undo(", 1),
        ("undo", 1),
        ("und", 1),
    ] {
        let closing = if half.ends_with('(') { ")" } else { "" };
        let expansion = block_tool(tokens(&format!(
            "/// Pays.
            #[tool(writes)] async fn pay() -> io::Result<String> {{ body }}
            {half}{closing}
            on_error {{ invalid_args(raw, _) => fix(raw) }}",
        )));
        assert_eq!(messages(&expansion).len(), mistakes, "{half}: {expansion}");
        let text = expansion.to_string();
        for kept in ["{ body }", "struct Pay ;", "impl __rt :: Tool for Pay"] {
            assert!(text.contains(kept), "{half}: no `{kept}` in {text}");
        }
    }
}

#[test]
fn half_typed_doubt_keeps_the_tool() {
    for (half, mistakes) in [
        ("in_doubt(key) => bank.x", 0),
        ("in_doubt(key) => bank.", 1),
        ("in_doubt(key) => ", 1),
        ("in_doubt(key)", 1),
        ("in_doubt(", 1),
        ("in_doubt", 1),
        ("in_d", 1),
    ] {
        let closing = if half.ends_with('(') { ")" } else { "" };
        let expansion = block_tool(tokens(&format!(
            "/// Pays.
            #[tool(writes)] async fn pay() -> io::Result<String> {{ body }}
            {half}{closing}
            on_error {{ invalid_args(raw, _) => fix(raw) }}",
        )));
        assert_eq!(messages(&expansion).len(), mistakes, "{half}: {expansion}");
        let text = expansion.to_string();
        for kept in ["{ body }", "struct Pay ;", "impl __rt :: Tool for Pay"] {
            assert!(text.contains(kept), "{half}: no `{kept}` in {text}");
        }
    }
}

#[test]
fn a_mistake_keeps_the_item() {
    let expansion = attribute_tool(
        tokens("reads, timeuot = x"),
        &tokens("async fn read_file(path: &str) { half. }"),
    );
    assert_eq!(messages(&expansion).len(), 4, "{expansion}");
    let text = expansion.to_string();
    assert!(
        text.contains("async fn read_file (path : & str) { half . }"),
        "{text}"
    );
    assert!(text.contains("struct ReadFile ;"), "{text}");
}

#[test]
fn a_half_typed_item_keeps_what_can_be_read() {
    let expansion = block_tool(tokens(
        "/// Reads.\n#[tool(reads, )] async fn read_file(/** Path. */ path: ) { pa }",
    ));
    assert_eq!(messages(&expansion).len(), 1, "{expansion}");
    assert!(
        expansion
            .to_string()
            .contains("async fn read_file () { pa }")
    );
}

#[test]
fn half_typed_arms_keep_the_others() {
    for (half, mistakes) in [
        // An editor puts a name where its user types, so these are what it asks about.
        ("execution_error(Returned(e)) => throw(e.x)", 0),
        ("execution_error(Returned(e)) => retry(x)", 1),
        ("execution_error(Returned(e)) => retry(max_attempts = x)", 0),
        ("execution_error(Retx)", 1),
        ("execution_error(Returned(e)) => x", 0),
        ("exec", 1),
        // And these, when it has none to put.
        ("execution_error(Returned(e)) => throw(e.)", 1),
        ("execution_error(Returned(e)) => retry(max_attempts = )", 1),
        ("execution_error(Returned(e)) => ", 1),
        ("execution_error(Returned(e)) if ", 1),
        ("execution_error(", 1),
    ] {
        let closing = if half.ends_with('(') { ")" } else { "" };
        let expansion = block_tool(tokens(&format!(
            "/// Reads.
            #[tool(reads)] async fn read_file() -> io::Result<String> {{ body }}
            on_error {{ invalid_args(raw, _) => fix(raw), {half}{closing} }}",
        )));
        assert_eq!(messages(&expansion).len(), mistakes, "{half}: {expansion}");
        let text = expansion.to_string();
        for kept in [
            "{ body }",
            "struct ReadFile ;",
            "impl __rt :: Tool for ReadFile",
            "into_plan (fix (raw))",
        ] {
            assert!(text.contains(kept), "{half}: no `{kept}` in {text}");
        }
    }
}

#[test]
fn an_attribute_on_something_else_leaves_it() {
    let expansion = attribute_tool(tokens("reads"), &tokens("struct ReadFile;"));
    assert!(expansion.to_string().ends_with("struct ReadFile ;"));
}

#[test]
fn docs_that_are_included() {
    let expansion = attribute_tool(
        tokens("none"),
        &tokens("/// Look:\n#[doc = include_str!(\"x.md\")]\nasync fn look() {}"),
    );
    let text = expansion.to_string();
    assert!(
        text.contains("concat ! (\"Look:\" , \"\\n\" , include_str ! (\"x.md\"))"),
        "{text}"
    );
}

#[test]
fn bullets_stay_and_margins_go() {
    for (docs, text) in [
        (
            "/// Rules:\n/// * never lie\n///   * ever\n",
            r"Rules:\n* never lie\n  * ever",
        ),
        ("/// * never lie\n", "* never lie"),
        (
            "/** Rules:\n     * never lie\n     *\n     * - ever\n     */\n",
            r"Rules:\nnever lie\n\n- ever",
        ),
        ("/** Rules:\n * never lie */\n", r"Rules:\nnever lie"),
        ("#[doc = \"Rules:\n* never lie\"]", r"Rules:\n* never lie"),
    ] {
        let item = format!("{docs} async fn look() {{}}");
        let expansion = attribute_tool(tokens("none"), &tokens(&item)).to_string();
        assert!(
            expansion.contains(&format!("\"look\" , \"{text}\"")),
            "{expansion}"
        );
    }
}
