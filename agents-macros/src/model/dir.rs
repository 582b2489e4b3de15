//! Folders of knowledge.

/// A folder of knowledge that `dir!` has found.
pub(crate) struct KnowledgeFolder {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The path of its `SKILL.md`, below the folder of `Cargo.toml`.
    pub(crate) place: String,
    /// The names of its further files, with their paths.
    pub(crate) files: Vec<(String, String)>,
}
