fn main() {
    let made = {
        use ::agents::__rt;
        __rt::branch(
            Review,
            (Deployer, reporter, Mail::new(url)),
            move |cx, verdict, (target0, target1, target2)| {
                #[deny(unreachable_patterns)]
                match verdict {
                    Passed(p) => __rt::go_on(target0, target0, cx, p),
                    Failed(f) if f > 9 => {
                        let f = f.to_string();
                        __rt::go_on(target0, target1, cx, f)
                    }
                    Failed(f) => {
                        if f > 3 {
                            __rt::go_on(target0, target1, cx, f)
                        } else {
                            __rt::go_on(target0, target2, cx, f.into())
                        }
                    }
                    Lost => unreachable!(),
                }
            },
        )
    };
}
