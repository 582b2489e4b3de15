use crate::{
    catalogue::{CannotLend, Catalogue},
    lend::{Lend, lend},
};
use agents::{
    Tool,
    recovery::{CallError, Decision, ErrorContext, Execution, Failure, feedback},
};

#[tokio::test]
async fn the_tool_is_a_function() {
    let catalogue = Catalogue::default();
    let lent = lend("Emma".into(), "Ada".into(), catalogue.clone()).await;
    assert_eq!(lent, Err(CannotLend::Busy));
    let lent = lend("Emma".into(), "Ada".into(), catalogue).await;
    assert_eq!(lent, Ok("Ada has Emma".to_owned()));
}

#[test]
fn its_arms_can_be_asked() {
    let lend = Lend {
        catalogue: Catalogue::default(),
    };
    let out = CannotLend::AllOut { back_in_days: 4 };
    let error = CallError::Execution(Failure::Returned(&out));
    let plan = lend.on_error(error, &ErrorContext::new("lend"));
    let expected: Decision<Execution> = feedback("offer to keep a copy in 4 days");
    assert_eq!(plan, Some(expected.into()));
}
