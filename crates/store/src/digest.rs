//! Digests of the audit trail: of its events, each chained to the one before it, and of the rows that they tell of.

use crate::{Approval, ApprovalStatus, AuditEvent, Execution, Run, StoredMode, columns::risk};
use agents_core::run::Timestamp;
use hmac_sha256::{HMAC, Hash};
use std::fmt;

/// Key of the digests of an audit trail. Whoever does not know it cannot write an event that verifies.
///
/// ```
/// use agents_store::AuditKey;
///
/// let key = AuditKey::new([7; 32]); // in earnest, random bytes that a keyring keeps
/// assert_ne!(key.id(), AuditKey::new([8; 32]).id());
///
/// // A person may be forgotten, and the digests still fit.
/// let ada = key.pseudonym("acme", "ada");
/// assert_eq!(key.pseudonym("acme", &ada), ada);
/// assert_ne!(key.pseudonym("globex", "ada"), ada);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuditKey([u8; 32]);

impl AuditKey {
    /// Creates a key of these bytes, which nobody else knows.
    pub const fn new(bytes: [u8; 32]) -> Self {
        AuditKey(bytes)
    }

    /// Returns the name by which a store recognises the key. The key cannot be found out from it.
    pub fn id(&self) -> String {
        hex(&HMAC::mac(b"agents: id of the audit key", self.0)[..16])
    }

    /// Returns the pseudonym of a person, which stands in the digests in place of the name. So a name can be erased,
    /// and the trail still verifies. The pseudonym of a pseudonym is itself: a name that begins with `person:` is taken
    /// for one.
    pub fn pseudonym(&self, tenant: &str, person: &str) -> String {
        if person.starts_with(PSEUDONYM) {
            return person.to_owned();
        }
        let mut fields = Fields::new("person");
        fields.text(tenant).text(person);
        format!("{PSEUDONYM}{}", hex(&HMAC::mac(fields.0, self.0)[..16]))
    }

    /// Returns a key for another purpose, which is made from this one: whoever has this key has that one, too. The audit
    /// key cannot be found out from it, and neither can the key for a different purpose.
    pub fn key_for(&self, purpose: &str) -> [u8; 32] {
        let mut fields = Fields::new("key for a purpose");
        fields.text(purpose);
        HMAC::mac(fields.0, self.0)
    }

    /// Returns the digest of an event. `before` is the digest of the event before it in the trail, and empty for the
    /// first one.
    pub fn digest(&self, before: &[u8], event: &AuditEvent) -> Vec<u8> {
        self.whole_digest(before, event)[..LENGTH].to_vec()
    }

    /// Returns `true` if the event's digest is right, given the digest `before` of the event before it.
    pub fn is_digest_of(&self, before: &[u8], event: &AuditEvent) -> bool {
        let whole = self.whole_digest(before, event);
        event.digest == whole[..LENGTH] || event.digest == whole
    }

    fn whole_digest(&self, before: &[u8], event: &AuditEvent) -> [u8; 32] {
        let mut fields = Fields::new("event");
        fields
            .bytes(before)
            .text(&event.run)
            .number(event.seq)
            .text(&event.tenant_id)
            .number(event.at.as_millis())
            .text(event.kind.as_str())
            .person(self, &event.tenant_id, event.actor.as_deref())
            .maybe(event.subject.as_deref().map(str::as_bytes))
            .maybe(event.tool_name.as_deref().map(str::as_bytes))
            .maybe(event.detail.as_deref())
            .maybe(event.row_digest.as_deref());
        HMAC::mac(fields.0, self.0)
    }

    fn row(&self, fields: Fields) -> RowDigest {
        RowDigest {
            fields: fields.0,
            key: *self,
        }
    }

    /// Returns the digest of a run's row as it was when the run was started. The priority is not a part of it, and
    /// neither is the wrapped key, because it is wrapped anew when the tenant's key changes.
    pub fn of_run(&self, row: &Run) -> RowDigest {
        let mut fields = Fields::new("run");
        fields
            .text(&row.id)
            .text(&row.tenant)
            .maybe(row.key.as_deref().map(str::as_bytes))
            .text(&row.agent)
            .person(self, &row.tenant, row.started_by.as_deref())
            .bytes(&row.data)
            .number(row.created_at.as_millis());
        if let Some(conversation) = &row.conversation {
            fields.text("conversation").text(conversation);
        }
        // Runs from before there were labels keep their digests.
        if !row.labels.is_empty() {
            fields.number(row.labels.len() as u64);
            for (name, value) in &row.labels {
                fields.text(name).text(value);
            }
        }
        self.row(fields)
    }

