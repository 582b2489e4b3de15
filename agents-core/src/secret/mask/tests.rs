use super::{Masker, Stream};
use crate::Json;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

fn knowing(secrets: &[(&str, &str)]) -> Arc<Masker> {
    let masker = Masker::new();
    for (name, value) in secrets {
        masker.learn(name, &(*value).into()).unwrap();
    }
    masker
}

/// Returns bytes in base64, as an encoder with this alphabet writes them.
fn base64(bytes: &[u8], alphabet: &[u8; 64], padded: bool) -> String {
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| {
            bits << 8 | u32::from(*group.get(at).unwrap_or(&0))
        });
        for at in 0..=group.len() {
            out.push(char::from(alphabet[(bits >> (18 - 6 * at) & 63) as usize]));
        }
        if padded {
            out.push_str(&"=".repeat(3 - group.len()));
        }
    }
    out
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Returns a secret's value in every spelling in which a masker has to find it.
fn spellings(value: &str) -> Vec<String> {
    let json = Value::from(value).to_string();
    let json = json[1..json.len() - 1].to_owned();
    let twice = Value::from(json.as_str()).to_string();
    let percent = |keep: &dyn Fn(u8) -> bool, code: &dyn Fn(u8) -> String| -> String {
        value
            .bytes()
            .map(|byte| match keep(byte) {
                true => char::from(byte).to_string(),
                false => code(byte),
            })
            .collect()
    };
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let upper = |byte: u8| format!("%{byte:02X}");
    let lower = |byte: u8| format!("%{byte:02x}");
    let mut all = vec![
        value.to_owned(),
        json,
        twice[1..twice.len() - 1].to_owned(),
        format!("{value:?}"),
        percent(&unreserved, &upper),
        percent(&unreserved, &lower),
        percent(&unreserved, &upper).replace("%20", "+"),
        percent(&|_| false, &upper),
    ];
    for before in ["", "u", "u:", "user:"] {
        for after in ["", "\n", "!?"] {
            for alphabet in [STANDARD, URL_SAFE] {
                for padded in [true, false] {
                    let bytes = format!("{before}{value}{after}");
                    all.push(base64(bytes.as_bytes(), alphabet, padded));
                }
            }
        }
    }
    all
}

fn is_hidden(masked: &str) -> bool {
    ["[secret:k]", "[secret]", "[***]"]
        .iter()
        .any(|instead| masked.contains(instead))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_spelling_of_a_secret_is_left(value in r#"[ -~é😀\n\t]{4,40}"#, around in r"[ a-z]{0,9}") {
        prop_assume!(value.trim().chars().count() >= 4);
        let masker = knowing(&[("k", &value)]);
        for spelled in spellings(&value) {
            let text = format!("{around}{spelled}{around}");
            let masked = masker.text(&text);
            prop_assert!(is_hidden(&masked), "{spelled:?} of {value:?} in {masked:?}");
        }
    }

    #[test]
    fn json_stays_json_and_loses_the_secret(value in r#"[ -~é\n]{4,12}"#, other in r#"[ -~é\n]{0,12}"#) {
        prop_assume!(value.trim().chars().count() >= 4);
        let masker = knowing(&[("k", &value)]);
        let json = Json::of(&json!({ &value: [other, format!("{other}{value}{other}"), 7, {"a": value}] })).unwrap();
        let masked = masker.json(&json);
        prop_assert!(Json::parse(masked.as_str()).is_ok(), "{masked}");
        prop_assert_eq!(&masker.json(&masked), &masked, "twice is once");
        prop_assert!(!masked.to_value().unwrap().to_string().contains(&value) , "{masked}");
    }

    #[test]
    fn what_holds_no_secret_is_left_alone(text in r#"[a-m %+\\"]{0,60}"#) {
        let masker = knowing(&[("k", "xyzzy-9"), ("l", "0000-0000")]);
        prop_assert_eq!(&*masker.text(&text), &text);
        let json = Json::string(&text);
        prop_assert_eq!(masker.json(&json), json);
    }

    #[test]
    fn quotation_marks_and_backslashes_hide_none(
        value in r#"[ac"\\]{4,6}"#, text in r#"[ac"\\]{0,40}"#, levels in 0..3usize,
    ) {
        let mut text = format!("{text}{value}");
        for _ in 0..levels {
            text = Value::from(text).to_string();
        }
        prop_assert!(knowing(&[("k", &value)]).is_in(&text), "{value:?} in {text}");
    }

    #[test]
    fn text_that_an_escape_joins_is_found(escaped in r#"[ac"\\]{4,40}"#) {
        // No escape begins with `\\a` or `\\c`.
        let mut plain = String::new();
        let mut rest = escaped.chars();
        while let Some(c) = rest.next() {
            let next = rest.clone().next();
            match (c, next) {
                ('\\', Some(next @ ('"' | '\\'))) => {
                    plain.push(next);
                    rest.next();
                }
                _ => plain.push(c),
            }
        }
        let middle: String = plain.chars().skip(plain.len() / 3).take(5).collect();
        prop_assume!(middle.len() > 3);
        prop_assert!(knowing(&[("k", &middle)]).is_in(&escaped), "{middle:?} in {escaped}");
    }

    #[test]
    fn pieces_are_masked_as_the_whole_is(
        before in r"[ -~]{0,20}", after in r"[ -~]{0,20}", cuts in prop::collection::vec(0..60usize, 0..6),
    ) {
        let masker = knowing(&[("k", "hunter/2 secret")]);
        for spelled in ["hunter/2 secret", "hunter%2F2+secret", r"hunter\/2 secret", "aHVudGVyLzIgc2VjcmV0"] {
            // An escape behind base64 may be a character of it, which is masked in the whole text alone.
            let end = if spelled.starts_with("aHV") { " " } else { "" };
            let text = format!("{before}{spelled}{end}{after}");
            let mut stream = Stream::new(&masker);
            let (mut shown, mut rest) = (String::new(), text.as_str());
            for cut in &cuts {
                let (piece, more) = rest.split_at((*cut).min(rest.len()));
                shown.push_str(&stream.push(piece.to_owned()));
                rest = more;
            }
            shown.push_str(&stream.push(rest.to_owned()));
            shown.push_str(&stream.finish());
            prop_assert_eq!(&shown, &*masker.text(&text));
        }
    }
}

