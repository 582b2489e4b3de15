//! Compiler messages about mistakes, with a file for each mistake, named after it.
//!
//! `TRYBUILD=overwrite cargo test --test ui` accepts the current messages. `cargo test --test ui -- ui
//! trybuild=borrowed` runs the cases whose path contains `borrowed`.

use agents_needs::Need;

#[test]
fn ui() {
    let is_blessed = rustversion::cfg!(stable(1.95));
    if !is_blessed {
        return Need::Toolchain.missing("the messages are those of 1.95");
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/tool/*.rs");
    cases.compile_fail("tests/ui/agent/*.rs");
    cases.compile_fail("tests/ui/branch/*.rs");
    cases.compile_fail("tests/ui/compose/*.rs");
    cases.compile_fail("tests/ui/in_doubt/*.rs");
    cases.compile_fail("tests/ui/on_error/*.rs");
    cases.compile_fail("tests/ui/on_escalation/*.rs");
    cases.compile_fail("tests/ui/team/*.rs");
    cases.compile_fail("tests/ui/types/*.rs");
    cases.compile_fail("tests/ui/undo/*.rs");
}

/// Mistakes in agents and their organisation that are found before a run, with the cases that show them.
const MISTAKES: [(&str, &[&str]); 16] = [
    (
        "an agent has one place",
        &[
            "compose/placed_twice",
            "team/value_placed_twice",
            "team/agent_placed_twice",
            "branch/value_moved_in",
        ],
    ),
    (
        "what one gives is what the next takes",
        &[
            "compose/does_not_follow",
            "compose/tuple_inputs_differ",
            "branch/given_something_else",
            "types/agents_do_not_fit",
        ],
    ),
    (
        "a skill gives what its agent gives, is described, and does something",
        &[
            "agent/skills_differ",
            "agent/no_skill",
            "agent/skill_mistakes",
            "agent/undescribed",
        ],
    ),
    (
        "arms are those of a tool that is there, and each kind has one",
        &[
            "on_error/standing_alone",
            "on_error/of_an_agent",
            "on_error/arm_never_reached",
        ],
    ),
    (
        "what became of an execution is said once, of a tool that is asked",
        &[
            "in_doubt/never_asked",
            "in_doubt/said_twice",
            "in_doubt/standing_alone",
        ],
    ),
    (
        "how a call is undone is said once, of a tool that writes, from an output that can be read back",
        &[
            "undo/nothing_to_undo",
            "undo/said_twice",
            "undo/wrong_types",
        ],
    ),
    (
        "a repair agent takes a `Repair` and gives text",
        &["on_error/not_a_fixer", "on_error/fixer_of_the_arm"],
    ),
    (
        "escalations are resolved within an agent, by what resolves them",
        &[
            "on_escalation/outside",
            "on_escalation/not_a_resolution",
            "on_escalation/without_resolution",
        ],
    ),
    (
        "a model or a body",
        &[
            "agent/bodiless",
            "agent/model_for_a_body",
            "agent/no_prompt",
        ],
    ),
    (
        "a verb has a meaning for the kind of failure",
        &["on_error/verb_without_meaning", "on_error/retry_of_a_write"],
    ),
    (
        "what is said after the end is said in vain",
        &["on_error/steps_after_the_end", "on_error/steps_never_taken"],
    ),
    (
        "nothing is forgotten",
        &[
            "branch/answer_forgotten",
            "compose/routed_misses_a_variant",
            "on_escalation/severity_left_out",
            "types/taxonomy_not_exhaustive",
        ],
    ),
    (
        "grants, confirmations and budgets lie within those above",
        &[
            "team/beyond_the_parent",
            "team/granted_and_confirmed",
            "team/without_confirmation",
            "team/budget_above_the_parent",
        ],
    ),
    (
        "whoever takes over does the same work",
        &[
            "on_escalation/delegate_of_other_types",
            "on_escalation/partial_of_another_type",
        ],
    ),
    (
        "nobody and nothing is left out",
        &[
            "team/left_out",
            "types/knowledge_no_text",
            "agent/knowledge_mistakes",
        ],
    ),
    (
        "many mistakes are reported at once",
        &["team/all_mistakes_at_once", "tool/three_mistakes_at_once"],
    ),
];

#[test]
fn each_mistake_has_its_cases() {
    let ui = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    for (mistake, cases) in MISTAKES {
        for case in cases {
            let says = ui.join(format!("{case}.stderr"));
            assert!(says.exists(), "{mistake}: there is no {case}");
        }
    }
}