    /// Returns the digest of a request's row as it was when the request was made.
    pub fn of_request(&self, row: &Approval) -> RowDigest {
        let mut fields = Fields::new("request");
        fields
            .text(&row.id)
            .text(&row.run)
            .text(&row.request)
            .text(&row.correlation_id)
            .text(&row.tenant_id)
            .person(self, &row.tenant_id, row.user_id.as_deref())
            .person(self, &row.tenant_id, row.started_by.as_deref())
            .text(&row.agent_name)
            .text(&row.tool_name)
            .text(&row.version)
            .text(&row.args_summary)
            .text(&row.effect_description)
            .text(risk(row.risk_level))
            .text(&row.args_digest)
            .number(row.requested_at.as_millis())
            .number(row.expires_at.as_millis())
            .bytes(&row.detail);
        // Requests of earlier versions have none.
        if let Some(reasons) = &row.reasons {
            fields.text(reasons);
        }
        self.row(fields)
    }

    /// Returns the digest of the columns of a request's row that hold the decision.
    pub fn of_decision(&self, row: &Approval) -> RowDigest {
        let status = match row.status {
            ApprovalStatus::Consumed => ApprovalStatus::Approved,
            status => status,
        };
        let mut fields = Fields::new("decision");
        fields
            .text(&row.id)
            .text(status.as_str())
            .person(self, &row.tenant_id, row.decided_by.as_deref())
            .time(row.decided_at)
            .maybe(row.note.as_deref().map(str::as_bytes))
            .maybe(row.edited.as_deref())
            .time(row.use_by)
            .maybe(row.proof.as_deref());
        self.row(fields)
    }

    /// Returns the digest of the columns of an execution's row that hold its begin.
    pub fn of_begin(&self, row: &Execution) -> RowDigest {
        let mut fields = Fields::new("begin");
        fields.begin(self, row);
        self.row(fields)
    }

    /// Returns the digest of the columns of an execution's row that hold its end.
    pub fn of_end(&self, row: &Execution) -> RowDigest {
        let mut fields = Fields::new("end");
        fields.text(&row.id).end(row);
        self.row(fields)
    }

    /// Returns the digest of the row of an execution that began and ended in one commit.
    pub fn of_execution(&self, row: &Execution) -> RowDigest {
        let mut fields = Fields::new("execution");
        fields.begin(self, row).end(row);
        self.row(fields)
    }

    /// Returns the proof that is stored with a mode. Whoever has no audit key cannot make it.
    pub fn of_mode(&self, row: &StoredMode) -> Vec<u8> {
        let tenant = row.tenant.as_deref();
        let mut fields = Fields::new("mode");
        fields
            .maybe(tenant.map(str::as_bytes))
            .text(&row.mode)
            .person(self, tenant.unwrap_or_default(), Some(&row.set_by))
            .number(row.set_at.as_millis())
            .number(row.seq);
        HMAC::mac(fields.0, self.0).to_vec()
    }

    /// Returns the digest of the columns of an execution's row that hold the verdict about its effect.
    pub fn of_settled(&self, row: &Execution) -> RowDigest {
        let mut fields = Fields::new("settled");
        fields.text(&row.id);
        match &row.settled {
            None => fields.number(0),
            Some(settled) => fields
                .number(1)
                .number(settled.had_effect.into())
                .person(self, &row.tenant_id, Some(&settled.by))
                .number(settled.at.as_millis())
                .bytes(&settled.proof),
        };
        self.row(fields)
    }

    /// Returns the digest of the columns of an execution's row that say whether it was undone.
    pub fn of_undo(&self, row: &Execution) -> RowDigest {
        let mut fields = Fields::new("undo");
        fields
            .text(&row.id)
            .number(row.rolled_back.into())
            .time(row.rolled_back_at);
        self.row(fields)
    }
}

impl fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditKey")
    }
}

/// Length of digests in bytes. Stores of earlier versions have digests of 32 bytes.
const LENGTH: usize = 16;

/// Digest of a row, to be stored in an event or to be compared with one.
pub struct RowDigest {
    fields: Vec<u8>,
    key: AuditKey,
}

impl RowDigest {
    /// Returns the digest as bytes, in the form in which an event has it.
    pub fn to_vec(&self) -> Vec<u8> {
        HMAC::mac(&self.fields, self.key.0)[..LENGTH].to_vec()
    }

    /// Returns `true` if the stored digest is that of the same row.
    pub fn is(&self, stored: &[u8]) -> bool {
        match stored.len() {
            LENGTH => self.to_vec() == stored,
            // Earlier versions made it without the key.
            _ => Hash::hash(&self.fields) == *stored,
        }
    }
}

/// Prefix by which a pseudonym of a person is recognised.
const PSEUDONYM: &str = "person:";

/// Fields of which a digest is made, each with its length, so that no two lists of fields have the same bytes.
struct Fields(Vec<u8>);

