//! Behaviour of failing calls; each test is named by a sentence.
//!
//! The table lists 56 behaviours of another framework's tests. For each, it names our tests and explains any
//! difference.
//!
//! | | behaviour | tests | what is different |
//! |-|-|-|-|
//! | 1 | A call that fails once and may be retried runs twice, and the loop goes on. | `retrying::a_call_that_fails_once_runs_twice_and_the_loop_goes_on` |  |
//! | 2 | Retries that are spent are told, with the tool. | `retrying::spent_retries_leave_the_last_failure_and_the_attempts_in_the_receipt` | `max_attempts` counts all executions, not those after the first; the last failure is told, the others are in the receipt, and the run lives. |
//! | 3 | Without arms a failure stays as it is. | `retrying::without_arms_the_failure_reaches_the_model_unchanged` |  |
//! | 4 | Arms for other kinds leave it as it is, too. | `retrying::arms_without_one_for_the_kind_change_nothing` |  |
//! | 5 | An arm that gives nothing. | `retrying::an_arm_that_gives_nothing_leaves_the_failure_to_the_model` | It is no decision in every kind alike, and never ends the run. |
//! | 6 | A kind without an arm has no decision. | `retrying::arms_say_nothing_about_kinds_they_do_not_have` |  |
//! | 7 | How often arms are asked. | `retrying::the_arm_is_asked_about_each_new_failure` | On each new failure, not once: another failure may be treated otherwise. |
//! | 8 | Who watches tool calls is told once of each, with what came of it in the end. | `retrying::the_end_of_a_call_is_told_once_with_what_it_was_saved_to` |  |
//! | 9 | Several calls of one reply recover by themselves, and are answered in order. | `retrying::the_calls_of_one_reply_recover_by_themselves_and_are_answered_in_order` |  |
//! | 10 | Whose arms come first. | `retrying::the_agent_s_arm_for_the_tool_beats_the_tool_s_own_which_beats_the_default` |  |
//! | 11 | Defaults are for tools without arms of that kind. | `retrying::x10_defaults_cover_tools_without_arms_and_without_defaults_there_are_none`, `retrying::x10_a_tool_with_one_arm_keeps_the_default_arms_of_the_other_kinds` |  |
//! | 12 | What a repair agent gives takes the place of what failed. | `repairing::what_a_repair_agent_gives_is_read_in_place_of_what_failed` |  |
//! | 13 | A repair agent that fails twice is asked a third time, if it may be. | `repairing::a_repair_agent_that_fails_twice_is_asked_three_times`, `repairing::text_that_does_not_read_uses_up_a_try` |  |
//! | 14 | All tries failed. | `repairing::spent_tries_fall_through_to_the_next_step` | That is no failure of its own: the next step of the plan follows, then the model is told. |
//! | 15 | A repair agent that escalates ends the repair, with its reason and severity. | `repairing::an_escalating_repair_agent_ends_the_repair_with_its_reason_and_severity`, `repairing::an_escalation_counts_the_tries_before_it` |  |
//! | 16 | A repair agent that throws ends the run at once; further tries are not used. | `repairing::a_throwing_repair_agent_ends_the_run_at_once` |  |
//! | 17 | After that nobody is told of a result, and no model is asked. | `repairing::a_throwing_repair_agent_ends_the_run_at_once` |  |
//! | 18 | Repairing a failed execution. | `repairing::a_repair_of_a_failed_execution_gives_arguments_and_the_tool_runs_again` | A repair never makes a result up: it gives arguments, and the tool runs with them. |
//! | 19 | The model is told of an escalation, and a corrected call succeeds. | `repairing::the_model_is_told_of_an_escalation_and_may_call_again` |  |
//! | 20 | A repair agent without a model may escalate and throw as well. | `repairing::x7_a_repair_agent_without_a_model_may_mend_escalate_and_throw` |  |
//! | 21 | Severities are read in any case; none is high. | `repairing::a_severity_is_read_in_any_case_and_high_when_it_is_none`, `repairing::an_unknown_severity_is_refused_with_the_list` | An unknown one is refused with those there are, and an escalation without a reason is refused. |
//! | 22 | When a model can escalate and throw. | `repairing::escalate_and_throw_exist_only_within_a_repair` | Within a repair, without being asked for, and nowhere else. |
//! | 23 | A number for a string is read. | `arguments::a_number_for_a_string_and_a_string_for_a_number_are_read` |  |
//! | 24 | A word for a number is mended without a turn of the model. | `arguments::a_word_for_a_number_is_mended_without_another_turn` | It is a `deserialization_error`: an object was read, and one field is wrong. |
//! | 25 | Without arms the message names tool and field. | `arguments::a_wrong_type_without_arms_names_the_tool_and_the_field` |  |
//! | 26 | What is mended is validated again, with the new error. | `arguments::x9_mended_arguments_are_validated_again_with_the_new_error`, `arguments::x9_mended_arguments_are_approved_again` |  |
//! | 27 | Eight repairs of one call at most. | `arguments::eight_texts_at_most_are_tried_for_one_call` | Then the model is told, and the run lives. |
//! | 28 | No arguments at all. | `arguments::nothing_is_not_an_empty_object_unless_the_tool_takes_nothing` | Nothing is `{}` for a tool that takes nothing, and an error for any other. |
//! | 29 | A scalar, a list or garbage for arguments. | `arguments::scalars_lists_and_garbage_are_refused_with_the_raw_text_kept` | They are refused, never read as `{}`; the text is kept. |
//! | 30 | Keys that are no strings become strings. | `arguments::keys_that_are_not_strings_become_strings` |  |
//! | 31 | The size of arguments is that of the text on the wire. | `arguments::arguments_over_the_limit_are_refused_by_their_bytes_on_the_wire` | Too much is an error of the call; the run goes on. |
//! | 32 | An unknown tool is answered with those there are. | `arguments::an_unknown_tool_is_answered_with_those_there_are` |  |
//! | 33 | Fences, prose and trailing commas are read away. | `arguments::fences_prose_and_trailing_commas_are_read_away`, `arguments::what_reading_changed_is_told_and_in_the_receipt` |  |
//! | 34 | Large integers stay exact. | `arguments::large_integers_stay_exact` |  |
//! | 35 | A printed call that was cut off. | `arguments::a_printed_call_that_was_cut_off_is_one_if_what_was_said_is_whole` | It is a call if it ends between two values; within one it is none: `4` may have been `42`. |
//! | 36 | An unknown variant is refused; an integer fits where a float is wanted. | `arguments::an_unknown_variant_is_refused_and_an_integer_fits_a_double` |  |
//! | 37 | Values in parts. | `agents::an_answer_without_a_required_field_is_none_and_the_model_is_told_which` | There are none: an answer is whole, or it is no answer. |
//! | 38 | An agent has a skill that gives its `Out`. | `agents::a_skill_answers_what_its_agent_answers` | One that gives anything else does not compile (`tests/ui/agent/skills_differ.rs`). |
//! | 39 | No skill for an input is an error. | `agents::no_skill_for_an_input_is_an_error_that_says_so` |  |
//! | 40 | Conditions choose before anything else does, without a model. | `agents::conditions_choose_a_skill_without_a_model_call`, `agents::two_skills_without_a_condition_need_a_model_to_choose`, `skills::choice_by_model::the_model_chooses_in_a_turn_of_its_own`, `skills::choice_by_model::an_unknown_name_goes_back_with_the_list_once` | A name that is none goes back once, with the list. |
//! | 41 | The model reads the prompt, then the input. | `agents::the_model_reads_the_prompt_and_then_the_input` |  |
//! | 42 | Knowledge is loaded when the model asks for it. | `knowledge::it_is_a_tool_without_arguments_whose_text_is_made_when_asked_for` |  |
//! | 43 | A model that calls for ever ends with its turns. | `agents::endless_calls_end_with_the_turns` |  |
//! | 44 | Memory between runs. | `agents::a_run_knows_nothing_of_another`, `memory::what_is_written_in_one_run_is_read_in_the_next`, `memory::each_agent_has_its_own_for_each_of_those_it_works_for` | Only an agent that is given a memory has one, and each for those it works for. |
//! | 45 | An agent has one place. | `compositions::behaviours::an_agent_runs_by_itself_as_often_as_one_likes_before_it_is_placed` | A second place does not compile (`tests/ui/compose/placed_twice.rs`). |
//! | 46 | Agents side by side get the same input and run together; results are in the order in which they are written. | `compositions::parallel::results_come_in_the_order_in_which_they_are_written`, `compositions::parallel::three_agents_of_a_second_take_a_second` |  |
//! | 47 | A forum: the captain comes last and decides; who speaks is told. | `compositions::forum::each_hears_those_before_and_the_captain_decides`, `compositions::behaviours::what_each_speaker_does_is_told_under_its_own_name` | Participants speak in turn, so that each hears those before it. |
//! | 48 | A loop runs at least once, ends when it is told to, and its types may differ. | `compositions::until::it_runs_at_least_once_and_until_it_is_enough`, `compositions::behaviours::what_goes_in_again_is_of_the_type_that_goes_in` |  |
//! | 49 | A branch that nobody thought of. | `compositions::routed_hands_on_to_the_target_that_fits` | It does not compile (`tests/ui/compose/routed_misses_a_variant.rs`, `tests/ui/branch/answer_forgotten.rs`). |
//! | 50 | In a race a failure settles nothing; if all fail, the last error is the race's. | `compositions::first_of::the_first_answer_wins_and_the_others_are_dropped`, `compositions::first_of::if_all_fail_the_last_error_tells_of_the_others` |  |
//! | 51 | A tie of votes goes to the first that is written. | `compositions::behaviours::a_tie_of_votes_goes_to_the_first_that_is_written` | Votes are counted by a plain function on the results. |
//! | 52 | Without anybody to ask, the answer is no; a tool that asks for nobody's word runs. Grants are checked when the team is built. | `policies::approvals::a_gated_tool_runs_only_when_somebody_says_so`, `governance::a_tool_that_asks_for_nobody_s_word_runs_where_there_is_nobody`, `teams::grants::t9_what_is_not_granted_does_not_exist`, `teams::confirmations::confirmed_tools_need_a_person_whatever_they_say_themselves`, `teams::defects::what_is_granted_and_confirmed` |  |
//! | 53 | A model's failure is the run's error, as it was. | `agents::a_model_s_failure_is_not_for_the_arms` | No arm answers it: retries of requests belong to the model's client. |
//! | 54 | What is used up is counted for each run. | `agents::what_is_used_up_is_counted_for_each_run`, `agents::a_refused_call_counts_like_any_other` | A call that was refused counts like any other: a model that insists has to end. |
//! | 55 | What was approved runs as it was shown; what was not does not run. | `policies::approvals::a_gated_tool_runs_only_when_somebody_says_so`, `governance::a_call_to_be_revised_does_not_run_and_the_changed_one_is_asked_about_anew` | Nobody edits arguments behind the model's back: it is told what to change, and calls again. |
//! | 56 | A run is stored after each round of calls, and goes on only with what it belongs to. | `journals::interruption::from_every_entry_it_comes_to_the_same_end`, `journals::foreign::it_belongs_to_its_agent_and_its_input`, `journals::stored::files::what_is_no_journal_is_called_by_its_name`, `governance::a_stored_call_runs_only_if_the_agent_may_make_it_now` | The tools are those that the agent has now. |

