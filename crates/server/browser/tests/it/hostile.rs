//! Hostile arguments, as a browser shows them: HTML, scripts, a megabyte, marks that reverse text, control sequences.

use crate::{desk::Desk, driver::Browser, reads, room::until};
use serde_json::{Value, json};

/// Script that a page would run if one of the texts were more than text.
const PLANTED: &str = "document.title = 'planted'";

fn texts() -> Vec<String> {
    let markup = format!(
        "</textarea></td></table><b id=planted>x</b><img src=x onerror=\"{PLANTED}\"><svg onload=\"{PLANTED}\">"
    );
    vec![
        markup,
        format!("</script><script>{PLANTED}</script>"),
        format!("\" autofocus onfocus=\"{PLANTED}\" x=\"' onfocus='{PLANTED}' x='"),
        format!("javascript:{PLANTED}"),
        "{{7*7}} ${7*7} <!-- <![CDATA[ &lt;b&gt; &#60;".to_owned(),
        "\u{202e}fdp.live\u{202c} \u{2066}isolated \u{200f}\u{200b}hidden\u{feff} \u{e0041}"
            .to_owned(),
        "\u{1b}[2J\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}31m\u{8}\u{8}gone".to_owned(),
        // A run lets arguments of a megabyte through, and no longer ones.
        "w".repeat(999_000),
    ]
}

/// Elements that no page of the control room has of its own.
const FOREIGN: &str = "return document.querySelectorAll('#planted, main img, main svg, main script, iframe, [onfocus], [onerror], [autofocus]').length";

/// Text of the page beside its fields. `textContent` also has what is hidden.
const SEEN: &str = "const copy = document.body.cloneNode(true); copy.querySelectorAll('textarea').forEach((one) => one.remove()); return copy.textContent";

fn is_inert(browser: &Browser, what: &str) {
    assert_eq!(browser.run(FOREIGN), 0, "{what}");
    let title = browser.run("return document.title");
    assert!(
        title.as_str().unwrap().ends_with(" · Control room"),
        "{what}: {title}"
    );
    let seen = browser.run(SEEN);
    let unseen = seen.as_str().unwrap().chars().find(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    });
    assert_eq!(unseen, None, "{what}");
    let wide = "return document.documentElement.scrollWidth <= innerWidth ? '' : [...document.querySelectorAll('body *')]
        .filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 90)).join('\\n')";
    assert_eq!(browser.run(wide), "", "{what} is wider than the screen");
}

#[test]
fn hostile_arguments_are_text_and_stay_exactly_what_they_are() {
    let Some(browser) = Browser::start(380, 800, true) else {
        return;
    };
    browser.show(380, false);
    let texts = texts();
    // As a value, and as a name.
    let args = |text: &String| {
        let name: String = text.chars().take(200).collect();
        json!({"amount": 1, "to": text, name: 1}).to_string()
    };
    let desk = Desk::open(&texts.iter().map(args).collect::<Vec<_>>());
    let requests = desk.pending();
    browser.open(&desk.url);
    assert_eq!(browser.count(".card"), texts.len());
    is_inert(&browser, "the inbox");
    let (mut ids, mut open) = (desk.ids(), texts.len());
    for (text, request) in texts.iter().zip(&requests) {
        let what: String = text.chars().take(30).collect();
        browser.open(&desk.at(&format!("/runs/{}", request.run_id)));
        is_inert(&browser, &what);
        browser.open(&desk.at(&format!("/approvals/{}", request.id)));
        is_inert(&browser, &what);
        if text.len() > 1_000 {
            let shown = browser.run("return document.querySelector('pre.exact').textContent");
            assert!(shown.as_str().unwrap().contains(text), "all of it is shown");
        } else {
            browser.click(".editing summary");
            let field = "return document.querySelector(\"[name='argument.to']\").value";
            assert_eq!(browser.run(field), **text);
            is_inert(&browser, &what);
        }
        browser.click("button.approve");
        reads(&browser, "One request was approved.");
        assert_eq!(desk.answer(request), format!("paid 1 to {text}"));
        ids.remove(&request.id);
        open -= 1;
        until("the other requests", || (desk.ids() == ids).then_some(()));
        assert_eq!(ids.len(), open);
        browser.open(&desk.at(&format!("/runs/{}", request.run_id)));
        is_inert(&browser, &what);
    }
    browser.open(&desk.at("/audit"));
    is_inert(&browser, "the audit trail");
    assert_eq!(browser.complaints(), "[]", "nothing was tried in vain");
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn a_page_of_hostile_arguments_is_loaded_anew_by_what_another_page_decides() {
    let (Some(one), Some(two)) = (
        Browser::start(380, 800, true),
        Browser::start(1200, 900, true),
    ) else {
        return;
    };
    let args = |text: &String| json!({"amount": 1, "to": text}).to_string();
    let desk = Desk::open(&texts().iter().map(args).collect::<Vec<_>>());
    one.show(380, true);
    one.open(&desk.url);
    two.open(&desk.url);
    let count = desk.pending().len();
    assert_eq!(
        one.run("return document.querySelectorAll('.card').length"),
        Value::from(count)
    );
    two.click(".card button.deny");
    // The script of the page takes the new list in: it is as inert there.
    until("the decision", || {
        (one.count(".card") == count - 1).then_some(())
    });
    is_inert(&one, "the list that was taken in");
    assert_eq!(one.complaints(), "[]");
    assert_eq!(two.complaints(), "[]");
}
