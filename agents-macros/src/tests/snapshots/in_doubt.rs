#[allow(trivial_bounds, unused_qualifications)]
const _: () = {
    use ::agents::__rt;
    impl Pay {
        pub(crate) async fn __in_doubt(
            &self,
            args: <Pay as __rt::MayBeInDoubt>::Args,
            cx: &__rt::ToolContext,
        ) -> __rt::Result<
            __rt::InDoubt<<Pay as __rt::MayBeInDoubt>::Found>,
            __rt::CannotTell,
        > {
            #[allow(
                unused_variables,
                reason = "not everything tells what became of an execution"
            )]
            let cx = cx;
            let key = cx.idempotency_key();
            use __rt::doubts::*;
            let known: __rt::InDoubt<<Pay as __rt::MayBeInDoubt>::Found> = match self
                .bank
                .find(key, args.amount)
                .await?
            {
                Some(receipt) => done(receipt),
                None => not_done(),
            };
            __rt::Ok(known)
        }
    }
};
