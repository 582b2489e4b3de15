use std::sync::OnceLock;

/// What is made from other fields of its struct when it is asked for. A copy makes its own: they may be changed there.
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
