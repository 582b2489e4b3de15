use agents::prelude::*;

/// Counts.
#[agent]
fn count(text: String) -> usize {
    text.len()
}

/// Shouts.
#[agent]
fn shout(text: String) -> String {
    text.to_uppercase()
}

struct Crm {
    customers: Vec<String>,
}

#[agent]
impl Crm {
    /// Finds a customer.
    #[skill]
    fn find(&self, name: String) -> String {
        self.customers.iter().find(|customer| **customer == name).cloned().unwrap_or_default()
    }
}

fn main() {
    let crm = Crm { customers: Vec::new() };
    let first = crm.then(Count);
    let second = crm.then(Shout);
    let _ = (first, second);
}
