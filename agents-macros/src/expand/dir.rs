//! Prints folders of knowledge.

use crate::{model::KnowledgeFolder, paths::Rt};
use proc_macro2::TokenStream;
use quote::quote;

/// Prints the folders, with the paths from which the compiler takes their texts. It compiles again when a text changes:
///
/// ```ignore
/// [
///     ::agents::__rt::KnowledgeFolder::new(
///         "pdf-forms",
///         "Fills forms in PDF files.",
///         ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", "skills/pdf-forms/SKILL.md")),
///     )
///     .file("fields.md", ::core::include_str!(..)),
/// ]
/// ```
pub(crate) fn dir(folders: &[KnowledgeFolder], rt: &Rt) -> TokenStream {
    let folders = folders.iter().map(|folder| {
        let KnowledgeFolder {
            name,
            description,
            place,
            files,
        } = folder;
        let text = text(place);
        let files = files.iter().map(|(name, path)| {
            let text = self::text(path);
            quote!(.file(#name, #text))
        });
        quote!(#rt::KnowledgeFolder::new(#name, #description, #text) #(#files)*)
    });
    quote!([#(#folders),*])
}

fn text(path: &str) -> TokenStream {
    quote! {
        ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #path))
    }
}
