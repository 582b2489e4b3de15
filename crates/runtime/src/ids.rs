//! Ids of the rows that follow from a journal: the same journal gives the same ids.

/// Returns the id of a request for approval in the store, made of the id of its run and its id in that run.
pub(crate) fn approval_of(run: &str, request: &str) -> String {
    id_of(run, "approval", request)
}

/// Returns the id of an execution in the store, made of the id of its run, the id of its request and the number of the
/// attempt.
pub(crate) fn execution_of(run: &str, request: &str, attempt: u32) -> String {
    id_of(run, "execution", &format!("{request} {attempt}"))
}

/// Returns an id that is a digest of these arguments. The same arguments always give the same id.
fn id_of(run: &str, what: &str, name: &str) -> String {
    let digest = hmac_sha256::Hash::hash(format!("{run}\n{what}\n{name}").as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_random_bytes(bytes)
        .into_uuid()
        .to_string()
}
