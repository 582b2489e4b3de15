use crate::wording;

/// Returns the reason why a program cannot set a field of a request by its name, if the client sets that field itself. `own`
/// has the names of these fields, each with whatever sets it.
///
/// ```
/// use agents_http::own_field;
///
/// let own = [("model", "`openai(..)`"), ("stream", "the client")];
/// assert_eq!(own_field("service_tier", &own), None);
/// assert!(own_field("model", &own).is_some_and(|why| why.contains("`openai(..)`")));
/// ```
pub fn own_field(name: &str, own: &[(&str, &str)]) -> Option<String> {
    let (_, by) = own.iter().find(|(field, _)| *field == name)?;
    Some(wording::own_field(name, by))
}
