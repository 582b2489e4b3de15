//! Where in its text the scanner is: what may be a call there.

use super::text::Cursor;

/// What is remembered of the content so far. It follows every character, so
/// that it does not depend on how the text was cut.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Nothing has been said yet.
    start: bool,
    /// The last character, or none after a marker.
    previous: Option<char>,
    /// Nothing but space stands before on this line.
    blank_line: bool,
    /// An odd number of single backticks stands before on this line.
    in_ticks: bool,
    /// Inside a fenced block.
    in_fence: bool,
    /// How many backticks stand before.
    ticks: u8,
    /// The bracket before, space aside.
    bracket: Option<char>,
    message: Message,
    data: Option<Data>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Message {
    /// The family prints no headers.
    None,
    Opening,
    Inside,
}

/// Inside JSON that is nobody's call, where nothing is one.
#[derive(Clone, Copy, Debug)]
struct Data {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            start: true,
            previous: None,
            blank_line: true,
            in_ticks: false,
            in_fence: false,
            ticks: 0,
            bracket: None,
            message: Message::None,
            data: None,
        }
    }
}

/// What was said, character by character.
impl Place {
    pub(super) fn say(&mut self, content: &str) {
        content.chars().for_each(|char| self.say_char(char));
    }

    fn say_char(&mut self, char: char) {
        self.follow_data(char);
        self.follow_code(char);
        if !char.is_whitespace() {
            self.blank_line = false;
            if self.message == Message::Opening {
                self.message = Message::Inside;
            }
        }
        self.start = false;
        self.previous = Some(char);
    }

    fn follow_code(&mut self, char: char) {
        if char != '`' {
            self.ticks = 0;
            if char == '\n' {
                self.blank_line = true;
                self.in_ticks = false;
            }
            return;
        }
        self.ticks = self.ticks.saturating_add(1);
        match self.ticks {
            1 => self.in_ticks = !self.in_ticks,
            3 => {
                self.in_ticks = !self.in_ticks;
                self.in_fence = !self.in_fence;
            }
            _ => {}
        }
    }

    fn follow_data(&mut self, char: char) {
        let Some(data) = &mut self.data else {
            let (depth, in_string) = match (self.bracket, char) {
                (Some('{' | '['), '"') => (1, true),
                (Some('['), '{') => (2, false),
                _ => (0, false),
            };
            if depth > 0 {
                self.data = Some(Data {
                    depth,
                    in_string,
                    escaped: false,
                });
            }
            if !char.is_whitespace() {
                self.bracket = matches!(char, '{' | '[').then_some(char);
            }
            return;
        };
        if data.in_string {
            match char {
                _ if data.escaped => data.escaped = false,
                '\\' => data.escaped = true,
                '"' => data.in_string = false,
                _ => {}
            }
        } else {
            match char {
                '"' => data.in_string = true,
                '{' | '[' => data.depth += 1,
                '}' | ']' => data.depth -= 1,
                _ => {}
            }
        }
        // A blank line ends what was no JSON after all.
        if data.depth == 0 || char == '\n' && self.previous == Some('\n') {
            self.data = None;
            self.bracket = None;
        }
    }

    /// A marker or a call was taken out here.
    pub(super) fn cut(&mut self) {
        self.start = false;
        self.previous = None;
        self.ticks = 0;
    }

    /// A message of its own begins here.
    pub(super) fn open_message(&mut self) {
        *self = Self {
            start: false,
            message: Message::Opening,
            ..Self::default()
        };
    }
}

/// What may stand here.
impl Place {
    pub(super) fn starts_text(&self) -> bool {
        self.start
    }

    pub(super) fn starts_line(&self) -> bool {
        self.blank_line
    }

    /// Families with headers speak of calls inside messages, and call at
    /// their beginning.
    pub(super) fn starts_message(&self) -> bool {
        match self.message {
            Message::None => self.blank_line,
            Message::Opening => true,
            Message::Inside => false,
        }
    }

    /// A header stands before, and nothing else of its message.
    pub(super) fn opens_message(&self) -> bool {
        self.message == Message::Opening
    }

    pub(super) fn in_code(&self) -> bool {
        self.in_fence || self.in_ticks
    }

    /// Whether JSON here is no part of something else.
    pub(super) fn stands_free(&self) -> bool {
        let apart = self.previous.is_none_or(char::is_whitespace);
        apart && self.data.is_none() && !self.in_fence
    }

    /// Whether what stands from here to there is an example in code or quotes.
    pub(super) fn is_quoted_until(&self, after: Cursor<'_, '_>) -> bool {
        if self.in_fence {
            return after.text.find(after.at, "```").is_some();
        }
        if self.in_ticks {
            let ends = after.text.find_first(after.at, &["`", "\n"]);
            return ends.is_some_and(|(_, end)| end == "`");
        }
        let closing = match self.previous {
            Some('“') => '”',
            Some('‘') => '’',
            Some(quote @ ('"' | '\'')) => quote,
            _ => return false,
        };
        after.text.char(after.at) == Some(closing)
    }
}
