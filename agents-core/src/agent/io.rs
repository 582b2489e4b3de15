//! Typed edges of an agent: its input, and the message that a model gets for it.

use crate::{
    Json,
    media::{collect, is_reference},
    model::Content,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{any::Any, path::PathBuf};

/// Bound on everything that enters or leaves an agent: data that can be stored and read back.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Agent, agent::Data};
///
/// // Code about any agent says what goes in and out with this one bound.
/// async fn each<I: Data, A: Agent<In = I>>(agent: &A, inputs: Vec<I>) -> Vec<Result<A::Out, agents::Error>> {
///     let mut answers = Vec::new();
///     for input in inputs {
///         answers.push(agent.run(input).await);
///     }
///     answers
/// }
/// # let _ = each::<String, agents::agent::ModelAgent<'_, String, u32>>;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot go into an agent or come out of one",
    label = "not data that can be stored",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it, and own what it holds: a run that is put down has to be picked up again"
)]
pub trait Data: Serialize + DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> Data for T {}

/// Conversion into an agent's input `T`: from `T` itself, and from `&str` for a `String` or a
/// `PathBuf`.
#[diagnostic::on_unimplemented(
    message = "an agent that takes `{T}` cannot be given `{Self}`",
    label = "this is `{Self}`, and the agent takes `{T}`",
    note = "give it a `{T}`; of itself only `&str` becomes a `String` or a `PathBuf`"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait IntoInput<T> {
    /// Converts the value, such as a `&str`, into the input of the agent.
    fn into_input(self) -> T;
}

impl<T> IntoInput<T> for T {
    fn into_input(self) -> T {
        self
    }
}

#[diagnostic::do_not_recommend]
impl IntoInput<String> for &str {
    fn into_input(self) -> String {
        self.to_owned()
    }
}

#[diagnostic::do_not_recommend]
impl IntoInput<PathBuf> for &str {
    fn into_input(self) -> PathBuf {
        self.into()
    }
}

/// Returns the agent's input as the first message of its model: a string without quotes, any other value as JSON.
/// Images and files are beside the text. The text of a tuple of a string and of images or files is the string. An input
/// that cannot be serialised gives an empty message.
pub(crate) fn prompt_of<I: Data>(input: &I) -> Content {
    let any = input as &dyn Any;
    if let Some(text) = any.downcast_ref::<String>() {
        return text.clone().into();
    }
    if let Some(content) = any.downcast_ref::<Content>() {
        return content.clone();
    }
    let Ok((json, collected)) = collect(input) else {
        return Content::default();
    };
    let media: Vec<_> = collected
        .into_iter()
        .filter_map(|one| (!one.is_table).then_some(one.media))
        .collect();
    let text = text_beside(&json, media.len()).unwrap_or_else(|| json.as_str().to_owned());
    let mut content = Content::from(text);
    content.media = media;
    content
}

/// Returns the string at the beginning of a tuple, if only images and files follow it; else `None`.
fn text_beside(json: &Json, media: usize) -> Option<String> {
    let parts = (media > 0).then(|| json.to::<Vec<Value>>().ok())??;
    let (Value::String(text), rest) = parts.split_first()? else {
        return None;
    };
    (rest.iter().map(references).sum::<Option<usize>>()? == media).then(|| text.clone())
}

/// Returns the number of images and files in a value, if it consists of nothing else; else `None`.
fn references(value: &Value) -> Option<usize> {
    match value {
        Value::Array(items) => items.iter().map(references).sum(),
        value => is_reference(value).then_some(1),
    }
}

#[cfg(test)]
mod tests {
    use super::prompt_of;
    use crate::model::{Content, Media};
    use serde_json::json;

    fn dot(name: &str) -> Media {
        Media::bytes("image/gif", b"GIF89a").unwrap().named(name)
    }

    #[test]
    fn a_struct_with_a_field_attachment_keeps_its_other_fields() {
        #[derive(serde::Serialize, serde::Deserialize)]
        struct Mail {
            attachment: Media,
            note: String,
        }
        let mail = Mail {
            attachment: dot("one"),
            note: "look at the corner".to_owned(),
        };
        let prompt = prompt_of(&("Read it.".to_owned(), mail));
        assert!(prompt.text.contains("look at the corner"), "{prompt:?}");
        assert_eq!(prompt.media, [dot("one")]);
    }

    #[test]
    fn a_text_and_images_are_a_text_and_images() {
        let (one, two) = (dot("one"), dot("two"));
        let expected = Content::from("Compare.")
            .with(one.clone())
            .with(two.clone());
        assert_eq!(
            prompt_of(&("Compare.".to_owned(), one.clone(), two.clone())),
            expected
        );
        assert_eq!(
            prompt_of(&("Compare.".to_owned(), vec![one, two])),
            expected
        );
        assert_eq!(prompt_of(&expected), expected);
    }

    #[test]
    fn fields_are_json_with_references() {
        let content = prompt_of(&json!({ "attachment": 1 }));
        assert_eq!(
            (&*content.text, content.media.len()),
            (r#"{"attachment":1}"#, 0)
        );
        let content = prompt_of(&("a".to_owned(), 7, dot("one")));
        assert_eq!(
            content.text,
            r#"["a",7,{"type":"image/gif","name":"one","attachment":1}]"#
        );
        assert_eq!(content.media, [dot("one")]);
        assert_eq!(prompt_of(&dot("one")).media, [dot("one")]);
    }
}
