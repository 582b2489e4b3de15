//! Folders of knowledge.

/// A folder of knowledge that `dir!` has found.
pub(crate) struct KnowledgeFolder {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The path of the `SKILL.md`, relative to the folder of `Cargo.toml`.
    pub(crate) place: String,
    /// The paths of further files, relative to this folder, each with its path relative to the folder of `Cargo.toml`.
    pub(crate) files: Vec<(String, String)>,
}
