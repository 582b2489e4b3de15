use agents::prelude::*;

mod with_an_attribute {
    pub struct SendEmail {
        pub to: String,
    }

    /// Sends an email.
    #[agents::tool(writes)]
    async fn send_email(
        /// Who gets it.
        to: String,
    ) -> String {
        SendEmail { to }.to
    }
}

mod with_a_block {
    use super::*;

    tool! {
        /// Looks up the weather.
        #[tool(reads)]
        pub async fn weather(
            /// Where.
            city: String,
        ) -> String { city }
    }

    pub enum Weather {
        Sunny,
        Rainy,
    }
}

mod with_an_agent {
    use super::*;

    pub struct Clerk;

    /// You write to customers.
    #[agent]
    async fn clerk(question: String) -> String;
}

fn main() {}
