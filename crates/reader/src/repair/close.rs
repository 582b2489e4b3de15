//! Closing brackets, both the right ones and the wrong ones.

use super::{ChangeKind, Failure, Frame, Kind, Parser, Shape, Want, path, wording};

impl Parser<'_> {
    /// Reads a closing bracket and decides which open bracket it closes, if it is of the wrong kind.
    pub(super) fn close(&mut self, bracket: u8) -> Result<Want, Failure> {
        let comma = self.separated;
        let fits = |shape: Shape| match bracket {
            b'}' => shape == Shape::Object,
            b']' => shape == Shape::Array,
            _ => matches!(shape, Shape::Tuple | Shape::Call),
        };
        // A set is a list that braces close.
        let top = *self.top();
        let set = top.shape == Shape::Array && self.tape.nodes[top.node as usize].kind == Kind::Set;
        if comma && !set {
            self.change(ChangeKind::TrailingComma, wording::TRAILING_COMMA);
        }
        self.at += 1;
        if fits(top.shape) || (set && bracket == b'}') {
            if top.doubled && self.peek() == Some(bracket) {
                self.at += 1;
            }
            let closed = self.pop();
            return self.closed(closed);
        }
        // The bracket is of the wrong kind. If an outer bracket wants it, the brackets inside were left open. But if
        // the text goes on as if only the innermost was closed, the bracket is a typing error.
        let wanted = self.frames.iter().rposition(|frame| fits(frame.shape));
        let slip = match (wanted, self.frames.len().checked_sub(2)) {
            (Some(_), Some(outer)) => {
                let keyed = self.frames[outer].keyed();
                let next = self.skip_space_ahead(self.at)?;
                self.bytes.get(next) == Some(&b',') && {
                    let next = self.skip_space_ahead(next + 1)?;
                    let goes_on = if keyed {
                        self.key_ahead(next)?
                    } else {
                        self.starts_value(next)
                    };
                    goes_on && wanted != Some(outer)
                        || (goes_on
                            && keyed
                            && wanted == Some(outer)
                            && self.more_closers_than(next, outer)?)
                }
            }
            _ => true,
        };
        self.brackets += 1;
        if slip {
            self.change(ChangeKind::Brackets, wording::WRONG_BRACKET);
            let closed = self.pop();
            return self.closed(closed);
        }
        let note = wording::BRACKET_ADDED;
        let keep = wanted.unwrap_or(0);
        // A bracket with nothing inside may have been opened by mistake.
        let holds_nothing = |frame: &Frame| {
            let (node, last) = (frame.node as usize, self.tape.nodes.len() - 1);
            let is_empty = matches!(self.tape.kind(last), Kind::Array | Kind::Object);
            node == last || (node + 1 == last && is_empty)
        };
        match self.frames[keep..].iter().any(holds_nothing) {
            true => self.change_uncertain(ChangeKind::Brackets, note),
            false => self.change(ChangeKind::Brackets, note),
        }
        let mut closed = None;
        while self.frames.len() > keep {
            closed = self.pop();
        }
        self.closed(closed)
    }

    /// Goes on after a closed bracket. The outermost bracket may have been closed too early: `{"a": 1}, "b": 2}` goes
    /// on as if it were open.
    fn closed(&mut self, outermost: Option<Frame>) -> Result<Want, Failure> {
        self.separated = false;
        let Some(root) = outermost.filter(|_| self.frames.is_empty()) else {
            return Ok(self.complete());
        };
        if root.shape != Shape::Object {
            return Ok(Want::Nothing);
        }
        let comma = self.skip_space_ahead(self.at)?;
        if self.bytes.get(comma) == Some(&b',') {
            let next = self.skip_space_ahead(comma + 1)?;
            if self.bytes.get(next) == Some(&b'"') && self.key_ahead(next)? {
                self.frames.push(Frame {
                    doubled: false,
                    ..root
                });
                self.brackets += 1;
                let note = wording::BRACKET_TOO_EARLY;
                // If the bracket does not end this object, a member was closed too early. The text behind that member
                // then belongs to the member.
                let node = root.node as usize;
                let holds_object = self.brackets == 1
                    && self.tape.nodes[node + 1..]
                        .iter()
                        .any(|node| node.kind == Kind::Object);
                match holds_object {
                    true => self.change_uncertain(ChangeKind::Brackets, note),
                    false => self.change(ChangeKind::Brackets, note),
                }
                self.at = comma;
                return Ok(Want::Rest);
            }
        }
        Ok(Want::Nothing)
    }

    /// Marks a list as uncertain if some elements have quotes and several have none: a comma between elements without
    /// quotes may belong to a text.
    fn judge_quotes(&mut self, list: Frame) {
        let node = list.node as usize;
        let (mut quoted, mut others) = (0, 0);
        let mut at = node + 1;
        while at < self.tape.nodes.len() {
            match self.tape.kind(at) {
                Kind::String => quoted += 1,
                Kind::Array | Kind::Set | Kind::Object => {}
                _ => others += 1,
            }
            at = self.tape.next(at);
        }
        if quoted > 0 && others > 1 {
            let note = wording::SOME_QUOTED;
            self.change_uncertain(ChangeKind::Quotes, note);
        }
    }

    /// Marks the changes of brackets as uncertain if there are several, or if another mark was supplied. A single
    /// wrong bracket has one right place; with two, a member may be in the wrong object.
    pub(super) fn judge_brackets(&mut self) {
        if self.brackets > 1 || (self.brackets == 1 && self.log.is_rebuilt()) {
            self.log.doubt(ChangeKind::Brackets);
        }
        if self.brackets > 0 {
            self.log.rebuilt();
        }
    }

    /// Returns true if the text from `from` closes more brackets than are open around `outer`. Brackets inside strings
    /// are ignored.
    fn more_closers_than(&mut self, from: usize, outer: usize) -> Result<bool, Failure> {
        let mut depth = outer as isize + 1;
        let mut at = from;
        while let Some(&b) = self.bytes.get(at) {
            match b {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                b'"' => {
                    at = self
                        .close_quote(at + 1, b'"', usize::MAX)?
                        .unwrap_or(self.bytes.len())
                }
                _ => {}
            }
            at += 1;
        }
        self.spend(at.saturating_sub(from))?;
        Ok(depth <= 0)
    }

    /// Closes all brackets that are still open at the end of the text. Reports the change, unless the early end has
    /// already been reported.
    pub(super) fn close_all(&mut self) {
        if !self.closed_early {
            let call_only = self.frames.len() == 1 && self.frames[0].shape == Shape::Call;
            let inside = self.frames.len() - 1;
            let (kind, note, depth) = if self.ends_inside() {
                let note = wording::ENDED_IN_VALUE;
                (ChangeKind::CutOff, note, self.frames.len())
            } else if self.may_go_on() {
                let note = wording::ENDED_PERHAPS;
                (ChangeKind::CutOff, note, inside)
            } else if call_only {
                (ChangeKind::Closed, wording::PARENTHESIS_ADDED, inside)
            } else {
                (ChangeKind::Closed, wording::ENDED_EARLY, inside)
            };
            if let Some(list) = self.frames.last_mut() {
                // The path names the last value, not the place behind it.
                list.count = list.count.saturating_sub(1);
            }
            let place = || path(&self.tape, &self.frames[..depth]);
            self.log.add(kind, place, note);
            if !call_only {
                self.log.rebuilt();
            }
            self.tape.unclosed = self.frames.iter().map(|frame| frame.node).collect();
        }
        while self.pop().is_some() {}
    }

    /// Returns true if the text ends with a value that more text could extend: `1` may be the start of 1000.
    fn ends_inside(&self) -> bool {
        self.tape.nodes.last().is_some_and(|last| {
            matches!(last.kind, Kind::Number | Kind::Bare)
                && !last.made
                && last.end as usize == self.bytes.len()
        })
    }

    /// Returns true if the brackets, commas and colons at the end of the text say that more was to come. A list may
    /// have had more items, and a value has to follow a comma or a colon. Missing fields of an object are left to its
    /// schema.
    fn may_go_on(&self) -> bool {
        let list = self.frames.iter().any(|frame| !frame.keyed());
        let without_value = self.tape.nodes.last().map(|last| last.kind) == Some(Kind::Missing);
        list || self.separated || without_value
    }

    fn pop(&mut self) -> Option<Frame> {
        let last = *self.frames.last()?;
        if !last.keyed() && last.bare > 0 {
            self.judge_quotes(last);
        }
        let frame = self.frames.pop()?;
        let next = self.tape.nodes.len() as u32;
        let node = &mut self.tape.nodes[frame.node as usize];
        node.end = self.at as u32;
        node.next = next;
        Some(frame)
    }
}