mod agents;
mod arguments;
mod attempted_repairs;
mod budgets;
mod defects;
mod denied_arguments;
mod earlier_failures;
mod effects_and_panics;
mod failed_repairs;
mod governance;
mod repairing;
mod retrying;

use crate::world::{Arms, Plain, on_args, on_failure, on_field};
use ::agents::{
    Agent, AgentBuilder, Budget, Error, Outcome,
    agent::Skill,
    error::{AnyError, ErrorRecord},
    recovery::{CallError, ErrorContext, Repair},
    run::{Event, EventKind, ToolEnvelope},
    testing::{Script, ScriptedModel},
    tool,
};
use serde_json::Value;
use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

pub(crate) type ScribeAgent = Arc<Plain<Repair>>;

/// Counts its runs, and fails `failures` times at first.
#[tool(reads)]
pub(crate) async fn job(
    /// Number that is returned.
    n: u32,
    /// Name of the customer.
    #[serde(default)]
    name: Option<String>,
    #[inject] runs: Arc<AtomicU32>,
    #[inject] failures: u32,
) -> io::Result<String> {
    match runs.fetch_add(1, SeqCst) {
        run if run < failures => Err(io::Error::other(format!("failure {}", run + 1))),
        _ => Ok(name.map_or(format!("did {n}"), |name| format!("did {n} for {name}"))),
    }
}

