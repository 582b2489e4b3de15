//! Choice among the values found.

use super::{Found, Json, Search};
use crate::{
    change::ChangeKind,
    error::{ReadError, ReadErrorKind},
    log::Log,
    schema::Types,
    surroundings::{Place, may_belong, place},
    tape::Kind,
};

impl<'a> Search<'a, '_> {
    /// Returns the best of the values that were found in the text. Fails if none was found, or if several are equally
    /// good.
    pub(super) fn choose(mut self) -> Result<Found, ReadError> {
        if self.found.iter().any(|found| !found.thinking) {
            self.found.retain(|found| !found.thinking);
        }
        match self.schema.map(|schema| schema.types(schema.root())) {
            None => self.settle()?,
            Some(types) if types.has(Types::ARRAY) && !types.has(Types::OBJECT) => self.gather(),
            Some(_) => {}
        }
        let weight = |found: &Found| (found.cost, found.place.rank());
        let best = self
            .found
            .iter()
            .enumerate()
            .min_by_key(|(n, found)| (weight(found), *n))
            .map(|(n, _)| n);
        // Two adjacent values have equal standing, so neither is chosen.
        if let Some(best) = best.map(|best| &self.found[best])
            && let Some(next) = self.found.iter().find(|next| next.start >= best.end)
            && weight(next) == weight(best)
            && self.raw[best.end..next.start]
                .trim_matches([',', ';'])
                .trim()
                .is_empty()
            && self.text_of(next) != self.text_of(best)
        {
            return Err(several(next.start));
        }
        let Some(best) = best else {
            return Err(self.refusal.unwrap_or_else(|| {
                let reason = if self.raw.trim().is_empty() {
                    "the text is empty; write a JSON object"
                } else {
                    "no JSON found; write a JSON object"
                };
                ReadError::of(ReadErrorKind::NoJson, reason)
            }));
        };
        let said = self.text_of(&self.found[best]);
        let mut others = self.found.iter().enumerate().filter(|(n, _)| *n != best);
        let rivals = others.any(|(_, other)| self.text_of(other) != said);
        let lost = (self.found[best].place != Place::Alone && !rivals)
            .then(|| self.lost(best))
            .flatten();
        let mut found = self.found.swap_remove(best);
        let before = &self.raw[..found.start];
        found.place.report(&mut found.log, rivals, lost, before);
        Ok(found)
    }

    /// Returns text beside the chosen value that may belong to it, so that the reading is uncertain; `None` if there is
    /// no such text. Thinking and repetitions of the value are ignored.
    fn lost(&self, best: usize) -> Option<&'a str> {
        let raw: &'a str = self.raw;
        if self.found.len() == 1 && self.thoughts.is_empty() {
            let Found { start, end, .. } = self.found[best];
            let (before, after) = (&raw[..start], &raw[end..]);
            return match may_belong("", before, &raw[start..]) {
                true => Some(before),
                false => Some(after).filter(|after| may_belong(&raw[..end], after, "")),
            };
        }
        let best = &self.found[best];
        let said = self.text_of(best);
        let same = self
            .found
            .iter()
            .filter(|found| self.text_of(found) == said);
        let mut spans: Vec<_> = same.map(|found| (found.start, found.end)).collect();
        if !best.thinking {
            spans.extend(&self.thoughts);
        }
        spans.sort_unstable();
        let mut from = 0;
        spans.push((self.raw.len(), self.raw.len()));
        for (start, end) in spans {
            let between = raw.get(from..start).unwrap_or_default();
            let (before, after) = (&self.raw[..from], &self.raw[start..]);
            if may_belong(before, between, after) {
                return Some(between);
            }
            from = from.max(end);
        }
        None
    }

    /// Settles several values without a schema: a list if commas separate them, one value if they are equal, else an
    /// error. Tiny values in prose do not count, nor do lists beside objects.
    fn settle(&mut self) -> Result<(), ReadError> {
        let between = |pair: &[Found]| self.raw[pair[0].end..pair[1].start].trim();
        if let [first, .., last] = &self.found[..]
            && self.found.windows(2).all(|pair| between(pair) == ",")
            && place(self.raw, first.start, last.end).trivial()
        {
            self.join(|text| text);
            return Ok(());
        }
        // A tiny value amid prose, such as `[1]`, means nothing by itself.
        self.found
            .retain(|found| !found.slight || found.place.trivial());
        let full = |found: &Found| found.kind == Kind::Object && !found.slight;
        if self.found.iter().any(full) {
            self.found.retain(full);
        }
        let [_, second, ..] = &self.found[..] else {
            return Ok(());
        };
        let second = second.start;
        let first = self.text_of(&self.found[0]);
        if self.found.iter().any(|found| self.text_of(found) != first) {
            return Err(several(second));
        }
        Ok(())
    }

    /// Makes one list of the values that were found, if the schema wants a list and all values are objects: each of
    /// them became a list of one.
    fn gather(&mut self) {
        if self.found.len() > 1 && self.found.iter().all(|found| found.kind == Kind::Object) {
            self.join(|list| {
                list.strip_prefix('[')
                    .and_then(|list| list.strip_suffix(']'))
                    .unwrap_or(list)
            });
        }
    }

    fn join(&mut self, element: fn(&str) -> &str) {
        let mut list = String::from("[");
        let mut log = Log::default();
        for (n, found) in self.found.iter().enumerate() {
            let element = element(self.text_of(found)).trim();
            let is_first = list.len() == 1;
            list.push_str(if is_first || element.is_empty() {
                ""
            } else {
                ","
            });
            list.push_str(element);
            log.append(found.log.clone(), &format!("[{n}]"));
        }
        list.push(']');
        log.add(
            ChangeKind::Listed,
            String::new,
            "several values made a list",
        );
        let (start, end) = (self.found[0].start, self.found[self.found.len() - 1].end);
        let place = place(self.raw, start, end);
        let cost = self.found.iter().map(|found| found.cost).sum();
        self.found = vec![Found {
            json: Json::Made(list),
            log,
            cost,
            kind: Kind::Array,
            slight: false,
            thinking: false,
            start,
            end,
            place,
        }];
    }

    fn text_of<'f>(&'f self, found: &'f Found) -> &'f str {
        match &found.json {
            Json::Part(start, end) => &self.raw[*start..*end],
            Json::Made(text) => text,
        }
    }
}

fn several(second: usize) -> ReadError {
    ReadError::of(ReadErrorKind::Ambiguous, "several JSON values; write one").at(second)
}
