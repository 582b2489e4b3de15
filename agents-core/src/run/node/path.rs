use super::Node;
use std::fmt;

/// A node's place in the tree, written only when somebody wants to read it.
pub(crate) struct Path<'a>(&'a Node);

impl Path<'_> {
    pub(super) fn of(node: &Node) -> Path<'_> {
        Path(node)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.parent.upgrade() {
            Some(parent) => write!(f, "{}/{}", parent.path(), self.0.key),
            None => f.write_str(&self.0.key),
        }
    }
}
