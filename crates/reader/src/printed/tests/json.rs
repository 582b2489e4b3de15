//! Tests of syntaxes with JSON arguments, intact and damaged.

use super::{check, check_content};

#[test]
fn hermes_json() {
    let call = r#"hermes-json lamp {"room":"hall"}"#;
    check(
        r#"<tool_call>{"name":"lamp","arguments":{"room":"hall"}}</tool_call>"#,
        call,
    );
    check(
        "<tool_call>\n{\"arguments\":{\"room\":\"hall\"},\"name\":\"lamp\"}\n</tool_call>",
        call,
    );
    check(
        r#"<tool_call>{"name":"lamp","parameters":{"room":"hall"}}</tool_call>"#,
        call,
    );
    check(
        r#"<tool_call>{"name":"lamp","arguments":"{\"room\":\"hall\"}"}</tool_call>"#,
        call,
    );
    check(
        r#"<tool_call>{"name":"lamp","arguments":{"room":"hall"}}"#,
        call,
    );
    check(
        r#"<tool_call>{"name":"lamp","arguments":{"room":"hall"}}</tool_"#,
        call,
    );
    check(
        r#"<tool_call>{"name":"lamp","arguments":{"room":"hall"}}}</tool_call>"#,
        call,
    );
    check(
        r#"<tool_call>{"name":"lamp","arguments":{"room":"hall"}}]</tool_call></tool_call>"#,
        call,
    );
    check(
        r#"<tool_call>{"name":"lamp","arguments":{"room":"hall"}</tool_call>"#,
        call,
    );
    check(
        r#"<tool_call>[{"name":"lamp","arguments":{"room":"hall"}}]</tool_call>"#,
        call,
    );
    check(
        r#"<tool_call>{"name": "lamp_all"}</tool_call>"#,
        "hermes-json lamp_all {}",
    );
    check(
        r#"<tool_call>{"name": "lamp_all", "arguments": null}</tool_call>"#,
        "hermes-json lamp_all {}",
    );
    check(
        "<tool_call>{\"name\":\"lamp\",\"arguments\":{\"level\":1.50}}\n{\"name\":\"lamp_all\",\"arguments\":{}}</tool_call>",
        "hermes-json lamp {\"level\":1.50}\nhermes-json lamp_all {}",
    );
    check(
        r#"<tool_call>{"name":"note","arguments":{"text":"a </tool_call> b"}}</tool_call>"#,
        r#"hermes-json note {"text":"a </tool_call> b"}"#,
    );
}

