//! Keys, and the text between keys and their values.

use super::{
    ChangeKind, Failure, Kind, Parser, ReadErrorKind, Shape, Want, path, quotes::Quote, wording,
};

impl Parser<'_> {
    /// Reads a key and its colon, or another continuation of an object.
    pub(super) fn key(&mut self) -> Result<Want, Failure> {
        self.skip_trivia()?;
        if self.at_end() {
            return Ok(Want::Rest);
        }
        let first = self.bytes[self.at];
        match first {
            b'}' | b']' | b')' => return Ok(Want::Rest),
            b',' => {
                self.at += 1;
                self.change(ChangeKind::TrailingComma, wording::STRAY_COMMA);
                return Ok(Want::Key);
            }
            b'.' if self.ellipsis() => return Ok(Want::Rest),
            b'\\' if self.bytes.get(self.at + 1) == Some(&b'"') => return Err(Failure::Escaped),
            _ => {}
        }
        self.separated = false;
        let logged = self.log.listed_len();
        let marked = self.past_mark(self.at);
        if marked > self.at {
            self.at = marked;
            self.change(ChangeKind::Located, wording::LIST_MARK);
            self.skip_trivia()?;
        }
        let start = self.at;
        let node = self.tape.nodes.len() as u32;
        let quoted = match (self.half_key(start)?, Quote::open(self.bytes, self.at)) {
            (Some(end), _) => {
                self.at = end;
                self.made_string(&self.text[start + 1..end]);
                self.supply(ChangeKind::Quotes, wording::QUOTE_CLOSED);
                true
            }
            (None, Some(quote)) => {
                self.key_string(quote)?;
                true
            }
            (None, None) => self.bare_key()?,
        };
        self.top().key = node;
        self.set_path_since(logged);
        self.skip_trivia()?;
        let bytes = self.bytes;
        match bytes.get(self.at) {
            Some(b':') => {
                self.at += 1;
                // `:=` and `::` occur as well.
                if self.peek() == Some(b'=') {
                    self.at += 1;
                    self.change(ChangeKind::Colon, wording::WALRUS);
                }
                if self.loose && bytes[self.at..].starts_with(b"** ") {
                    self.at += 2;
                }
                return Ok(Want::Value);
            }
            Some(b'=') => {
                self.at += 1 + usize::from(bytes.get(self.at + 1) == Some(&b'>'));
                if self.top().shape != Shape::Call {
                    self.change(ChangeKind::Colon, wording::EQUALS);
                }
                return Ok(Want::Value);
            }
            _ => {}
        }
        let first = self.top().count == 0;
        if self.at_end() && !first {
            self.tape.nodes.truncate(node as usize);
            self.change(ChangeKind::CutOff, wording::KEY_ENDED);
            self.closed_early = true;
            return Ok(Want::Rest);
        }
        let set =
            first && self.top().shape == Shape::Object && matches!(self.peek(), Some(b',' | b'}'));
        if set {
            self.become_set(node as usize, quoted, start);
            self.set_path_since(logged);
            return Ok(self.complete());
        }
        if quoted && self.starts_value(self.at) {
            self.supply(ChangeKind::Colon, wording::COLON_ADDED);
            return Ok(Want::Value);
        }
        Err(self
            .refuse(ReadErrorKind::Syntax, wording::KEY_WITHOUT_VALUE)
            .into())
    }

    /// Moves the changes of a key to the path of its own field. While the key was read, the path was that of the
    /// field before.
    fn set_path_since(&mut self, first: usize) {
        if self.log.listed_len() > first {
            let path = path(&self.tape, &self.frames);
            self.log.set_path_since(first, &path);
        }
    }

    /// Makes the open object a `Kind::Set`, for `{1, 2}`: what was read as a key is the first element.
    fn become_set(&mut self, node: usize, quoted: bool, start: usize) {
        let frame = self.top();
        frame.shape = Shape::Array;
        let open = frame.node as usize;
        self.tape.nodes[open].kind = Kind::Set;
        if !quoted {
            self.tape.nodes.truncate(node);
            let end = start + self.text[start..self.at].trim_end().len();
            self.push(Kind::Bare, false, start, end);
        }
    }
}
