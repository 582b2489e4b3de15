use super::*;
use crate::tool::ToolSet;

fn specs(tools: &[(&'static str, &'static str)]) -> Vec<ToolSpec> {
    let schema = json!({ "type": "object", "properties": { "milestone": {} } });
    let spec = |(name, text): &(&'static str, &'static str)| {
        ToolSpec::new(*name, *text, Effects::Reads, schema.clone())
    };
    tools.iter().map(spec).collect()
}

fn tracker() -> Vec<ToolSpec> {
    specs(&[
        ("tracker_create_issue", "Creates an issue."),
        ("tracker_close_issue", "Closes an issue."),
        ("tracker_list_users", "Lists the people of a project."),
        ("mailSend", "Sends a letter."),
        ("abrechnung", "开具发票"),
    ])
}

fn found(query: &str, of: &[ToolSpec]) -> Vec<String> {
    let specs: Vec<_> = of.iter().collect();
    let found = search(query, &specs).expect("a query with words");
    found.loaded.into_iter().map(|tool| tool.name).collect()
}

#[test]
fn words_of_names_count_more_than_those_of_descriptions() {
    let all = tracker();
    assert_eq!(
        found("close the issues, please", &all),
        ["tracker_close_issue"]
    );
    assert_eq!(
        found("issues", &all),
        ["tracker_create_issue", "tracker_close_issue"]
    );
    assert_eq!(found("people", &all), ["tracker_list_users"]);
    assert_eq!(found("send", &all), ["mailSend"], "camel case");
    assert_eq!(
        found("发票", &all),
        ["abrechnung"],
        "a script without spaces"
    );
    assert_eq!(found("milestones", &all).len(), 5, "the names of arguments");
}

#[test]
fn a_whole_name_comes_first() {
    let all = tracker();
    assert_eq!(found("`tracker_list_users`", &all), ["tracker_list_users"]);
    let both = found("tracker_list_users, TRACKER_CREATE_ISSUE", &all);
    assert_eq!(both, ["tracker_create_issue", "tracker_list_users"]);
}

#[test]
fn a_query_without_a_word_is_an_error_and_one_without_a_match_tells_the_names() {
    let all = tracker();
    let specs: Vec<_> = all.iter().collect();
    for nothing in ["", "  ", "the", "?!", "how do I"] {
        assert_eq!(
            search(nothing, &specs),
            Err(wording::NO_QUERY),
            "{nothing:?}"
        );
    }
    let none = search("weather", &specs).unwrap();
    assert!(none.loaded.is_empty());
    let note = none.note.unwrap();
    assert!(
        note.contains("`tracker_close_issue`") && note.contains("`mailSend`"),
        "{note}"
    );
}

#[test]
fn a_search_is_bounded_and_names_what_else_matches() {
    let names: Vec<&'static str> = (0..200)
        .map(|number| &*format!("hub_get_{number}").leak())
        .collect();
    let long = "word ".repeat(1_000).leak();
    let tools: Vec<_> = names.iter().map(|name| (*name, &*long)).collect();
    let all = specs(&tools);
    let refs: Vec<_> = all.iter().collect();
    let many = search("get", &refs).unwrap();
    let loaded: Vec<_> = many.loaded.iter().map(|tool| &*tool.name).collect();
    assert_eq!(loaded, names[..5], "equal matches stay in their order");
    let note = many.note.as_ref().unwrap();
    assert!(
        note.contains("`hub_get_5`") && note.contains("185 others"),
        "{note}"
    );
    assert!(serde_json::to_string(&many).unwrap().len() < 2_000);
    assert_eq!(listed(refs.iter().copied()), "200 tools `hub_*`");
}

#[test]
fn many_names_are_listed_as_groups() {
    let mut names: Vec<String> = (0..30).map(|number| format!("hub_{number}")).collect();
    names.extend((0..30).map(|number| format!("jira-{number}")));
    names.push("clock".into());
    names.extend((0..30).map(|number| format!("one{number}_alone")));
    let tools: Vec<_> = names
        .iter()
        .map(|name| (&*name.clone().leak(), ""))
        .collect();
    let all = specs(&tools);
    let text = listed(all.iter());
    assert!(
        text.starts_with("30 tools `hub_*`, 30 tools `jira-*`, `clock`, `one0_alone`"),
        "{text}"
    );
    assert!(text.ends_with(", 13 others"), "{text}");
}

#[test]
fn words_are_alike_up_to_an_ending() {
    for (word, own) in [("issue", "issues"), ("issues", "issue"), ("get", "get")] {
        assert!(is_like(word, own), "{word} {own}");
    }
    for (word, own) in [
        ("get", "gets"),
        ("pay", "payroll"),
        ("list", "listening"),
        ("a", "b"),
    ] {
        assert!(!is_like(word, own), "{word} {own}");
    }
    // Every sign is a character: nothing is cut within one.
    assert_eq!(shortened(&"é".repeat(300)).chars().count(), 201);
    assert!(ToolSet::new().with_search().is_empty());
}
