//! Tests of repairs that need no schema.

use crate::{ChangeKind, ReadErrorKind, lenient};

#[track_caller]
fn check(text: &str, want: &str) {
    let reading = lenient(text).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
    assert_eq!(reading.json, want, "{text}");
    assert!(!reading.changes.is_empty(), "{text}");
}

#[track_caller]
fn refused(text: &str, kind: ReadErrorKind) {
    let refusal = lenient(text)
        .map(|reading| reading.json.into_owned())
        .unwrap_err();
    assert_eq!(refusal.kind(), kind, "{text}: {refusal}");
}

#[test]
fn commas_and_colons() {
    check(r#"{"w": 1, "h": 2,}"#, r#"{"w":1,"h":2}"#);
    check(r#"[, "x",, "y", ]"#, r#"["x","y"]"#);
    check(r#"{"w": 1 "h": 2}"#, r#"{"w":1,"h":2}"#);
    check(
        "{\"w\": \"x\"\n\"h\": [\"y\" \"z\"]}",
        r#"{"w":"x","h":["y","z"]}"#,
    );
    check("[4 5 6]", "[4,5,6]");
    check(r#"{w = 1; h := 2}"#, r#"{"w":1,"h":2}"#);
    check(r#"{"w" => "x", "h" "y"}"#, r#"{"w":"x","h":"y"}"#);
    // Semicolons stand for commas where nobody counts with them.
    check(
        r#"{"w": ["x"; "y; z"]; "h": [{}; []]}"#,
        r#"{"w":["x","y; z"],"h":[{},[]]}"#,
    );
    check("{w: red; h: blue sky}", r#"{"w":"red","h":"blue sky"}"#);
    refused("[0; 5]", ReadErrorKind::Syntax);
}

#[test]
fn quotes() {
    check(
        r#"{'who': 'Zoë's cat', "n": `"1"`}"#,
        r#"{"who":"Zoë's cat","n":"\"1\""}"#,
    );
    check("{“who”: “Zoë”}", r#"{"who":"Zoë"}"#);
    check(
        r"{'at': 'C:\\it\'s', 'b': 'C:\its'}",
        r#"{"at":"C:\\it's","b":"C:\\its"}"#,
    );
    check("{`a`: `x`\n`b`: [`y` `z`]}", r#"{"a":"x","b":["y","z"]}"#);
    check(
        r#"{a: "x" b: "it's" c: 3}"#,
        r#"{"a":"x","b":"it's","c":3}"#,
    );
    check(
        r#"{"a": "a 5" pipe: steel", "b": 1}"#,
        r#"{"a":"a 5\" pipe: steel","b":1}"#,
    );
    check(
        r#"{"a": "say "hi" now: 3 times", "b": 1}"#,
        r#"{"a":"say \"hi\" now: 3 times","b":1}"#,
    );
    check(
        r#"{"a": "x", "b: [1], "c": 2}"#,
        r#"{"a":"x","b":[1],"c":2}"#,
    );
    check(
        "{\"a\": \"x\",\n \"b: 1,\n \"10:30\": \"y\"}",
        r#"{"a":"x","b":1,"10:30":"y"}"#,
    );
    check(r#"{"a":{"b":"x"}"c":1}"#, r#"{"a":{"b":"x"},"c":1}"#);
    check(
        r#"{"a": it is \"so\" there", "b": 1}"#,
        r#"{"a":"it is \"so\" there","b":1}"#,
    );
    check(r#"{"größe": "x", "name"#, r#"{"größe":"x"}"#);
    check(r#"{größe: "x", nam"#, r#"{"größe":"x"}"#);
    check(r#"{"a":"x","b"[1],"c"{}}"#, r#"{"a":"x","b":[1],"c":{}}"#);
    check(r#"{"a"true,"b"[1],"c"2}"#, r#"{"a":true,"b":[1],"c":2}"#);
    check(r#"{"a": []], "b": 1}"#, r#"{"a":[],"b":1}"#);
    check("{`who`: ``, `n`: [``]}", r#"{"who":"","n":[""]}"#);
    check("{´who´: «Zoë», ´´: ´¡´}", r#"{"who":"Zoë","":"¡"}"#);
    check("{´who´: ´¡Zoë!´}", r#"{"who":"¡Zoë!"}"#);
    check("[´é", r#"["é"]"#);
    check(
        r#"{who: Zoë Q, at: 10:30, url: https://x.test/a?b#c}"#,
        r#"{"who":"Zoë Q","at":"10:30","url":"https://x.test/a?b#c"}"#,
    );
    check(
        r#"{"say": "a "b" c", "n": 1}"#,
        r#"{"say":"a \"b\" c","n":1}"#,
    );
    check(
        r#"{"code": "if x == "y" { go("z"); }", "n": 1}"#,
        r#"{"code":"if x == \"y\" { go(\"z\"); }","n":1}"#,
    );
    check(
        r#"{"body": "{"id": 7, "ok": [1]}", "n": 1}"#,
        r#"{"body":"{\"id\": 7, \"ok\": [1]}","n":1}"#,
    );
    check(
        r#"{"city": "Oslo, "country": "NO"}"#,
        r#"{"city":"Oslo","country":"NO"}"#,
    );
    check(r#"[left", "right"]"#, r#"["left","right"]"#);
    check(r#"{"long": "one " + "two"}"#, r#"{"long":"one two"}"#);
    check(
        "{\"doc\": \"\"\"two\n\"lines\" here\"\"\"}",
        r#"{"doc":"two\n\"lines\" here"}"#,
    );
    refused(r#"["one, "two", "three"]"#, ReadErrorKind::Ambiguous);
}

#[test]
fn escapes() {
    check("{\"t\": \"a\tb\nc\"}", r#"{"t":"a\tb\nc"}"#);
    check(r#"{"re": "^\w+\.$"}"#, r#"{"re":"^\\w+\\.$"}"#);
    check(
        r#"{"dir": "D:\tools\Rust\new"}"#,
        r#"{"dir":"D:\\tools\\Rust\\new"}"#,
    );
    check(r#"{'t': 'don\'t \x41'}"#, r#"{"t":"don't A"}"#);
    check(r#"{\"t\": \"say \\\"hi\\\"\"}"#, r#"{"t":"say \"hi\""}"#);
    refused(r#"["\u12"]"#, ReadErrorKind::Syntax);
    refused("[\"\u{1}\"]", ReadErrorKind::Syntax);
}

#[test]
fn cut_off_texts() {
    check(r#"{"a": [1, {"b": "x"#, r#"{"a":[1,{"b":"x"}]}"#);
    check(r#"{"a": 1, "b"#, r#"{"a":1}"#);
    check(r#"{"a": 1, "#, r#"{"a":1}"#);
    check(r#"["unclosed]"#, r#"["unclosed"]"#);
    check(r#"{"src": "fn f() { g() }"#, r#"{"src":"fn f() { g() }"}"#);
    check("{\"t\": \"open\n```", r#"{"t":"open"}"#);
    refused(r#"{"a": 1, "b":"#, ReadErrorKind::Ambiguous);
}

#[test]
fn brackets() {
    check(r#"{"a": {"b": 1}}}"#, r#"{"a": {"b": 1}}"#);
    check(r#"{"a": [1, 2}, "b": 3}"#, r#"{"a":[1,2],"b":3}"#);
    check(r#"{"a": [1, 2}"#, r#"{"a":[1,2]}"#);
    check(r#"{"a": 1}, "b": 2}"#, r#"{"a":1,"b":2}"#);
    check(r#"{{"a": {{"b": 1}}}}"#, r#"{"a":{"b":1}}"#);
    check(r#"{"pair": (1, "x")}"#, r#"{"pair":[1,"x"]}"#);
    refused("{1, 2}", ReadErrorKind::Ambiguous);
}

#[test]
fn comments_literals_numbers() {
    check(
        "{ // one\n \"a\": 1, /* two */ \"b\": 2 # three\n}",
        r#"{"a":1,"b":2}"#,
    );
    check(
        "{'a': True, 'b': [None, FALSE], 'c': undefined}",
        r#"{"a":true,"b":[null,false],"c":null}"#,
    );
    check("[.5, 1_000, +3, 7.]", "[0.5,1000,3,7.0]");
    check("[1, 2, ...]", "[1,2]");
    for text in [
        "[007]",
        "[NaN]",
        "[0xFF]",
        "{\"n\": 1e+}",
        "[1.5., 2]",
        "[1e5.]",
    ] {
        refused(text, ReadErrorKind::Ambiguous);
    }
}

#[test]
fn numbers_keep_their_digits() {
    let digits = "9".repeat(400);
    check(
        &format!("[{digits}, -0.{digits}e9,]"),
        &format!("[{digits},-0.{digits}e9]"),
    );
}

#[test]
fn each_change_names_its_place() {
    let reading = lenient(r#"{"a": {"b": [1, 'x']}}"#).unwrap();
    let change = &reading.changes.0[0];
    assert_eq!(
        (change.kind, change.path.as_str()),
        (ChangeKind::Quotes, "a.b[1]")
    );
    assert_eq!(reading.changes.to_string(), "a.b[1]: quotes made double");
}
