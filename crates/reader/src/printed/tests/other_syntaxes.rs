//! Tests of syntaxes without JSON, whose arguments are converted to JSON by the schema.

use super::{check, check_content, printed};

#[test]
fn qwen_xml() {
    let call = r#"qwen-xml lamp {"room":"hall","level":3}"#;
    let params = "<parameter=room>\nhall\n</parameter>\n<parameter=level>\n3\n</parameter>\n";
    check(
        &format!("<tool_call>\n<function=lamp>\n{params}</function>\n</tool_call>"),
        call,
    );
    check(
        &format!("<tool_call><function=lamp>{params}</tool_call>"),
        call,
    );
    check(
        &format!("<function=lamp>{params}</function>\n</tool_call>"),
        call,
    );
    check(&format!("<tool_call><function=lamp>{params}"), call);
    check(
        "<tool_call><function=lamp><parameter=room>hall<parameter=level>3</function></tool_call>",
        call,
    );
    check("<tool_call><function=lamp><parameter=room>ha", "");
    check("<tool_call><function=lamp>", "");
    check(
        "<tool_call><function=lamp_all></function></tool_call>",
        "qwen-xml lamp_all {}",
    );
    check("<tool_call><function=attic></function></tool_call>", "");
    check(
        "<tool_call><function=note><parameter=text>\n\n<b>&lt; \"a\" & b</b>\n\n</parameter></function></tool_call>",
        r#"qwen-xml note {"text":"\n<b>&lt; \"a\" & b</b>\n"}"#,
    );
    check(
        "<function=lamp_all></function><function=note><parameter=text>cut",
        "qwen-xml lamp_all {}",
    );
}

#[test]
fn python_tag_and_tool_code() {
    let call = r#"lamp {"room":"hall","level":3}"#;
    check(
        "```tool_code\nlamp(room=\"hall\", level=3)\n```",
        &format!("tool-code {call}"),
    );
    check_content(
        "I look.\n```tool_code\nlamp(room='hall', level=3)\nlamp_all();\n```\n",
        &format!("tool-code {call}\ntool-code lamp_all {{}}"),
        "I look.\n\n",
    );
    check(
        "<|python_tag|>lamp.call(room=\"hall\", level=3)",
        &format!("python-tag {call}"),
    );
    check(
        "<|python_tag|>lamp(room=\"hall\", level=3); lamp_all.call()<|eom_id|>",
        &format!("python-tag {call}\npython-tag lamp_all {{}}"),
    );
    check(
        r#"<|python_tag|>{"name":"lamp","parameters":{"level":3}}"#,
        r#"bare-json lamp {"level":3}"#,
    );
    for text in [
        // Code that somebody may have asked for.
        "```python\nlamp(room=\"hall\")\n```",
        "lamp(room=\"hall\", level=3)",
        "```tool_code\nx = lamp(room=\"hall\")\n```",
        "```tool_code\nprint(lamp(room=\"hall\"))\n```",
        "```tool_code\nlamp(room=\"hall\")\nattic(a=1)\n```",
        "```tool_code\nattic(a=1)\n```",
        "```tool_code\nlamp(room=\"hall\")",
        "```tool_code\nlamp(room=\"ha",
        "```tool_code\n```",
        "the block is called tool_code, and lamp(room=\"hall\") stands in it",
    ] {
        check_content(text, "", text);
    }
    for code in [
        "attic.call(a=1)",
        "lamp.call(room=\"hall\")\nprint(1)",
        "x = lamp(level=3)",
        "lamp.off(level=3)",
        "lamp.call(room=\"ha",
        "print(1)",
    ] {
        check_content(&format!("<|python_tag|>{code}"), "", code);
    }
    let quoted = "Write `<|python_tag|>lamp.call()`.";
    check_content(quoted, "", quoted);
}

#[test]
fn a_call_in_words() {
    check_content(
        "Thought: it is dark.\nAction: lamp\nAction Input: {\"room\": \"hall\"}\n",
        r#"react lamp {"room": "hall"}"#,
        "Thought: it is dark.\n",
    );
    check(
        "Action: lamp\nAction Input: {'room': 'hall'}",
        "react !lamp {'room': 'hall'}",
    );
    for text in [
        "Action: attic\nAction Input: {\"a\": 1}",
        "Action: lamp\nAction Input: {\"room\": \"hall\"}\nObservation: it is on.",
        "Action: lamp\nAction Input: hall",
        "Action: lamp\nAction Input: {\"room\": \"ha",
        "Action: lamp the hall\nAction Input: {\"room\": \"hall\"}",
        "Action: lamp",
        "I take Action: lamp\nAction Input: {\"room\": \"hall\"}",
        "```\nAction: lamp\nAction Input: {\"room\": \"hall\"}\n```",
    ] {
        check_content(text, "", text);
    }
}

