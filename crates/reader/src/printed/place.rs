//! Place of the scanner in its text, which decides what may be a call there.

use super::series::Series;
use super::text::Cursor;

/// State of the content up to the place that is examined: whether it is in code, in a fence or at the start of a line.
/// The state follows every character, so it does not depend on how the text was cut.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Is `true` until content has been read.
    start: bool,
    /// Last character of the content; `None` right after a marker.
    previous: Option<char>,
    /// `true` if only space stands before this place on its line.
    blank_line: bool,
    /// `true` inside a code span: an odd number of single backticks stands before on this line.
    in_ticks: bool,
    /// Is `true` inside a fenced block of code.
    in_fence: bool,
    /// Number of backticks right before this place.
    ticks: u8,
    /// Bracket right before this place, if space is ignored.
    bracket: Option<char>,
    message: Message,
    data: Option<Data>,
    /// Calls before this place, and what was said since.
    pub(super) series: Series,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Message {
    /// The family of models prints no headers before messages, so none are looked for.
    None,
    Opening,
    Inside,
}

/// State inside a piece of JSON that is data: it is no call, and contains no call.
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
            series: Series::default(),
        }
    }
}

/// Updates of the state for each character that is read.
impl Place {
    pub(super) fn say(&mut self, content: &str) {
        content.chars().for_each(|char| self.say_char(char));
    }

    fn say_char(&mut self, char: char) {
        self.follow_data(char);
        self.follow_code(char);
        self.series.say(char, self.in_code());
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
        // A blank line ends text that was no JSON after all.
        if data.depth == 0 || char == '\n' && self.previous == Some('\n') {
            self.data = None;
            self.bracket = None;
        }
    }

    /// Records that a marker or a call was taken out of the content at this place.
    pub(super) fn cut(&mut self) {
        self.start = false;
        self.previous = None;
        self.ticks = 0;
    }

    /// Records that a call was taken out of the content at this place.
    pub(super) fn call(&mut self) {
        self.cut();
        self.series.call();
    }

    /// Records that a new message begins at this place.
    pub(super) fn open_message(&mut self) {
        *self = Self {
            start: false,
            message: Message::Opening,
            series: std::mem::take(&mut self.series),
            ..Self::default()
        };
    }
}

/// Questions about the place, by which a possible call is told from an example or from prose.
impl Place {
    pub(super) fn starts_text(&self) -> bool {
        self.start
    }

    pub(super) fn starts_line(&self) -> bool {
        self.blank_line
    }

    /// Returns true if a call that stands at the beginning of a line, or right after another call, may start here.
    pub(super) fn starts_call(&self) -> bool {
        self.blank_line || self.series.goes_on()
    }

    /// Returns true if a call may start here. Families with headers call at the beginning of messages, and only mention
    /// calls inside them. Other families call at the beginning of lines.
    pub(super) fn starts_message(&self) -> bool {
        match self.message {
            Message::None => self.blank_line,
            Message::Opening => true,
            Message::Inside => false,
        }
    }

    /// Returns true if nothing but a header stands before this place in its message, so that a call may begin here.
    pub(super) fn opens_message(&self) -> bool {
        self.message == Message::Opening
    }

    pub(super) fn in_code(&self) -> bool {
        self.in_fence || self.in_ticks
    }

    pub(super) fn in_fence(&self) -> bool {
        self.in_fence
    }

    /// Returns true if this place is inside of JSON that is data.
    pub(super) fn in_data(&self) -> bool {
        self.data.is_some()
    }

    /// Returns true if JSON at this place stands by itself, and is no part of a word, of data or of code.
    pub(super) fn stands_free(&self) -> bool {
        let apart = self.previous.is_none_or(char::is_whitespace) || self.series.goes_on();
        apart && self.data.is_none() && !self.in_fence
    }

    /// Returns true if the text from here up to `after` is an example in code or quotes.
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