proptest! {
    // Each secret is cut in hundreds of places.
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn wherever_one_is_cut_only_a_few_characters_are_left(value in r#"[!-~é😀\n]{4,20}"#, around in r"[ a-z]{0,9}") {
        prop_assume!(value.trim().chars().count() >= 4);
        let masker = knowing(&[("k", &value)]);
        let few: String = value.chars().take(4).collect();
        for (spelled, few) in spellings(&value).iter().zip(spellings(&few)) {
            for (cut, _) in spelled.char_indices().filter(|(at, _)| *at >= few.len()) {
                for text in [
                    format!("{around}{}…{around}", &spelled[..cut]),
                    format!("{around}{}… ({cut} bytes in all)", &spelled[..cut]),
                    format!("{around}{} …", &spelled[..cut]),
                ] {
                    let masked = masker.text(&text);
                    prop_assert!(is_hidden(&masked), "{value:?} in {masked:?}");
                }
            }
        }
    }
}

#[test]
fn the_beginning_of_one_that_was_cut_within_an_escape() {
    let masker = knowing(&[("k", "hunt/😀\n22")]);
    for cut in [
        "hunt%2…",
        "hunt%25…",
        "hunt%252…",
        "hunt%25252…",
        "hunt%2F%F0%9F…",
        r"hunt\\/\ud83…",
        r"hunt/\\\\ud83d\\\\ude…",
        r"hunt\/\ud83d\u…",
        r"hunt/\u{1f60…",
        r"hunt/😀\\\…",
    ] {
        let masked = masker.text(cut);
        assert!(masked.starts_with("[secret:k]"), "{cut} was {masked}");
    }
}

#[test]
fn on_one_line_it_is_hidden_as_on_several() {
    let key = "-----BEGIN KEY-----\nAAAA\nBBBB\n-----END KEY-----\n";
    let masker = knowing(&[("pem", key), ("first", "\tabc\td")]);
    assert_eq!(
        masker.text(&format!("it is {}", key.replace('\n', " "))),
        "it is [secret:pem]"
    );
    assert_eq!(masker.text("an abc d"), "an[secret:first]");
    assert_eq!(masker.text("BEGIN KEY AAAA"), "BEGIN KEY AAAA");
}

#[test]
fn without_secrets_nothing_is_copied() {
    let masker = Masker::new();
    let text = String::from("anything");
    assert!(
        matches!(masker.text(&text), std::borrow::Cow::Borrowed(same) if std::ptr::eq(same, text.as_str()))
    );
    assert!(masker.is_empty());
}

