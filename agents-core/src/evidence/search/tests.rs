use super::*;
use serde_json::json;

fn found(value: Value, within: &Value) -> Option<Place> {
    let matches = find(&value, within);
    let whole = matches.iter().find(|one| one.found == Place::Whole);
    whole.or(matches.first()).map(|one| one.found)
}

fn is_said(value: Value, text: &str) -> bool {
    found(value, &json!(text)).is_some()
}

/// Returns the spellings in which a text has a value, its own included.
fn spelled(value: &str, text: &str) -> Vec<String> {
    let matches = find(&json!(value), &json!(text));
    let spellings = matches
        .into_iter()
        .map(|one| one.spelling.unwrap_or_else(|| value.to_owned()));
    let mut spellings: Vec<_> = spellings.collect();
    spellings.sort();
    spellings.dedup();
    spellings
}

#[test]
fn values_of_an_output_are_found_by_value() {
    let output = json!({
        "orders": [{ "id": "A-17", "cents": 4200, "rate": 1.50, "open": true }],
        "note": "see B-9",
    });
    for whole in [
        json!("A-17"),
        json!("a-17"),
        json!(4200),
        json!("4200"),
        json!(1.5),
        json!(4200.0),
    ] {
        assert_eq!(found(whole.clone(), &output), Some(Place::Whole), "{whole}");
    }
    assert_eq!(found(json!("B-9"), &output), Some(Place::InText));
    // Keys are no values; a part of a value is none either.
    for unknown in [
        json!("id"),
        json!("orders"),
        json!("A-1"),
        json!(42),
        json!("17"),
        json!(""),
    ] {
        assert_eq!(found(unknown.clone(), &output), None, "{unknown}");
    }
}

#[test]
fn a_token_of_a_text_is_found_as_a_whole() {
    for text in [
        "A-17",
        "refund A-17, please",
        "order:A-17.",
        "(a-17)",
        "the order A-17?",
        "orders/A-17/items",
        "#A-17",
        "„A-17“",
        "A-17\nand more",
        "is it A-17-",
    ] {
        assert!(is_said(json!("A-17"), text), "{text}");
    }
    for text in [
        "A-171", "AA-17", "A-17-B", "X-A-17", "A-17.5", "A-17_2", "A17", "A- 17", "A 17", "",
        "A-17é",
    ] {
        assert!(!is_said(json!("A-17"), text), "{text}");
    }
    assert!(is_said(
        json!("ada@example.com"),
        "write to Ada@Example.com."
    ));
    assert!(!is_said(json!("example.com"), "write to ada@example.com"));
    assert!(!is_said(
        json!("da@example.com"),
        "write to ada@example.com"
    ));
    assert!(is_said(json!("New York"), "from new york to Rome"));
    // Two columns of a table are no words of one name.
    assert!(!is_said(json!("New York"), "from  new\tyork to Rome"));
    assert!(!is_said(json!("New York"), "the new  york"));
    assert!(!is_said(json!("New York"), "the new\nyork"));
    assert!(is_said(json!("東京"), "「東京」"));
}

#[test]
fn an_account_is_found_in_groups_of_four() {
    let iban = json!("DE89370400440532013000");
    for text in [
        "DE89370400440532013000",
        "to DE89 3704 0044 0532 0130 00, please",
        "to DE89 3704 0044 0532 0130 00 4200 cents",
        "DE89 3704 0044 0532 0130 00 42",
        "de89-3704-0044-0532-0130-00",
    ] {
        assert!(is_said(iban.clone(), text), "{text}");
    }
    assert!(is_said(
        json!("DE89 3704 0044 0532 0130 00"),
        "to DE89370400440532013000"
    ));
    for text in [
        "DE89 3704 0044 0532 0130",
        "DE89 3704 0044 0532 0130 01",
        "XDE89 3704 0044 0532 0130 00",
        "DE89 3704, 0044 0532 0130 00",
        "DE893 704 0044 0532 0130 00",
        "DE89 37040044 0532 0130 00",
        "DE89 3704  0044 0532 0130 00",
        "DE89-3704 0044 0532 0130 00",
    ] {
        assert!(!is_said(iban.clone(), text), "{text}");
    }
    // Its parts are no values.
    for part in ["3704", "DE89", "DE89 3704 0044", "00"] {
        assert!(
            !is_said(json!(part), "to DE89 3704 0044 0532 0130 00"),
            "{part}"
        );
    }
    // A field that holds nothing but the account says so by itself.
    assert!(is_said(json!("DE12345678901234"), "DE12 3456 7890 1234"));
}

