//! Folders of knowledge, from what was found on disk.

use crate::{
    ast::{Dir, Folder},
    model::KnowledgeFolder,
};

/// Lowers `dir!("skills/")`. A folder is left out if its name or its description is missing or written wrongly.
pub(crate) fn dir(dir: Dir) -> Vec<KnowledgeFolder> {
    dir.folders.into_iter().filter_map(folder).collect()
}

fn folder(folder: Folder) -> Option<KnowledgeFolder> {
    let Folder {
        place,
        header,
        files,
        ..
    } = folder;
    let value = |key: &str| header.get(key).and_then(|field| field.value.clone());
    let around = place.rsplit_once('/').map_or("", |(around, _)| around);
    let files = files.into_iter().map(|file| {
        let path = format!("{around}/{file}");
        (file, path)
    });
    Some(KnowledgeFolder {
        name: value("name")?,
        description: value("description")?,
        files: files.collect(),
        place,
    })
}
