//! Forms: everything that changes something is sent by one of these.

use crate::{failure::Failure, inert, posted::Slip, room::Visitor};
use axum::response::{Html, IntoResponse, Response};
use maud::{Markup, html};

/// Returns a form that changes something, with these fields and buttons in it. Enter in one of its fields decides
/// nothing: browsers press the first button of a form then. That one closes the dialog around the form, and there is none.
/// A button that is off is no such button: for Enter in a box, browsers pass it over.
pub(super) fn form(visitor: &Visitor, class: &str, action: &str, contents: &Markup) -> Markup {
    form_of_id(visitor, None, class, action, contents)
}

/// Returns such a form with an id, by which fields that stand elsewhere belong to it.
pub(super) fn form_of_id(
    visitor: &Visitor,
    id: Option<&str>,
    class: &str,
    action: &str,
    contents: &Markup,
) -> Markup {
    html! {
        form class=[(!class.is_empty()).then_some(class)] id=[id] method="post" action=(action) {
            button hidden formmethod="dialog" formnovalidate {}
            input type="hidden" name="token" value=(visitor.token);
            (contents)
        }
    }
}

/// Field of a form for text.
pub(super) struct Text<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) label: &'a str,
    /// Words that follow the label, and say what the field is for.
    pub(super) hint: &'a str,
    pub(super) is_required: bool,
    /// Largest number of characters.
    pub(super) most: Option<u32>,
}

impl Text<'_> {
    /// Returns the field as a line, with its label. After a `slip` it has what was typed.
    pub(super) fn line(&self, slip: Option<&Slip>) -> Markup {
        let Text { id, name, .. } = self;
        let wrong = Wrong::at(slip, id, name);
        html! {
            (self.label())
            input id=(id) type="text" name=(name) value=[slip.and_then(|slip| slip.typed(name))]
                required[self.is_required] autocomplete="off" maxlength=[self.most]
                aria-invalid=[wrong.is_wrong()] aria-describedby=[wrong.id()] autofocus[wrong.is_some()];
            (wrong.told())
        }
    }

    /// Returns the field as several lines, with its label. It begins with `text`, and after a `slip` with what was typed.
    pub(super) fn lines(&self, rows: u32, text: &str, slip: Option<&Slip>) -> Markup {
        let Text { id, name, .. } = self;
        let wrong = Wrong::at(slip, id, name);
        html! {
            (self.label())
            textarea id=(id) name=(name) rows=(rows) spellcheck="false" required[self.is_required] maxlength=[self.most]
                aria-invalid=[wrong.is_wrong()] aria-describedby=[wrong.id()] autofocus[wrong.is_some()] {
                "\n" (slip.and_then(|slip| slip.typed(name)).unwrap_or(text))
            }
            (wrong.told())
        }
    }

    fn label(&self) -> Markup {
        html! {
            label for=(self.id) { (self.label) @if !self.hint.is_empty() { " " small { (self.hint) } } }
        }
    }
}

/// Reason why a field of a form was refused, if it was.
pub(super) struct Wrong<'a> {
    id: String,
    why: Option<&'a str>,
}

impl<'a> Wrong<'a> {
    pub(super) fn at(slip: Option<&'a Slip>, id: &str, name: &str) -> Self {
        Wrong {
            id: format!("wrong-{id}"),
            why: slip.and_then(|slip| slip.at(name)),
        }
    }

    pub(super) fn is_some(&self) -> bool {
        self.why.is_some()
    }

    /// Returns the value of the attribute `aria-invalid`.
    pub(super) fn is_wrong(&self) -> Option<&'static str> {
        self.why.map(|_| "true")
    }

    /// Returns the id of the element that says what is wrong.
    pub(super) fn id(&self) -> Option<&str> {
        self.why.map(|_| &*self.id)
    }

    pub(super) fn told(&self) -> Markup {
        html! {
            @if let Some(why) = self.why { p.wrong id=(self.id) { (inert::text(why)) "." } }
        }
    }
}

/// Returns a button that asks once more: it shows what would happen, and beside it the button that does it. It needs no
/// script.
pub(super) fn asks_first(name: &str, class: &str, what: &Markup, button: &Markup) -> Markup {
    html! {
        details.confirm {
            summary.(class) {
                span.closed { (name) "…" }
                span.open { "Back" }
            }
            div.what { (what) (button) }
        }
    }
}

/// Returns the response that shows a page. After a slip, the page has the form in which it can be mended; if there is no
/// such page, the response tells of the slip alone.
pub(super) fn answer(
    visitor: &Visitor,
    slip: Option<&Slip>,
    page: Result<Html<String>, Failure>,
) -> Response {
    match (page, slip) {
        (Ok(page), None) => page.into_response(),
        (Ok(page), Some(slip)) => (slip.failure.status, page).into_response(),
        (Err(failure), None) => failure.page(visitor),
        (Err(_), Some(slip)) => slip.failure.clone().page(visitor),
    }
}
