use super::*;
use serde_json::json;

fn found(value: Value, within: &Value) -> Option<Found> {
    find(&value, within)
}

fn is_said(value: Value, text: &str) -> bool {
    found(value, &json!(text)).is_some()
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
        assert_eq!(found(whole.clone(), &output), Some(Found::Whole), "{whole}");
    }
    assert_eq!(found(json!("B-9"), &output), Some(Found::InText));
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
    assert!(is_said(json!("New York"), "from  new\tyork to Rome"));
    assert!(is_said(json!("東京"), "「東京」"));
}

#[test]
fn a_long_value_is_found_in_groups() {
    let iban = json!("DE89370400440532013000");
    for text in [
        "DE89370400440532013000",
        "to DE89 3704 0044 0532 0130 00, please",
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
        "DE89 3704 0044 0532 0130 001",
        "XDE89 3704 0044 0532 0130 00",
        "DE89 3704, 0044 0532 0130 00",
    ] {
        assert!(!is_said(iban.clone(), text), "{text}");
    }
    // A short value may be two others side by side.
    assert!(!is_said(json!("1617"), "rooms 16 17"));
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