impl Fields {
    fn new(what: &str) -> Self {
        let mut fields = Fields(Vec::with_capacity(256));
        fields.text(what);
        fields
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    fn number(&mut self, number: u64) -> &mut Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    fn maybe(&mut self, bytes: Option<&[u8]>) -> &mut Self {
        match bytes {
            None => self.number(0),
            Some(bytes) => self.number(1).bytes(bytes),
        }
    }

    fn time(&mut self, time: Option<Timestamp>) -> &mut Self {
        match time {
            None => self.number(0),
            Some(time) => self.number(1).number(time.as_millis()),
        }
    }

    fn begin(&mut self, key: &AuditKey, row: &Execution) -> &mut Self {
        self.text(&row.id)
            .text(&row.tenant_id)
            .text(&row.run)
            .text(&row.call_id)
            .number(row.attempt.into())
            .text(&row.agent_name)
            .text(&row.tool_name)
            .text(&row.version)
            .bytes(&row.input)
            .number(row.approved.into())
            .person(key, &row.tenant_id, row.approved_by.as_deref())
            .text(risk(row.risk_level))
            .number(row.executed_at.as_millis())
    }

    fn end(&mut self, row: &Execution) -> &mut Self {
        self.maybe(row.output.as_deref())
            .maybe(row.error.as_deref().map(str::as_bytes))
            .number(row.effect_unknown.into())
            .number(row.duration_ms.map_or(0, |ms| ms + 1))
    }

    fn person(&mut self, key: &AuditKey, tenant: &str, person: Option<&str>) -> &mut Self {
        let pseudonym = person.map(|person| key.pseudonym(tenant, person));
        self.maybe(pseudonym.as_deref().map(str::as_bytes))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuditKind;

    fn event() -> AuditEvent {
        AuditEvent {
            number: 1,
            run: "run".into(),
            seq: 1,
            tenant_id: "acme".into(),
            at: Timestamp::from_millis(5),
            kind: AuditKind::Approved,
            actor: Some("ada".into()),
            subject: Some("request".into()),
            tool_name: None,
            detail: None,
            row_digest: None,
            digest: Vec::new(),
        }
    }

    #[test]
    fn each_field_of_an_event_changes_its_digest() {
        let key = AuditKey::new([1; 32]);
        let digest = key.digest(b"before", &event());
        let changes: [fn(&mut AuditEvent); 10] = [
            |event| event.run = "ru".into(),
            |event| event.seq = 2,
            |event| event.tenant_id = "acm".into(),
            |event| event.at = Timestamp::from_millis(6),
            |event| event.kind = AuditKind::Denied,
            |event| event.actor = None,
            |event| event.subject = Some("reques".into()),
            |event| event.tool_name = Some(String::new()),
            |event| event.detail = Some(Vec::new()),
            |event| event.row_digest = Some(vec![0]),
        ];
        for (n, change) in changes.iter().enumerate() {
            let mut changed = event();
            change(&mut changed);
            assert_ne!(key.digest(b"before", &changed), digest, "change {n}");
        }
        assert_ne!(key.digest(b"other", &event()), digest);
        assert_ne!(
            AuditKey::new([2; 32]).digest(b"before", &event()),
            digest,
            "another key"
        );
    }

    #[test]
    fn digests_of_earlier_versions_still_verify() {
        let key = AuditKey::new([1; 32]);
        let mut earlier = event();
        earlier.digest = key.whole_digest(b"before", &earlier).to_vec();
        assert!(key.is_digest_of(b"before", &earlier));
        for length in [0, 1, 15, 17, 31] {
            let mut cut = earlier.clone();
            cut.digest.truncate(length);
            assert!(!key.is_digest_of(b"before", &cut), "{length} bytes");
        }
        earlier.digest.truncate(LENGTH);
        assert_eq!(earlier.digest, key.digest(b"before", &earlier));
        assert!(key.is_digest_of(b"before", &earlier));
        let row = key.row(Fields::new("row"));
        assert!(row.is(&row.to_vec()) && row.is(&Hash::hash(&row.fields)));
        assert!(!row.is(&row.to_vec()[1..]) && !row.is(&[]));
        let other = AuditKey::new([2; 32]).row(Fields::new("row"));
        assert!(
            !other.is(&row.to_vec()),
            "whoever has no key makes no digest"
        );
    }

    #[test]
    fn a_name_may_give_way_to_its_pseudonym() {
        let key = AuditKey::new([1; 32]);
        let mut erased = event();
        erased.actor = Some(key.pseudonym("acme", "ada"));
        assert_eq!(key.digest(b"", &erased), key.digest(b"", &event()));
        erased.actor = Some(key.pseudonym("acme", "bob"));
        assert_ne!(key.digest(b"", &erased), key.digest(b"", &event()));
    }
}
