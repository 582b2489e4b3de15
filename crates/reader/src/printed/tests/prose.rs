//! Tests of texts that look like calls and are none.

use super::{calls, check_content, check_prose, printed, streamed};

#[test]
fn undeclared_names() {
    check_prose(r#"{"name":"attic","arguments":{}}"#);
    check_prose(r#"<tool_call>{"name":"attic","price":5}</tool_call>"#);
    check_prose(r#"<tool_call>{"name":"attic","arguments":{"a":"#);
    check_prose(r#"Write `<tool_call>{"name":"attic","arguments":{}}</tool_call>`."#);
    check_prose("<tool_call>attic<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>");
    check_prose("[attic(a=1)]");
    check_prose("[TOOL_CALLS]attic[ARGS]{}");
    check_prose("<tool_call>lamp_al</tool_call>");
    check_prose("<tool_call>lamps</tool_call>");
}

/// Checks that a call in tags is reported as undeclared if no tool has its name.
#[test]
fn undeclared_names_in_tags() {
    for (text, content) in [
        (
            r#"<tool_call>{"name":"Lamp","arguments":{"level":1}}</tool_call>"#,
            "",
        ),
        (
            r#"I look. <tool_call>{"name":"Lamp","arguments":{"level":1}}"#,
            "I look. ",
        ),
        (r#"[TOOL_CALLS]{"name":"Lamp","arguments":{"level":1}}"#, ""),
    ] {
        let whole = printed(text);
        assert_eq!(
            (calls(&whole).as_str(), whole.content.as_str()),
            ("", content)
        );
        let [call] = &whole.undeclared[..] else {
            panic!("{text}: {whole:?}");
        };
        assert_eq!((&*call.name, &*call.arguments), ("Lamp", r#"{"level":1}"#));
        let chunks = text.split_inclusive(['"', '>', '}']);
        assert_eq!(streamed(chunks), whole);
    }
}

#[test]
fn garbage_in_tags() {
    check_prose("a <tool_call>I would like the lamp</tool_call> b");
    check_prose("<tool_call></tool_call>");
    check_prose("<tool_call>");
    check_prose("<tool_call>{}</tool_call>");
    check_prose("<|tool_call_start|>nothing<|tool_call_end|>");
}

#[test]
fn half_tags() {
    check_prose("the <tool_call is not closed");
    check_prose("the <tool_");
    check_prose("[TOOL_CALLSlamp[ARGS]{}");
    check_prose("<think about it");
    check_prose("a <start_function world");
    check_prose("[/THI");
}

#[test]
fn code_and_brackets() {
    check_prose("if a < b { lamp.on(); } // [1] {\"x\": [2]}");
    check_prose("[a](b) and [lamp] and {lamp} and [img-0]");
    check_prose("func main() { fmt.Println(\"{\") }");
    check_prose("Use lamp(room=\"hall\") for that.");
    check_prose("[lamp_all()] would call it, and so would\nlamp({\"level\": 1}), but not here");
    check_prose("call lamp({\"level\": 1}) for that");
}

#[test]
fn data_is_no_call() {
    check_prose(r#"{"items": [{"name":"lamp","arguments":{}}]}"#);
    check_prose("{\n  \"calls\": [\n    {\"name\": \"lamp\", \"arguments\": {}}\n  ]\n}");
    check_prose(r#"{"name": "lamp", "price": 5}"#);
    check_prose(r#"{"name": "Ada", "arguments": {"lamp": {}}}"#);
    check_prose(r#"["x", {"name":"lamp","arguments":{}}]"#);
}

#[test]
fn examples_in_code_and_quotes() {
    check_prose("Write `<tool_call>{\"name\":\"lamp\",\"arguments\":{}}</tool_call>` to call.");
    check_prose("Write \"<tool_call>lamp_all</tool_call>\" to call.");
    check_prose("So:\n```xml\n<tool_call>lamp_all</tool_call>\n```\n");
    check_prose("So:\n```python\nlamp({\"level\": 1})\n```\n");
    check_prose("`{\"name\":\"lamp\",\"arguments\":{}}`");
    check_prose("Say `[TOOL_CALLS]` or `</think>` or `<|eot|>`.");
    // A block without an end quotes nothing.
    check_content(
        "```xml\n<tool_call>lamp_all</tool_call>",
        "glm-arg-kv lamp_all {}",
        "```xml\n",
    );
}

#[test]
fn braces_without_a_key() {
    check_prose("[TOOL_CALLS]lamp[ARGS]{bright please}");
    check_prose(r#"<tool_call>{"name":"lamp","arguments":{bright}}</tool_call>"#);
}

#[test]
fn blocks_inside_messages() {
    let block =
        "<atem:function_calls><atem:invoke name=\"lamp_all\"></atem:invoke></atem:function_calls>";
    let speech = |text: &str| check_content(&format!(" to=user<|message|>{text}<|eot|>"), "", text);
    speech(&format!("{block} turns it on."));
    speech(&format!("So:\n{block}"));
}
