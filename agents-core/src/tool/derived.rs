use std::sync::OnceLock;

/// Value that is computed from other fields of its struct on first use. A clone of the struct computes its own,
/// because those fields may be changed in the clone.
pub(super) struct Derived<T>(OnceLock<T>);

impl<T> Derived<T> {
    pub(super) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(make)
    }
}

impl<T> Default for Derived<T> {
    fn default() -> Self {
        Derived(OnceLock::new())
    }
}

impl<T> Clone for Derived<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}
