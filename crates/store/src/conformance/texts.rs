//! Promises of a store about streamed text.

use super::{Checked, LONG, SHORT, claim, claimed, create, refused, step};
use crate::{Commit, ErrorKind, NewText};
use std::time::Duration;

fn text(number: u64, keep: Duration) -> NewText {
    NewText {
        number,
        contents: format!("piece {number}").into_bytes(),
        keep,
    }
}

async fn numbers(store: &Checked, after: u64) -> Vec<u64> {
    let texts = store.texts("a", after).await.unwrap();
    for one in &texts {
        assert_eq!(one.contents, text(one.number, LONG).contents);
    }
    texts.into_iter().map(|text| text.number).collect()
}

pub(super) async fn streamed_text_is_returned_in_order_and_from_a_number(store: Checked) {
    create(&store, "a").await;
    let lease = claimed(&store, "one").await;
    let add = async |numbers: &[u64]| {
        let texts: Vec<_> = numbers.iter().map(|number| text(*number, LONG)).collect();
        store.add_texts(&lease, &texts).await.unwrap();
    };
    add(&[]).await;
    assert_eq!(numbers(&store, 0).await, Vec::<u64>::new());
    add(&[1, 2]).await;
    add(&[1 << 33]).await;
    // An acknowledgement was lost.
    add(&[1 << 33]).await;
    assert_eq!(numbers(&store, 0).await, [1, 2, 1 << 33]);
    assert_eq!(numbers(&store, 1).await, [2, 1 << 33]);
    assert_eq!(store.texts("b", 0).await.unwrap(), []);
}

pub(super) async fn streamed_text_of_an_earlier_worker_is_refused(store: Checked) {
    create(&store, "a").await;
    let first = store.claim(&claim("one", SHORT)).await.unwrap().unwrap();
    tokio::time::sleep(SHORT * 2).await;
    claimed(&store, "two").await;
    let late = store.add_texts(&first, &[text(1, LONG)]).await;
    refused(late, ErrorKind::LeaseLost);
    assert_eq!(numbers(&store, 0).await, Vec::<u64>::new());
}

pub(super) async fn streamed_text_is_gone_after_its_time(store: Checked) {
    create(&store, "a").await;
    let lease = claimed(&store, "one").await;
    let both = [text(1, SHORT), text(2, LONG)];
    store.add_texts(&lease, &both).await.unwrap();
    tokio::time::sleep(SHORT * 2).await;
    assert_eq!(numbers(&store, 0).await, [2]);
    // It is removed, so that its number is free again.
    store.add_texts(&lease, &[text(3, LONG)]).await.unwrap();
    store.add_texts(&lease, &[text(1, LONG)]).await.unwrap();
    assert_eq!(numbers(&store, 0).await, [1, 2, 3]);
}

pub(super) async fn a_commit_stores_its_text_or_nothing(store: Checked) {
    create(&store, "a").await;
    let lease = claimed(&store, "one").await;
    let with_text = |id: &str, after: u64, number: u64| Commit {
        texts: vec![text(number, LONG)],
        ..step(id, after, after + 1)
    };
    let commit = with_text("1", 0, 1);
    store.commit(&lease, &commit).await.unwrap();
    store.commit(&lease, &commit).await.unwrap();
    let behind = with_text("2", 7, 2);
    refused(store.commit(&lease, &behind).await, ErrorKind::Conflict);
    assert_eq!(numbers(&store, 0).await, [1]);
}