/// No arms at all.
fn no_arms() -> impl Arms {
    |_: CallError<'_, AnyError>, _: &ErrorContext| None
}

/// Observable results of a run.
struct Seen {
    outcome: Outcome<String>,
    model: ScriptedModel,
    events: Vec<Event>,
    runs: u32,
}

/// Runs one call of [`job`], which fails `failures` times at first, and an answer.
async fn call(failures: u32, arguments: &str, arms: impl Arms) -> Seen {
    let script = vec![Script::call("job", arguments), Script::text("end")];
    see(failures, script, arms).await
}

/// Runs a script with an agent that has [`job`] and these default arms.
async fn see(failures: u32, script: Vec<Script>, arms: impl Arms) -> Seen {
    let runs = Arc::new(AtomicU32::new(0));
    let tool = Job {
        runs: runs.clone(),
        failures,
    };
    let agent = AgentBuilder::new("worker").tool(tool).on_error(arms);
    let seen = watch(agent, script).await;
    Seen {
        runs: runs.load(SeqCst),
        ..seen
    }
}

/// Runs any agent with this script.
async fn watch(agent: AgentBuilder<'static, String, String>, script: Vec<Script>) -> Seen {
    let (model, handle) = ScriptedModel::new(script);
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let sink = events.clone();
    let outcome = agent
        .model(model)
        .build()
        .run("go")
        .on_event(move |event| sink.lock().expect("nobody panicked").push(event.clone()))
        .outcome()
        .await
        .expect("the agent is well built");
    let events = std::mem::take(&mut *events.lock().expect("nobody panicked"));
    Seen {
        outcome,
        model: handle,
        events,
        runs: 0,
    }
}