#[test]
fn what_stands_apart_is_not_joined() {
    for (value, text) in [
        ("DE12345678904200", "Pay DE1234567890 4200"),
        ("DE12345678904200", "Pay DE12 3456 7890 4200 now"),
        ("DE1234567890", "Pay DE12 3456 7890 4200 now"),
        ("1000200030004000", "Move 4200 from 10002000 30004000"),
        ("paymeback4200", "please pay me back 4200"),
        ("annabella", "Anna Bella"),
        ("AnnaBella", "Anna-Bella"),
        ("Anna-Bella", "Anna Bella"),
        ("1617", "rooms 16 17"),
        ("A-17B", "A-17 B"),
        ("2026", "On 2026-11-28 pay"),
        ("28", "on 11/28/2026"),
        ("30", "at 12:30"),
        ("200", "4 200 cents"),
        ("4", "4 200 cents"),
    ] {
        assert!(!is_said(json!(value), text), "{value} of {text}");
    }
}

#[test]
fn the_spelling_is_that_of_the_evidence() {
    for (value, text, spelling) in [
        ("anna bella", "for Anna Bella, please", "Anna Bella"),
        ("ACME-\u{212a}", "pay ACME-K", "ACME-K"),
        ("New\nYork", "to New York", "New York"),
        ("new york", " New\u{a0}York ", "New\u{a0}York"),
        ("a-17", "refund A-17", "A-17"),
        (
            "de89370400440532013000",
            "to DE89 3704 0044 0532 0130 00",
            "DE89370400440532013000",
        ),
        (
            "DE89-3704-0044-0532-0130-00",
            "to DE89370400440532013000",
            "DE89370400440532013000",
        ),
    ] {
        assert_eq!(spelled(value, text), [spelling], "{value:?} of {text:?}");
    }
    assert_eq!(spelled("anna", "Anna met ANNA"), ["ANNA", "Anna"]);
    assert_eq!(
        find(&json!("4200.0"), &json!(4200))[0].spelling.as_deref(),
        Some("4200")
    );
}

#[test]
fn numbers_are_found_in_their_usual_notations() {
    for text in [
        "1234.5",
        "1,234.50",
        "1.234,5",
        "1'234.5",
        "1_234.5",
        "it is 1,234.5 EUR",
        "€1234.5",
        "1234.50kg",
    ] {
        assert!(is_said(json!(1234.5), text), "{text}");
    }
    for text in [
        "12345", "11234.5", "-1234.5", "1234.51", "v1234.5", "A-1234.5", "12,34.5",
    ] {
        assert!(!is_said(json!(1234.5), text), "{text}");
    }
    assert!(is_said(json!(-5), "it is -5 today"));
    assert!(!is_said(json!(5), "it is -5 today"));
    assert!(!is_said(json!(17), "A-17"));
    assert!(is_said(json!(17), "no. 17."));
    assert!(is_said(
        json!(9_007_199_254_740_993_u64),
        "9007199254740993"
    ));
    assert!(!is_said(
        json!(9_007_199_254_740_992_u64),
        "9007199254740993"
    ));
}

#[test]
fn a_number_is_a_whole_number() {
    for (number, text) in [
        (4200, "4 200 cents"),
        (4200, "4\u{202f}200 cents"),
        (1_234_567, "1 234 567"),
        (250_000, "250 000 EUR"),
        (250_500, "250 500 EUR"),
        (250_500, "€250 500"),
        (4200, "pay 4 200."),
        (4200, "in room 2026 pay 4200"),
        (4200, "42e2"),
        (3, "a 3-night stay"),
        (5, "5kg"),
        (5, "'5'"),
        (28, "28 euros"),
        (40, "On 2026-11-28 pay 40"),
        (40, "You may 40"),
        (10_002_000, "from 10002000 30004000"),
        (200, "order A-17 200 cents"),
    ] {
        assert!(is_said(json!(number), text), "{number} of {text}");
    }
    for (number, text) in [
        (200, "4 200 cents"),
        (4, "4 200 cents"),
        (234, "1 234 567"),
        (250, "250 000"),
        (0, "250 000"),
        (250, "250 500"),
        (250_500, "rooms 250 500"),
        (4200, "3 4 200"),
        (4_200_300, "4 200 300 12"),
        (2026, "On 2026-11-28 pay"),
        (28, "On 2026-11-28 pay"),
        (11, "11/28/2026"),
        (28, "28.11.2026"),
        (12, "12:30"),
        (30, "12:30"),
        (42, "42e2"),
        (2, "42e2"),
        (10, "10-20"),
        (28, "28 November 2026"),
        (2026, "28 November 2026"),
        (28, "the 28th of November"),
        (28, "Nov 28, 2026"),
        (2026, "Nov 28, 2026"),
        (5, "5k"),
        (5, "5 million"),
        (5, "at 5 pm"),
        (5, "at 5pm"),
        (17, "17-B"),
        (17, "17@example.com"),
        (0, "0x1F"),
        (1, "1.2.3"),
        (12_345_678, "12345,678"),
    ] {
        assert!(!is_said(json!(number), text), "{number} of {text}");
    }
}

