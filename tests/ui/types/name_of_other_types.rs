use agents::prelude::*;

mod with_a_generic_type {
    pub struct Note<T>(pub T);

    /// Writes a note.
    #[agents::tool(reads)]
    async fn note(
        /// What it says.
        text: String,
    ) -> String {
        Note(text).0
    }
}

mod with_an_alias {
    pub type Stamp = std::time::SystemTime;

    /// Tells the time.
    #[agents::tool(reads)]
    async fn stamp() -> String {
        format!("{:?}", Stamp::now())
    }
}

mod with_an_undo {
    use super::*;

    pub struct Book {
        pub seat: String,
    }

    tool! {
        /// Books a seat.
        #[tool(writes)]
        pub async fn book(
            /// Which seat.
            seat: String,
        ) -> String { seat }

        undo(seat) => { let _: String = seat; undone() }
    }
}

mod with_another_tool {
    /// Finds a file.
    #[agents::tool(reads)]
    async fn find(
        /// Its name.
        name: String,
    ) -> String {
        name
    }

    /// Finds a person.
    #[agents::tool(reads)]
    async fn find(
        /// The name of the person.
        name: String,
    ) -> String {
        name
    }
}

fn main() {}