impl Seen {
    /// Returns the first call's result as the model got it; empty if no request followed.
    fn told(&self) -> String {
        let requests = self.model.requests();
        let first = requests
            .get(1)
            .and_then(|asked| asked.results().first().map(|told| told.1.to_owned()));
        first.unwrap_or_default()
    }

    fn receipt(&self) -> &ToolEnvelope {
        self.outcome
            .outputs
            .receipts()
            .next()
            .expect("there was a call")
    }

    fn error(&self) -> &ErrorRecord {
        self.receipt().error.as_ref().expect("the call failed")
    }

    fn count(&self, kind: impl Fn(&EventKind) -> bool) -> usize {
        self.events.iter().filter(|event| kind(&event.kind)).count()
    }
}

/// Returns a repair agent without a model, and the requests that it got.
fn scribe(
    answer: impl Fn(&Repair) -> Result<String, Error> + Send + Sync + 'static,
) -> (ScribeAgent, Arc<Mutex<Vec<Repair>>>) {
    let asked: Arc<Mutex<Vec<Repair>>> = Arc::default();
    let seen = asked.clone();
    let fix = Skill::native("fix", "Repairs.", move |repair: Repair| {
        let result = answer(&repair);
        seen.lock().expect("nobody panicked").push(repair);
        async move { result }
    });
    (
        Arc::new(AgentBuilder::new("scribe").skill(fix).build()),
        asked,
    )
}

/// A repair agent that a model drives for one turn.
fn model_scribe(script: impl IntoIterator<Item = Script>) -> (ScribeAgent, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    let agent = AgentBuilder::new("scribe")
        .prompt("Repair JSON.")
        .budget(Budget::new().max_turns(1))
        .model(model)
        .build();
    (Arc::new(agent), handle)
}