#[test]
fn numbers_that_are_a_secret_are_hidden() {
    let masker = knowing(&[("pin", "12345678")]);
    let json = Json::parse(r#"{"pin": 12345678, "n": 1234, "s": "12345678"}"#).unwrap();
    assert_eq!(
        masker.json(&json).as_str(),
        r#"{"pin": "[secret:pin]", "n": 1234, "s": "[secret:pin]"}"#
    );
}

#[test]
fn escapes_stay_whole() {
    let masker = knowing(&[("k", "nabc")]);
    let json = Json::parse(r#""line\nabc""#).unwrap();
    assert_eq!(masker.json(&json), json);
}

#[test]
fn too_short_to_be_hidden() {
    for value in ["", "abc", " abc \n", "é€ß"] {
        let error = Masker::new().learn("pin", &value.into()).unwrap_err();
        assert!(error.to_string().contains("fewer than 4"), "{error}");
    }
}

#[test]
fn a_word_of_the_format_does_not_hide_the_rest() {
    use crate::model::Message;
    let masker = knowing(&[("role", "system"), ("key", "hunter22")]);
    let message = Message::System {
        content: "hunter22 of the system".into(),
    };
    let masked = masker.data(message);
    assert_eq!(
        masked,
        Message::System {
            content: "[secret:key] of the system".into()
        }
    );
}

#[test]
fn the_placeholder_does_not_give_it_away() {
    assert_eq!(
        knowing(&[("hunter22", "hunter22")]).text("hunter22"),
        "[secret]"
    );
    assert_eq!(knowing(&[("word", "secret")]).text("a secret"), "a [***]");
}

#[test]
fn data_is_looked_at_in_all_its_parts() {
    let masker = knowing(&[("crm", "hunter\"22"), ("pin", "12345678")]);
    let hidden = |value: Value| masker.data(value).to_string();
    for value in [
        json!("a hunter\"22"),
        json!([[], [null, true, "hunter%2222"]]),
        json!({ "a": { "hunter\"22": 1 } }),
        json!({ "a": 12345678 }),
    ] {
        let hidden = hidden(value);
        assert!(hidden.contains("[secret:"), "{hidden}");
        assert!(
            !hidden.contains("22") && !hidden.contains("5678"),
            "{hidden}"
        );
    }
    // JSON text within data stays text.
    let kept = masker.data(vec![Json::string("hunter\"22"), Json::string("a fox")]);
    assert_eq!(kept[0].as_str(), r#""[secret:crm]""#);
    assert_eq!(kept[1].as_str(), r#""a fox""#);
}

#[test]
fn encodings_within_encodings_are_found() {
    let value = r#"p/w "1" of the crm"#;
    let masker = knowing(&[("k", value)]);
    let base64 = |text: &str| base64(text.as_bytes(), STANDARD, true);
    let percent = |text: &str| -> String {
        let bytes = text.bytes();
        bytes.map(|byte| format!("%{byte:02X}")).collect()
    };
    let json = |text: &str| Value::from(text).to_string();
    let wrapped = |text: &str| {
        let lines = text.as_bytes().chunks(76);
        let lines = lines.map(|line| format!("{}\r\n", String::from_utf8_lossy(line)));
        lines.collect::<String>()
    };
    let long = format!("{}{value}", "a".repeat(70));
    for text in [
        base64(&percent(value)),
        base64(&base64(value)),
        percent(&percent(value)),
        percent(&json(value)),
        json(&percent(value)),
        base64(&json(value)),
        json(&json(&json(value))),
        percent(&base64(value)),
        json(&percent(&base64(&format!("user:{value}")))),
        base64(&json(&base64(&format!("user:{value}")))),
        wrapped(&base64(&long)),
        json(&wrapped(&base64(&long))),
    ] {
        assert!(is_hidden(&masker.text(&text)), "{text}");
    }
}

#[test]
fn a_secret_in_a_long_text_is_found_at_any_place() {
    let masker = knowing(&[("k", "hunter/2")]);
    for before in [0, (1 << 18) - 4, 1 << 18, 700_000] {
        for spelled in ["hunter/2", r"hunter\/2", "aHVudGVyLzI="] {
            let text = format!(
                "{} {spelled} {}",
                " é".repeat(before / 3),
                "-".repeat(before)
            );
            let expected = text.replace(spelled, "[secret:k]");
            assert!(masker.text(&text) == expected, "{before} {spelled}");
        }
    }
}

#[test]
fn text_that_nearly_holds_a_secret_everywhere_is_left_alone() {
    let masker = knowing(&[("k", "aaaaaaaaaaaaaaaab"), ("l", "%25%25%25%25%41")]);
    let text = "a".repeat(1 << 20) + &"%25".repeat(1 << 16) + &"\\".repeat(1 << 16);
    assert_eq!(masker.text(&text), text);
}
