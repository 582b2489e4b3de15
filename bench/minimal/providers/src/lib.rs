//! Empty: only the dependencies are counted.
