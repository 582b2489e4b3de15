use super::{AgentBuilder, io::Data};
use crate::definition::Knowledge;
use schemars::JsonSchema;
use std::{borrow::Cow, fmt, sync::Arc};

/// Folder of knowledge: a text that the model loads on demand, with further texts that it may ask for one by one.
///
/// The macro `dir!("skills/")` makes one of each folder that has a `SKILL.md`, the file of the convention "agent skills". In
/// this library such a folder is [knowledge](AgentBuilder::knowledge): it tells a model how something is done, and gives
/// it no tools. A [skill](super::Skill) is a way in which an agent does its work.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::agent::KnowledgeFolder;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, handle) = ScriptedModel::new([
/// #     Script::calls([("refunds", "{}"), ("refunds", r#"{"file": "limits.md"}"#)]),
/// #     Script::text("Done."),
/// # ]);
/// let refunds = KnowledgeFolder::new("refunds", "How money is paid back.", "Look the limit up in limits.md first.")
///     .file("limits.md", "Up to 50 euros without a question.");
/// let clerk = AgentBuilder::<String, String>::new("clerk").knowledge_from([refunds]).build();
/// clerk.run("Pay 20 euros back.").model(model).await?;
/// # assert!(handle.requests()[1].last().contains("50 euros"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct KnowledgeFolder {
    name: Cow<'static, str>,
    description: Cow<'static, str>,
    text: Cow<'static, str>,
    files: Vec<(Cow<'static, str>, Cow<'static, str>)>,
}

impl KnowledgeFolder {
    /// Creates a folder of this name, with the text that the model is given first. A header between two lines `---` at
    /// the beginning of the text is left out.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        text: impl Into<Cow<'static, str>>,
    ) -> Self {
        KnowledgeFolder {
            name: name.into(),
            description: description.into(),
            text: text.into(),
            files: Vec::new(),
        }
    }

    /// Adds a further text, which the model asks for by this name.
    #[must_use]
    pub fn file(
        mut self,
        name: impl Into<Cow<'static, str>>,
        text: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.files.push((name.into(), text.into()));
        self
    }
}

impl fmt::Debug for KnowledgeFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<_> = self.files.iter().map(|(name, _)| name).collect();
        f.debug_struct("KnowledgeFolder")
            .field("name", &self.name)
            .field("files", &files)
            .finish_non_exhaustive()
    }
}

impl<I: Data, O: Data + JsonSchema> AgentBuilder<'_, I, O> {
    /// Adds folders of knowledge, such as those that `dir!("skills/")` gives.
    ///
    /// The model sees each folder as a tool with its name and its description. Without an argument, the tool gives the
    /// text of the folder; with the argument `file`, it gives one of the further texts.
    pub fn knowledge_from(mut self, folders: impl IntoIterator<Item = KnowledgeFolder>) -> Self {
        let folders = folders.into_iter().map(|folder| {
            let KnowledgeFolder {
                name,
                description,
                text,
                files,
            } = folder;
            Knowledge {
                name,
                description,
                text: Arc::new(move || below_header(&text).to_owned()),
                files: files.into(),
            }
        });
        self.agent.definition.knowledge.extend(folders);
        self
    }
}

/// Returns the text below its header, which is the lines between two lines `---` at the beginning; the whole text if
/// there is no header. White space at both ends is left out.
fn below_header(text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let is_mark = |line: &str| line.trim_end() == "---";
    if !lines.next().is_some_and(is_mark) {
        return text.trim();
    }
    if !lines.by_ref().any(is_mark) {
        return text.trim();
    }
    let left: usize = lines.map(str::len).sum();
    text[text.len() - left..].trim()
}

#[cfg(test)]
mod tests {
    use super::below_header;

    #[test]
    fn a_header_is_left_out_and_a_rule_is_not() {
        for (text, below) in [
            ("---\nname: a\n---\n\nBody.\n", "Body."),
            (
                "\u{feff}---\r\nname: a\r\n---\r\nBody.\r\n---\r\nMore.",
                "Body.\r\n---\r\nMore.",
            ),
            ("Body.\n---\nMore.\n---\n", "Body.\n---\nMore.\n---"),
            ("---\nno end", "---\nno end"),
            ("---\n---", ""),
            ("", ""),
        ] {
            assert_eq!(below_header(text), below, "{text:?}");
        }
    }
}
