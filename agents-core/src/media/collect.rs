use super::Media;
use crate::Json;
use serde::Serialize;
use serde_json::Value;
use std::cell::RefCell;

/// Image, file or table that was taken out of a value while it was serialised.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Collected {
    pub(crate) media: Media,
    /// Is `true` for a copy of a table, whose rows are in the JSON as well.
    pub(crate) is_table: bool,
}

thread_local! {
    /// Content that was taken out so far, while a value is serialised on this thread; `None` at other times.
    static COLLECTED: RefCell<Option<Vec<Collected>>> = const { RefCell::new(None) };
}

/// Serialises a value as JSON, and takes out its images, files and tables. In the JSON, a reference with the number of
/// the attachment stands for an image or a file.
///
/// Only values of the types [`Media`] and [`Table`](super::Table) are collected: no JSON that a tool received from
/// elsewhere can become an attachment.
pub(crate) fn collect<T: Serialize + ?Sized>(
    value: &T,
) -> Result<(Json, Vec<Collected>), serde_json::Error> {
    let outer = Outer(COLLECTED.replace(Some(Vec::new())));
    let json = Json::of(value);
    let collected = COLLECTED.take().unwrap_or_default();
    drop(outer);
    Ok((json?, collected))
}

/// Adds an image, a file or a table to what was taken out, and returns its number, from 1. Returns `None` if the value
/// is not being serialised by [`collect`].
pub(super) fn push(collected: impl FnOnce() -> Collected) -> Option<u32> {
    COLLECTED.with_borrow_mut(|all| {
        let all = all.as_mut()?;
        all.push(collected());
        u32::try_from(all.len()).ok()
    })
}

/// Returns `true` if a JSON value is only a reference to an attachment, such as
/// `{"type": "image/png", "attachment": 1}`.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::is_reference;
/// use serde_json::json;
///
/// // In the place of an image, the JSON that a model is shown names the attachment.
/// assert!(is_reference(&json!({"type": "image/png", "attachment": 0})));
/// assert!(!is_reference(&json!({"type": "image/png", "data": "iVBORw0KGgo="})));
/// ```
pub fn is_reference(value: &Value) -> bool {
    let is_part = |(name, value): (&String, &Value)| match &**name {
        "type" | "name" => value.is_string(),
        "attachment" => value.is_u64(),
        _ => false,
    };
    value.as_object().is_some_and(|fields| {
        let is_there = ["type", "attachment"].map(|name| fields.contains_key(name));
        is_there == [true, true] && fields.iter().all(is_part)
    })
}

/// Guard while one serialisation runs within another: at its end, also after a panic, it puts back what the outer one
/// has taken out so far.
struct Outer(Option<Vec<Collected>>);

impl Drop for Outer {
    fn drop(&mut self) {
        COLLECTED.set(self.0.take());
    }
}

#[cfg(test)]
mod tests {
    use super::collect;
    use crate::media::{Media, Table};
    use serde_json::json;

    #[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
    struct Report {
        title: String,
        chart: Media,
        figures: Table,
        pages: Vec<Media>,
    }

    fn report() -> Report {
        Report {
            title: "October".into(),
            chart: Media::bytes("image/png", b"png").unwrap().named("a.png"),
            figures: Table::new(["city", "sum"]).row([json!("Ulm"), json!(3)]),
            pages: vec![Media::url("application/pdf", "https://example.com/a.pdf")],
        }
    }

    #[test]
    fn references_stand_for_what_is_collected() {
        let (json, collected) = collect(&report()).unwrap();
        assert_eq!(
            json.to_value().unwrap(),
            json!({
                "title": "October",
                "chart": { "type": "image/png", "name": "a.png", "attachment": 1 },
                "figures": { "columns": ["city", "sum"], "rows": [["Ulm", 3]] },
                "pages": [{ "type": "application/pdf", "attachment": 3 }],
            })
        );
        let kinds: Vec<_> = collected.iter().map(|one| one.is_table).collect();
        assert_eq!(kinds, [false, true, false]);
        assert_eq!(collected[0].media, report().chart);
        assert_eq!(
            collected[1].media.to_bytes().unwrap(),
            b"city,sum\r\nUlm,3\r\n"
        );
        // The output can be read back; the image is then known by its number alone.
        let read: Report = json.to().unwrap();
        assert_eq!(
            (read.chart.name(), read.chart.to_bytes()),
            (Some("a.png"), None)
        );
    }

    #[test]
    fn outside_of_a_collection_a_value_is_whole() {
        let json = crate::Json::of(&report()).unwrap();
        assert!(json.as_str().contains(r#""base64":"cG5n""#));
        assert_eq!(json.to::<Report>().unwrap(), report());
    }

    #[test]
    fn a_panic_ends_the_collection() {
        struct Panics;
        impl serde::Serialize for Panics {
            fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                panic!("no")
            }
        }
        std::panic::catch_unwind(|| collect(&Panics)).unwrap_err();
        outside_of_a_collection_a_value_is_whole();
    }
}