#[test]
fn values_are_typed_by_the_schema() {
    let check = |key: &str, raw: &str, expect: &str| {
        let text = format!(
            "<tool_call>plan<arg_key>{key}</arg_key><arg_value>{raw}</arg_value></tool_call>"
        );
        check(&text, &format!("glm-arg-kv plan {{\"{key}\":{expect}}}"));
    };
    check("sure", "True", "true");
    check("when", "null", "null");
    check("when", "0012", "12");
    check("when", "soon", "\"soon\"");
    check("steps", "['a', 2, None]", r#"["a",2,null]"#);
    check("steps", r#"["a", {"b": 1.0}]"#, r#"["a", {"b": 1.0}]"#);
    check("opts", "{'a': True}", r#"{"a":true}"#);
    check("any", "12", "\"12\"");
    check("unknown", "12", "\"12\"");
}

#[test]
fn glm_pairs() {
    let call = r#"glm-arg-kv lamp {"room":"hall","level":3}"#;
    let pairs = |text: &str| check(&format!("<tool_call>lamp{text}</tool_call>"), call);
    pairs(
        "\n<arg_key>room</arg_key>\n<arg_value>hall</arg_value>\n<arg_key>level</arg_key>\n<arg_value>3</arg_value>\n",
    );
    pairs("<arg_key>room<arg_value>hall</arg_value><arg_key>level</arg_key><arg_value>3");
    pairs("<arg_key>room</arg_key>hall</arg_value>level</arg_key><arg_value>3</arg_value>");
    pairs(" room</arg_key><arg_value>hall<arg_key>level</arg_key>3</arg_value>");
    pairs(" room<arg_value>hall</arg_value>\nlevel<arg_value>3</arg_value>");
    pairs(
        "<arg_key>room</arg_key><arg_value>attic</arg_value><arg_key>level</arg_key><arg_value>3</arg_value><arg_key>room</arg_key><arg_value>hall</arg_value>",
    );
    check("<tool_call>lamp_all</tool_call>", "glm-arg-kv lamp_all {}");
    check(
        "<tool_call>\n  home.door-bell \n</tool_call>",
        "glm-arg-kv home.door-bell {}",
    );
    check("<tool_call>lamp_all", "");
    check(
        "<tool_call>lamp<arg_key>room</arg_key><arg_value>hall</arg_value>",
        "glm-arg-kv lamp {\"room\":\"hall\"}",
    );
    check("<tool_call>lamp<arg_key>room</arg_key><arg_value>ha", "");
    check("<tool_call>lamp<arg_key>room</arg_key>", "");
    check(
        "<tool_call>note<arg_key>text</arg_key><arg_value>a </tool_call> <b></arg_value></tool_call>",
        r#"glm-arg-kv note {"text":"a </tool_call> <b>"}"#,
    );
    check("<user>lamp_all</user>", "user-tag-glm lamp_all {}");
    check(
        "<user>{\"name\":\"lamp_all\",\"arguments\":{}}</user>",
        "user-tag-json lamp_all {}",
    );
}

#[test]
fn gemma() {
    let check = |arguments: &str, expect: &str| {
        check(
            &format!("<|tool_call>call:plan{{{arguments}}}<tool_call|>"),
            &format!("gemma4-call plan {{{expect}}}"),
        );
        let older = arguments.replace("<|\"|>", "<escape>");
        super::check(
            &format!("<start_function_call>call:plan{{{older}}}<end_function_call>"),
            &format!("functiongemma-call plan {{{expect}}}"),
        );
    };
    check("", "");
    check(
        "when:5,sure:true,any:null",
        r#""when":5,"sure":true,"any":null"#,
    );
    check(
        "any:<|\"|>a \"b\" \\n, {c}<|\"|>",
        r#""any":"a \"b\" \\n, {c}""#,
    );
    check(
        "any:\"two\n\\\"lines\\\", \"so\" said\",when:1",
        r#""any":"two\n\"lines\", \"so\" said","when":1"#,
    );
    check(
        r#"any:"a \"b\" \u0041", when: 1.50"#,
        r#""any":"a \"b\" \u0041","when":1.50"#,
    );
    check("any:'it's on',when:1", r#""any":"it's on","when":1"#);
    check(
        "any: running text, with: commas {and} more, when:1",
        r#""any":"running text, with: commas {and} more","when":1"#,
    );
    check(
        "steps:[<|\"|>a<|\"|>,{b:[1,2],c:<|\"|><|\"|>}, word]",
        r#""steps":["a",{"b":[1,2],"c":""},"word"]"#,
    );
    check("any:<|\"|>a,when:1", r#""any":"a,when:1""#);
    check(
        "any:<|\"|>a,steps:<|\"|>b<|\"|>",
        r#""any":"a","steps":"b""#,
    );
}

#[test]
fn gemma_without_ends() {
    check(
        "<|tool_call>call:lamp{level:5}",
        "gemma4-call lamp {\"level\":5}",
    );
    check(
        "<|tool_call>call:lamp{level:5}<tool_",
        "gemma4-call lamp {\"level\":5}",
    );
    check(
        "<|tool_call>call:lamp{level:5<tool_call|>",
        "gemma4-call lamp {\"level\":5}",
    );
    check("<|tool_call>call:lamp{level:5", "");
    check("<|tool_call>call:lamp{room:<|\"|>ha", "");
    check(
        "<|tool_call>lamp{level:5}<tool_call|>",
        "gemma4-call lamp {\"level\":5}",
    );
    check(
        "<|tool_call>call:lamp{level:5}}<tool_call|>",
        "gemma4-call lamp {\"level\":5}",
    );
    check(
        "<|tool_call>call:plan{steps:[1,{a:2],opts:{b:3}<tool_call|>",
        "gemma4-call plan {\"steps\":[1,{\"a\":2}],\"opts\":{\"b\":3}}",
    );
    check_content(
        "<|tool_call>call:lamp_all{}<tool_call|><tool_call|><|tool_response>On.",
        "gemma4-call lamp_all {}",
        "On.",
    );
}

#[test]
fn python() {
    let check = |text: &str, expect: &str| {
        check(
            &format!("<|tool_call_start|>[{text}]<|tool_call_end|>"),
            &format!("lfm2-pythonic {expect}"),
        );
        check(
            &format!("<|tool_call_start|>{text}<|tool_call_end|>"),
            &format!("lfm2-pythonic {expect}"),
        );
        check(
            &format!("<function_calls>\n{text}\n</function_calls>"),
            &format!("olmo-pythonic {expect}"),
        );
    };
    check("lamp_all()", "lamp_all {}");
    check(
        "lamp(room='hall', level=5)",
        r#"lamp {"room":"hall","level":5}"#,
    );
    check(
        "lamp ( room = \"it's (a) hall\" , level = -5 )",
        r#"lamp {"room":"it's (a) hall","level":-5}"#,
    );
    check(r#"note(text="a \"b\"\n")"#, r#"note {"text":"a \"b\"\n"}"#);
    check(
        "plan(steps=['a', (1, 2)], opts={'x': None, 'y': True}, sure=false)",
        r#"plan {"steps":["a",[1,2]],"opts":{"x":null,"y":true},"sure":false}"#,
    );
    check("lamp(room=hall)", r#"lamp {"room":"hall"}"#);
    check("note('hello')", r#"note {"text":"hello"}"#);
    check(r#"lamp({"room": "hall"})"#, r#"lamp {"room":"hall"}"#);
    check("灯(房间='厅')", r#"灯 {"房间":"厅"}"#);
    check("home.door-bell()", "home.door-bell {}");
    check("functions.lamp_all()", "lamp_all {}");
}

#[test]
fn several_python_calls() {
    let calls = "lfm2-pythonic lamp {\"level\":1}\nlfm2-pythonic lamp_all {}";
    check(
        "<|tool_call_start|>[lamp(level=1), lamp_all()]<|tool_call_end|>",
        calls,
    );
    check(
        "<|tool_call_start|>[lamp(level=1)\nlamp_all()<|tool_call_end|>",
        calls,
    );
    check(
        "<|tool_call_start|>[lamp(level=1), attic(a=[1]), lamp_all()]",
        calls,
    );
    check("<|tool_call_start|>lamp(level)<|tool_call_end|>", "");
    check("<|tool_call_start|>lamp('hall')<|tool_call_end|>", "");
    check("<|tool_call_start|>lamp(level=1", "");
    check("<function_calls></function_calls>", "");
    check(
        "[lamp(level=1), lamp_all()]",
        &calls.replace("lfm2", "bare"),
    );
    check("[lamp_all()]<|tool_call_end|>", "bare-pythonic lamp_all {}");
}

#[test]
fn atem_and_headers() {
    let call = |text: &str| {
        format!(
            "<atem:function_calls>\n<atem:invoke name=\"lamp\">\n<atem:parameter name=\"room\">{text}</atem:parameter>\n</atem:invoke>\n</atem:function_calls>"
        )
    };
    let hall = r#"atem-xml lamp {"room":" hall "}"#;
    check_content(
        &format!(" to=lamp<|message|>{}<|eot|>", call(" hall ")),
        hall,
        "",
    );
    check(&format!("<|message|>{}<|eom|>", call(" hall ")), hall);
    check(&call(" hall "), hall);
    check(
        &format!(" to=lamp<|message|>{}", call("<|eot|>")),
        r#"atem-xml lamp {"room":"<|eot|>"}"#,
    );
    let text = format!(
        " to=self<|message|>Dark.<|start|>assistant to=lamp<|message|>{}<|start|>assistant to=user<|message|>Done<|eot|>",
        call(" hall ")
    );
    check_content(&text, hall, "Done");
    assert_eq!(printed(&text).thinking.as_deref(), Some("Dark."));
    check(
        " to=lamp<|message|>{\"level\": 2}<|eot|>",
        "glimmer-header lamp {\"level\": 2}",
    );
    check(
        " to=lamp_all<|message|><|eot|>",
        "glimmer-header lamp_all {}",
    );
    check(
        "<|start|>assistant<|channel|>commentary to=functions.lamp <|constrain|>json<|message|>{\"level\":2}<|call|>",
        "glimmer-header lamp {\"level\":2}",
    );
    check_content(
        &format!(" to=user<|message|>Say {}<|eot|>", call("x")),
        "",
        &format!("Say {}", call("x")),
    );
}

/// Checks the rows of the table that have no test of their own: a call in each, without a trace of its markers.
#[test]
fn other_families() {
    let json = r#"{"name": "lamp", "arguments": {"room": "hall"}}"#;
    let xml = "<function=lamp><parameter=room>hall</parameter></function>";
    let invoke = |space: &str| {
        format!(
            "<{space}invoke name=\"lamp\"><{space}parameter name=\"room\" string=\"true\">hall</{space}parameter></{space}invoke>"
        )
    };
    for text in [
        format!("[TOOL_CALL]\n{json}\n[/TOOL_CALL]"),
        format!("<function_call> {json}"),
        format!("<tool_calls>[{json}]</tool_calls>"),
        format!("<tool_calls>\n<tool_call>{json}</tool_call>\n</tool_calls>"),
        format!("<|action_start|><|plugin|>\n{json}<|action_end|>"),
        format!("<seed:think>So.</seed:think><seed:tool_call>\n{xml}\n</seed:tool_call>"),
        format!("<minimax:tool_call>\n{}\n</minimax:tool_call>", invoke("")),
        format!("<｜DSML｜function_calls>{}</｜DSML｜function_calls>", invoke("｜DSML｜")),
        format!("<｜DSML｜tool_calls>\n{}\n</｜DSML｜tool_calls>", invoke("｜DSML｜")),
        format!("<||DSML||tool_calls>{}</||DSML||tool_calls>", invoke("||DSML||")),
        format!("<function_calls>{}</function_calls>", invoke("")),
        invoke(""),
        r#"<|tools_prefix|>[{"lamp": {"room": "hall"}}]<|tools_suffix|>"#.to_owned(),
        "<|python_start|>[lamp(room=\"hall\")]<|python_end|>".to_owned(),
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.lamp:0<|tool_call_argument_begin|>{\"room\": \"hall\"}<|tool_call_end|><|tool_calls_section_end|>".to_owned(),
        format!("<tool_call>\n```json\n{json}\n```\n</tool_call>"),
        "<|channel|>commentary to=assistant.lamp json<|message|>{\"room\": \"hall\"}<|call|>".to_owned(),
    ] {
        let printed = printed(&text);
        let [call] = &printed.calls[..] else {
            panic!("{text}: {printed:?}");
        };
        let value: serde_json::Value = serde_json::from_str(&call.arguments).unwrap();
        assert_eq!(value, serde_json::json!({"room": "hall"}), "{text}");
        assert!(call.changes.is_empty(), "{text}: {}", call.changes);
        assert_eq!(printed.content.trim(), "", "{text}");
    }
}

/// Checks that a bare number keeps its digits where the schema wants a text.
#[test]
fn digits_of_texts_are_kept() {
    for (raw, json) in [
        ("007", "\"007\""),
        ("+4912", "\"+4912\""),
        ("00.50", "\"00.50\""),
    ] {
        check(
            &format!("<|tool_call_start|>[lamp(room={raw})]<|tool_call_end|>"),
            &format!("lfm2-pythonic lamp {{\"room\":{json}}}"),
        );
        check(
            &format!("<|tool_call>call:lamp{{room:{raw}}}<tool_call|>"),
            &format!("gemma4-call lamp {{\"room\":{json}}}"),
        );
    }
    check(
        "<|tool_call_start|>[lamp(level=007)]<|tool_call_end|>",
        "lfm2-pythonic lamp {\"level\":7}",
    );
}

#[test]
fn glm_tags_that_are_printed_twice() {
    for text in [
        "<tool_call>note<arg_key>text</arg_key></arg_key><arg_value>a</arg_value></tool_call>",
        "<tool_call>note</arg_value><arg_key>text</arg_key><arg_value>a</arg_value></tool_call>",
    ] {
        check(text, "glm-arg-kv note {\"text\":\"a\"}");
    }
}