#[test]
fn arguments_beside_the_name() {
    check(
        r#"<tool_call>{"name": "lamp", "room": "hall", "level": 1.0}</tool_call>"#,
        r#"hermes-json lamp {"room":"hall","level":1.0}"#,
    );
    check(r#"<tool_call>{"name": "lamp", <tool_call>"#, "");
}

#[test]
fn several_in_a_fence() {
    check_content(
        "```json\n{\"name\":\"lamp\",\"arguments\":{}}\n{\"lamp_all\":{}}\n```\nDone",
        "name-keyed-json lamp {}\nname-keyed-json lamp_all {}",
        "\nDone",
    );
}

#[test]
fn damaged_arguments_are_handed_on() {
    let check = |arguments: &str, expect: &str| {
        check(
            &format!(
                "<tool_call>{{\"name\":\"lamp\",\"arguments\":{arguments}</tool_call><tool_call>{{\"name\":\"lamp_all\",\"arguments\":{{}}}}</tool_call>"
            ),
            &format!("hermes-json !lamp {expect}\nhermes-json lamp_all {{}}"),
        );
    };
    check("{'room': 'hall'}}", "{'room': 'hall'}");
    check("{\"room\": \"hall}}\n", "{\"room\": \"hall}");
    check("{room: hall,}}", "{room: hall,}");
    check(r#"{"room":"ha"ll"}}"#, r#"{"room":"ha"ll"}"#);
    check(r#"{"room":"hall}}"#, r#"{"room":"hall}"#);
    check(r#"{"level":1_000 // high"#, r#"{"level":1_000 // high"#);
}

#[test]
fn non_json_arguments_are_kept_whole() {
    let check = |members: &str, expect: &str| {
        let text = format!("<tool_call>{{\"name\": \"note\", {members}}}</tool_call>");
        check(&text, &format!("hermes-json !note {expect}"));
    };
    check(r#""arguments": Vega, 0.03"#, "Vega, 0.03");
    check(r#""arguments": Vega, mag: 0.03"#, "Vega, mag: 0.03");
    check(
        r#""arguments": Vega, mag: 0.03, "id": 5"#,
        "Vega, mag: 0.03",
    );
    check(r#""arguments": "Vega", 0.03"#, r#""Vega", 0.03"#);
    check(r#""arguments": ["Vega"] and 0.03"#, r#"["Vega"] and 0.03"#);
    check("Vega, 0.03", "Vega, 0.03");
    check(r#""text": "Vega", 0.03"#, r#""text": "Vega", 0.03"#);
    super::check(
        r#"<tool_call>{"text": "Vega", "name": "note", 0.03}</tool_call>"#,
        r#"hermes-json !note "text": "Vega", 0.03"#,
    );
    super::check(
        r#"{"name": "note", "arguments": Vega, 0.03}"#,
        "bare-json !note Vega, 0.03",
    );
    super::check(
        r#"<tool_call>{"name": "note", "arguments": "Vega"]}</tool_call>"#,
        "hermes-json !note Vega",
    );
}

#[test]
fn cut_off_arguments() {
    // A complete value is passed on, half a value is not.
    let check_cut = |cut: &str, whole: &str| {
        let text = format!("<tool_call>{{\"name\":\"lamp\",\"arguments\":{cut}");
        check(&text, &format!("hermes-json !lamp {whole}"));
        check(&text[11..], &format!("bare-json !lamp {whole}"));
    };
    check_cut(r#"{"room":"hall""#, r#"{"room":"hall""#);
    check_cut(r#"{"level":1,"#, r#"{"level":1,"#);
    let text = r#"<tool_call>{"name":"lamp","arguments":{"room":"hal"#;
    for len in 0..=text.len() {
        check(&text[..len], "");
        check_content(&text[11.min(len)..len], "", &text[11.min(len)..len]);
    }
    check("[TOOL_CALLS]lamp[ARGS]{\"room\":\"ha", "");
    check(" to=lamp<|message|>{\"room\":\"ha", "");
}

#[test]
fn name_then_json() {
    let json = r#"{"room": "hall"}"#;
    check(
        &format!("<tool_call>lamp\n{json}</tool_call>"),
        &format!("name-line-json lamp {json}"),
    );
    check(
        &format!("[TOOL_CALLS]lamp[ARGS]{json}"),
        &format!("mistral-args lamp {json}"),
    );
    check(
        &format!("[TOOL_CALLS]lamp{json}"),
        &format!("mistral-args lamp {json}"),
    );
    check(
        &format!("[TOOL_CALLS]lamp[CALL_ID]a1b2[ARGS]{json}"),
        &format!("mistral-args lamp {json}"),
    );
    check(
        &format!("[TOOL_CALLS]lamp[ARGS]{json}[TOOL_CALLS]lamp_all[ARGS]{{}}"),
        &format!("mistral-args lamp {json}\nmistral-args lamp_all {{}}"),
    );
    check("[TOOL_CALLS]lamp[ARGS]", "");
    check("[TOOL_CALLS]lamp[ARGS]{", "");
    check(
        &format!("[TOOL_CALLS] [{{\"name\": \"lamp\", \"arguments\": {json}}}][/TOOL_CALLS]"),
        &format!("mistral-list lamp {json}"),
    );
    check(
        &format!("[tool]lamp[args]{json}[end]"),
        &format!("tool-token-args lamp {json}"),
    );
}

#[test]
fn deepseek() {
    let json = r#"{"room": "hall"}"#;
    for (bar, name) in [('｜', "fullwidth"), ('|', "ascii")] {
        let text = |body: &str| {
            format!("On.<|tool▁calls▁begin|>{body}<|tool▁calls▁end|><|end▁of▁sentence|>")
                .replace('|', &bar.to_string())
        };
        let one = |body: &str| text(&format!("<|tool▁call▁begin|>{body}<|tool▁call▁end|>"));
        check_content(
            &one(&format!("lamp<|tool▁sep|>{json}")),
            &format!("deepseek-sep lamp {json}"),
            "On.",
        );
        check_content(
            &one(&format!("function<|tool▁sep|>lamp\n```json\n{json}\n```")),
            &format!("deepseek-fence lamp {json}"),
            "On.",
        );
        check(&one("lamp<|tool▁sep|>"), "");
        check(&one("attic<|tool▁sep|>{}"), "");
        check(
            &one("lamp<|tool▁sep|>{\"level\": 1,}"),
            "deepseek-sep !lamp {\"level\": 1,}",
        );
        assert!(!name.is_empty());
    }
    check_content(
        "It is <｜tool▁output▁begin｜>22°<｜tool▁output▁end｜> here.",
        "",
        "It is 22° here.",
    );
}

#[test]
fn cohere() {
    let check = |text: &str, expect: &str| {
        check(
            &format!("<|START_THINKING|>So.<|END_THINKING|><|START_ACTION|>{text}<|END_ACTION|>"),
            expect,
        );
    };
    let lamp = r#"{"tool_call_id":"0","tool_name":"lamp","parameters":{"level":1}}"#;
    let all = r#"{"tool_call_id":"1","tool_name":"lamp_all","parameters":{}}"#;
    let both = "cohere-action lamp {\"level\":1}\ncohere-action lamp_all {}";
    check(&format!("[\n{lamp},\n{all}\n]"), both);
    check(&format!("[{lamp}{all}]"), both);
    check(&format!("[{lamp},{all}"), both);
    check(&format!("{lamp}\n{all}"), both);
    check(
        &format!(
            r#"[{{"tool_call_id":"2","tool_name":"lamp","parameters":{{"level":1:2}}}},{all}]"#
        ),
        "cohere-action !lamp {\"level\":1:2}\ncohere-action lamp_all {}",
    );
    check("[???]", "");
}

#[test]
fn bare_json() {
    check(
        r#"{"name":"lamp","arguments":{"level":1}}"#,
        r#"bare-json lamp {"level":1}"#,
    );
    check_content(
        "On it.\n{\"name\":\"lamp\",\"parameters\":{}}}\nDone.",
        "bare-json lamp {}",
        "On it.\n\nDone.",
    );
    check(
        r#"[{"name":"lamp","arguments":{}},{"name":"lamp_all","arguments":{}}]"#,
        "json-list lamp {}\njson-list lamp_all {}",
    );
    check(r#"[{"name":"lamp","arguments":{}}"#, "json-list lamp {}");
    check(
        r#"{"type":"function","function":{"name":"lamp","arguments":"{\"level\":1}"}}"#,
        r#"bare-json lamp {"level":1}"#,
    );
    check(
        r#"{"tool_calls":[{"id":"x","type":"function","function":{"name":"lamp","arguments":{}}}]}"#,
        "bare-json lamp {}",
    );
    check(
        r#"{"lamp":{"level":1}}"#,
        r#"name-keyed-json lamp {"level":1}"#,
    );
    check(
        "{'name': 'lamp', 'arguments': {'level': 1}}",
        "bare-json !lamp {'level': 1}",
    );
    check(
        r#"<|python_tag|>{"name":"lamp","parameters":{"level":1}}"#,
        r#"bare-json lamp {"level":1}"#,
    );
    check(r#"lamp({"level": 1})"#, r#"call-json lamp {"level": 1}"#);
    check_content(
        "```json\n{\"name\":\"lamp_all\",\"arguments\":{}}\n```",
        "bare-json lamp_all {}",
        "",
    );
    check(
        r#"{"name":"open door","arguments":{"which one":"front"}}"#,
        r#"bare-json open door {"which one":"front"}"#,
    );
    check(
        r#"{"name":"lamp","arguments":{"level":12345678901234567890.10}}"#,
        r#"bare-json lamp {"level":12345678901234567890.10}"#,
    );
}
