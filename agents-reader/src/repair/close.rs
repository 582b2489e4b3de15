//! Closing brackets, the right ones and the others.

use super::{ChangeKind, Failure, Frame, Kind, Parser, Shape, Want, path};

impl Parser<'_> {
    /// Reads a closing bracket and decides what it closes.
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
            self.change(ChangeKind::TrailingComma, "trailing comma dropped");
        }
        self.at += 1;
        if fits(top.shape) || (set && bracket == b'}') {
            if top.doubled && self.peek() == Some(bracket) {
                self.at += 1;
            }
            let closed = self.pop();
            return self.closed(closed);
        }
        // The bracket is of the wrong sort. If one further out wanted it, what is
        // inside was left open; unless the text goes on as if only the innermost
        // had been closed: then it is a slip of the pen.
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
            self.change(ChangeKind::Brackets, "closing bracket of the wrong sort");
            let closed = self.pop();
            return self.closed(closed);
        }
        let note = "closing bracket added";
        let keep = wanted.unwrap_or(0);
        // What has nothing inside may have been opened by mistake.
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

    /// After a bracket closed. The outermost one may have closed too early:
    /// `{"a": 1}, "b": 2}` goes on as if it had not.
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
                let note = "closing bracket too early";
                // If it is not the one of this object, a member has been closed too early, and what follows that
                // member is its own.
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

    /// Where some elements of a list have quotes and several have none, a comma between these may be of a text.
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
            let note = "some elements have quotes, and others none";
            self.change_uncertain(ChangeKind::Quotes, note);
        }
    }

    /// One bracket that is wrong has one right place, as long as nothing else had to be supplied. With two, a member
    /// may have got into the wrong object.
    pub(super) fn judge_brackets(&mut self) {
        if self.brackets > 1 || (self.brackets == 1 && self.log.is_rebuilt()) {
            self.log.doubt(ChangeKind::Brackets);
        }
        if self.brackets > 0 {
            self.log.rebuilt();
        }
    }

    /// Whether the text from `from` closes more brackets than are open up to
    /// `outer`, ignoring those inside strings.
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

    /// At the end of the text: closes what is open.
    pub(super) fn close_all(&mut self) {
        if !self.closed_early {
            let call_only = self.frames.len() == 1 && self.frames[0].shape == Shape::Call;
            let inside = self.frames.len() - 1;
            let (kind, note, depth) = if self.ends_inside() {
                let note = "the text ended, perhaps inside a value";
                (ChangeKind::CutOff, note, self.frames.len())
            } else if self.may_go_on() {
                let note = "the text ended, and there may have been more of it";
                (ChangeKind::CutOff, note, inside)
            } else if call_only {
                (ChangeKind::Closed, "closing parenthesis added", inside)
            } else {
                (
                    ChangeKind::Closed,
                    "the text ended early and was closed",
                    inside,
                )
            };
            if let Some(list) = self.frames.last_mut() {
                // The last value is meant, and not the place behind it.
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

    /// Whether the very last of the text is of a value that nothing ends: `1` may be the start of 1000.
    fn ends_inside(&self) -> bool {
        self.tape.nodes.last().is_some_and(|last| {
            matches!(last.kind, Kind::Number | Kind::Bare)
                && !last.made
                && last.end as usize == self.bytes.len()
        })
    }

    /// Whether more was to come, as far as brackets, commas and colons tell: a list may have had more items,
    /// behind a comma or a colon something has to stand. What else an object may have had, its schema knows.
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
