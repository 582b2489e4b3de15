fn main() {
    let made = {
        use ::agents::__rt;
        __rt::branch(
            Review,
            (Deployer, reporter, Mail::new(url)),
            move |__cx, verdict, (__target0, __target1, __target2)| {
                #[deny(unreachable_patterns)]
                match verdict {
                    Passed(p) => __rt::go_on(__target0, __target0, __cx, p),
                    Failed(f) if f > 9 => {
                        let f = f.to_string();
                        __rt::go_on(__target0, __target1, __cx, f)
                    }
                    Failed(f) => {
                        if f > 3 {
                            __rt::go_on(__target0, __target1, __cx, f)
                        } else {
                            __rt::go_on(__target0, __target2, __cx, f.into())
                        }
                    }
                    Lost => unreachable!(),
                }
            },
        )
    };
}
