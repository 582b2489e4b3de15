//! Executions of which nobody knows whether they took effect.

use super::CallState;

impl CallState {
    /// Something else is told in the end than that the tool may have done its work: then that is told beside it.
    /// A later execution that succeeded has settled it.
    pub(crate) fn tell_of_effects(&mut self) {
        let Some(Err(told)) = self.result() else {
            return;
        };
        let told = told.to_string();
        let mut unknown = self.attempts.iter().filter(|run| run.effect_unknown);
        let last = unknown.next_back().and_then(|run| run.error.as_ref());
        if let Some(error) = last.filter(|error| !told.contains(&error.message)) {
            let said = format!("it has run: {}", error.message);
            self.remark_beside(said);
        }
    }

    /// What the run itself has to say of the call, behind what it has said.
    pub(crate) fn remark_beside(&mut self, said: String) {
        self.remark = Some(match self.remark.take() {
            Some(before) => format!("{before}; {said}"),
            None => said,
        });
    }
}
