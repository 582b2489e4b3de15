use crate::{
    names::{type_name, wire_name},
    suggest::nearest,
};
use proc_macro2::Span;
use syn::Ident;

fn ident(name: &str) -> Ident {
    match name.strip_prefix("r#") {
        Some(raw) => Ident::new_raw(raw, Span::call_site()),
        None => Ident::new(name, Span::call_site()),
    }
}

#[test]
fn functions_leave_types() {
    for (function, ty) in [
        ("read_file", "ReadFile"),
        ("x", "X"),
        ("r#match", "Match"),
        ("_hidden", "Hidden"),
        ("get_2d", "Get2d"),
        ("_2d", "_2d"),
        ("self_", "Self_"),
    ] {
        assert_eq!(type_name(&ident(function)).to_string(), ty);
    }
}

#[test]
fn types_have_names_on_the_wire() {
    for (ty, name) in [
        ("FileManager", "file_manager"),
        ("HTTPClient", "http_client"),
        ("Crm", "crm"),
        ("Crm2", "crm2"),
        ("CRM", "crm"),
        ("AToB", "a_to_b"),
    ] {
        assert_eq!(wire_name(&ident(ty)), name);
    }
}

#[test]
fn near_names_are_suggested() {
    let known = ["timeout", "reads", "none"];
    assert_eq!(nearest("timeuot", &known), Some("timeout"));
    assert_eq!(nearest("read", &known), Some("reads"));
    assert_eq!(nearest("colour", &known), None);
}
