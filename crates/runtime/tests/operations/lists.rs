//! Lists of runs: labels, filters, pages.

use crate::*;
use agents_store::RunFilter;

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_found_by_their_labels() {
    everywhere("labels", async |place| {
        let (runtime, _) = place.runtime([]);
        let payer = payer(&runtime, &Till::open());
        for (month, house) in [("9", "north"), ("10", "north"), ("10", "south")] {
            let run = payer
                .run("Pay.")
                .label("month", month)
                .label("house", house);
            run.start().await.unwrap();
        }
        let found = async |wanted: &[(&str, &str)]| {
            let labels = wanted.iter();
            let labels = labels.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let filter = RunFilter {
                labels: labels.collect(),
                ..RunFilter::default()
            };
            place.client().runs(&filter).await.unwrap().len()
        };
        assert_eq!(found(&[("month", "10")]).await, 2);
        assert_eq!(found(&[("month", "10"), ("house", "south")]).await, 1);
        assert_eq!(found(&[("house", "west")]).await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_stay_while_runs_are_stored() {
    everywhere("pages", async |place| {
        let (runtime, _) = place.runtime([]);
        let payer = payer(&runtime, &Till::open());
        let mut stored = Vec::new();
        for _ in 0..7 {
            stored.push(start(&payer).await.id().to_owned());
        }
        let mut filter = RunFilter {
            limit: 2,
            ..RunFilter::default()
        };
        let mut seen = Vec::new();
        loop {
            let page = place.client().runs(&filter).await.unwrap();
            let Some(last) = page.last() else { break };
            filter.before = Some(last.id.clone());
            seen.extend(page.into_iter().map(|run| run.id));
            // Somebody else stores one between two pages.
            start(&payer).await;
        }
        stored.reverse();
        assert_eq!(seen, stored, "each once, and none that came later");
    })
    .await;
}
