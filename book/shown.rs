// What a program of the book prints, compared with what its chapter shows. Included by hidden lines:
// `# include!(concat!(env!("CARGO_MANIFEST_DIR"), "/book/shown.rs"));`

/// The lines of a program so far.
#[derive(Clone, Default)]
struct Printed(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

#[allow(dead_code)] // Not every program needs all of it.
impl Printed {
    /// Hears what `print_line` would print.
    fn events(&self) -> impl Fn(&agents::run::Event) + Send + Sync + 'static {
        let printed = self.clone();
        move |event| {
            if let Some(line) = agents::console::line(event, false) {
                printed.line(line);
            }
        }
    }

    /// What the program prints itself.
    fn line(&self, line: impl std::fmt::Display) {
        let lines = line.to_string();
        let mut printed = self.0.lock().unwrap();
        printed.extend(lines.lines().map(stable));
    }

    /// One of the chapter's `text` blocks is exactly this.
    fn is_shown_in(&self, chapter: &str) {
        let printed: Vec<String> = self.0.lock().unwrap().clone();
        let path = format!("{}/book/src/{chapter}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let mut blocks = text.split("\n```text\n").skip(1);
        let block = |rest: &str| -> Vec<String> {
            let block = rest.split("\n```").next().unwrap();
            block
                .lines()
                .map(stable)
                .filter(|line| !line.is_empty())
                .collect()
        };
        let printed: Vec<String> = printed
            .into_iter()
            .filter(|line| !line.is_empty())
            .collect();
        assert!(
            blocks.any(|rest| block(rest) == printed),
            "{chapter} does not show this:\n{}",
            printed.join("\n")
        );
    }
}

/// A line without what no two runs have in common: how long something took.
fn stable(line: &str) -> String {
    let line = line.trim();
    let line = line.split(" again in ").next().unwrap();
    let took = line.rfind("  (").filter(|_| line.ends_with("s)"));
    took.map_or(line, |at| &line[..at]).to_owned()
}
