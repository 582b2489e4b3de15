use super::{messages, tokens};
use crate::{expression_branch, expression_structure};
use expect_test::{ExpectFile, expect_file};
use proc_macro2::TokenStream;
use quote::quote;

/// Compares a generated expression, formatted, with a file in `snapshots/`.
fn check(expansion: TokenStream, snapshot: ExpectFile) {
    super::check(quote!(fn main() { let made = #expansion; }), snapshot);
}

#[test]
fn a_team() {
    let expansion = expression_structure(tokens(
        "Project::new(db)
            .budget(tokens(500_000).time(minutes(30)))
            .delegates(
                SpecMaster.grants([CreateSpec, tools::SearchSpec]).delegates(UmlDrawer.grants([])),
                CodeMaster
                    .grants([WriteFile, Compile, \"mcp_*\"])
                    .confirm([Deploy, \"mcp_delete\"])
                    .delegates(Coder { root }.grants([WriteFile]).background(), tester.background_until_answer()),
            )",
    ));
    check(expansion, expect_file!["snapshots/team.rs"]);
}

#[test]
fn a_branch() {
    let expansion = expression_branch(tokens(
        "Review, match verdict {
            Passed(p) => Deployer.run(p),
            Failed(f) if f > 9 => { let f = f.to_string(); reporter.run(f) }
            Failed(f) => if f > 3 { reporter.run(f) } else { Mail::new(url).run(f.into()) },
            Lost => unreachable!(),
        }",
    ));
    check(expansion, expect_file!["snapshots/branch.rs"]);
}

#[test]
fn builders_of_agents_may_have_a_budget() {
    let expansion = expression_structure(tokens("AgentBuilder::new(\"a\").budget(b).build()"));
    assert_eq!(
        expansion.to_string(),
        quote!(::agents::__rt::Member::new(AgentBuilder::new("a").budget(b).build()).build())
            .to_string()
    );
}

#[test]
fn mistakes_leave_a_team() {
    let expansion = expression_structure(tokens("A.grant([X]).delegates(B.grants(X).confirm([]))"));
    assert_eq!(messages(&expansion).len(), 3, "{expansion}");
    let team = quote!(
        ::agents::__rt::Member::new(A)
            .grant::<X>()
            .and_below(::agents::__rt::Member::below(B))
            .build()
    );
    assert!(
        expansion.to_string().contains(&team.to_string()),
        "{expansion}"
    );
}