#[test]
fn claims_are_compared_field_by_field() {
    let input = Json::parse(r#"{"order": "A-17", "cents": 42, "to": {"name": "Ada"}}"#).unwrap();
    for claimed in [
        json!({}),
        json!(true),
        json!({ "order": "A-17" }),
        json!({ "cents": 42.0, "note": null }),
        json!({ "to": { "name": "Ada" } }),
    ] {
        assert!(has_fields(&input, &claimed), "{claimed}");
    }
    for claimed in [
        json!({ "order": "A-18" }),
        json!({ "order": "a-17" }),
        json!({ "order": "A-17", "extra": 1 }),
        json!({ "to": {} }),
    ] {
        assert!(!has_fields(&input, &claimed), "{claimed}");
    }
}

mod laws {
    use super::*;
    use proptest::prelude::*;

    fn word() -> impl Strategy<Value = String> {
        proptest::string::string_regex(
            "[A-Za-z0-9]{1,9}|[A-Z]{1,3}-[0-9]{1,4}|[A-Z]{2}[0-9]{2,20}|[0-9]{1,5}",
        )
        .expect("a regular expression")
    }

    fn gap() -> impl Strategy<Value = &'static str> {
        prop_oneof![
            4 => Just(" "),
            1 => Just("-"),
            1 => Just("  "),
            1 => Just("\n"),
            1 => Just(", "),
            1 => Just(": "),
            1 => Just("\u{a0}"),
            1 => Just("/"),
            1 => Just("."),
        ]
    }

    /// Texts of words, and the words.
    fn text() -> impl Strategy<Value = (String, Vec<String>)> {
        proptest::collection::vec((word(), gap()), 1..7).prop_map(|parts| {
            let text = parts
                .iter()
                .map(|(word, gap)| format!("{word}{gap}"))
                .collect();
            (text, parts.into_iter().map(|(word, _)| word).collect())
        })
    }

    proptest! {
        /// Words that stand apart never vouch for one word, unless the text has it, or they are an account or a number
        /// in groups.
        #[test]
        fn no_two_words_are_joined((text, words) in text(), from in 0_usize..6, count in 2_usize..5) {
            let from = from % words.len();
            let part = &words[from..words.len().min(from + count)];
            let joined = part.concat();
            if part.len() > 1 && is_said(json!(joined), &text) {
                let plain: String = text.split([' ', '-', '\u{a0}']).collect();
                let is_one = text.to_lowercase().contains(&joined.to_lowercase());
                let is_account = iban::is_valid(&joined);
                let is_number = part[1..].iter().all(|group| group.len() == 3)
                    && joined.bytes().all(|byte| byte.is_ascii_digit())
                    && plain.contains(&joined);
                prop_assert!(is_one || is_account || is_number, "{joined} of {text:?}");
            }
        }

        /// A spelling that was found is found again as it is: the replacement is the end.
        #[test]
        fn a_spelling_of_the_evidence_is_its_own((text, words) in text(), at in 0_usize..6) {
            let word = words[at % words.len()].to_lowercase();
            for one in find(&json!(word), &json!(text)) {
                let spelling = one.spelling.unwrap_or(word.clone());
                let again = find(&json!(spelling), &json!(text));
                prop_assert!(again.iter().any(|one| one.spelling.is_none()), "{spelling:?} of {text:?}");
            }
        }

        /// A spelling of a value in a text is in the text as it is, or is an account or a number without its gaps.
        #[test]
        fn a_spelling_is_in_the_text((text, words) in text(), from in 0_usize..6, count in 1_usize..4) {
            let from = from % words.len();
            let value = words[from..words.len().min(from + count)].join(" ").to_lowercase();
            for spelling in spelled(&value, &text) {
                let gapless: String = text.chars().filter(|c| !iban::is_gap(*c)).collect();
                prop_assert!(text.contains(&spelling) || gapless.contains(&spelling), "{spelling:?} of {text:?}");
            }
        }

        /// A number in groups of three is one number, and none of its groups is.
        #[test]
        fn groups_of_three_are_one_number(first in 1_u32..100, rest in proptest::collection::vec(0_u32..1000, 1..3)) {
            let groups: String = rest.iter().map(|group| format!(" {group:03}")).collect();
            let text = format!("pay {first}{groups} now");
            let number = rest.iter().fold(u64::from(first), |all, group| all * 1000 + u64::from(*group));
            prop_assert!(is_said(json!(number), &text), "{text}");
            prop_assert!(!is_said(json!(first), &text), "{text}");
            for group in rest {
                prop_assert!(!is_said(json!(group), &text), "{group} of {text}");
            }
        }

        /// A part of a date or a time is no number.
        #[test]
        fn dates_and_times_have_no_numbers(year in 1900_u32..2100, month in 1_u32..13, day in 1_u32..29, hour in 0_u32..24, minute in 0_u32..60) {
            let texts = [
                format!("on {year}-{month:02}-{day:02} at {hour:02}:{minute:02}"),
                format!("on {day:02}.{month:02}.{year}"),
                format!("on {month}/{day}/{year}, {hour}:{minute:02}"),
                format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z"),
            ];
            for text in texts {
                for number in [year, month, day, hour, minute] {
                    prop_assert!(!is_said(json!(number), &text), "{number} of {text}");
                }
            }
        }
    }
}
