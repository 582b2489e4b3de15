//! Notes on changes of printed calls, which receipts have.

pub(super) const CALL_UNREAD: &str =
    "other text among the calls was not read, and may be a call as well";
pub(super) const TAG_IN_VALUE: &str =
    "the value holds tags of calls, and may end at one of them or go on";
pub(super) const END_INFERRED: &str = "the value has no end tag, and may end elsewhere";
