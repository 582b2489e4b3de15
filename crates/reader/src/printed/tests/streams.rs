//! Tests of thinking, and of the content shown after each chunk of a stream.

use super::{check, check_content, printed, streamed, with_tools};

#[test]
fn thinking() {
    let text = "<think>Dark here.</think>Now: <tool_call>lamp_all</tool_call> done";
    check_content(text, "glm-arg-kv lamp_all {}", "Now:  done");
    assert_eq!(printed(text).thinking.as_deref(), Some("Dark here."));
    // A call that ends the thinking counts; a call inside the thinking does not.
    check(
        "<think>Dark. <tool_call>lamp_all</tool_call>",
        "glm-arg-kv lamp_all {}",
    );
    check(
        "<think>Dark. <tool_call>lamp_all</tool_call></think>No.",
        "",
    );
    check(
        "<|channel>thought\nDark.<channel|><|tool_call>call:lamp_all{}",
        "gemma4-call lamp_all {}",
    );
    check(
        "[THINK]Dark.[/THINK][TOOL_CALLS]lamp_all[ARGS]{}",
        "mistral-args lamp_all {}",
    );
}

#[test]
fn thinking_that_the_prompt_opened() {
    with_tools(|tools| {
        let mut stream = super::Stream::new(tools).thinking();
        assert_eq!(stream.push("Dark.</thi"), "");
        assert_eq!(stream.push("nk>It is dark."), "It is dark.");
        let printed = stream.finish();
        assert_eq!(printed.thinking.as_deref(), Some("Dark."));
    });
}

#[test]
fn content_is_shown_as_soon_as_it_is_known() {
    with_tools(|tools| {
        let mut stream = super::Stream::new(tools);
        assert_eq!(stream.push("On it. <b>now</b> <tool"), "On it. <b>now</b> ");
        assert_eq!(stream.push("s> and <tool_call>"), "<tools> and ");
        assert_eq!(stream.push("lamp_all</tool_call>Do"), "Do");
        assert_eq!(stream.push("ne"), "ne");
        assert_eq!(stream.finish().calls.len(), 1);
    });
    assert_eq!(streamed(["no ", "calls"]).content, "no calls");
}

#[test]
fn data_is_shown_while_it_is_written() {
    with_tools(|tools| {
        let mut stream = super::Stream::new(tools);
        assert_eq!(stream.push("{\"city\": \"Os"), "{\"city\": \"Os");
        let mut stream = super::Stream::new(tools);
        assert_eq!(
            stream.push("{\"name\": \"Ada\", \"a"),
            "{\"name\": \"Ada\", \"a"
        );
    });
}
