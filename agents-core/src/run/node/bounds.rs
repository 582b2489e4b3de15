//! How much is used in a run, and how much may be: each node counts what is used at it and below.

use super::Node;
use crate::{
    budget::{Budget, Cost, Limit, Paid},
    run::Passed,
};
use std::sync::{MutexGuard, PoisonError, atomic::Ordering::Relaxed};

impl Node {
    /// Bounds the agent that works here.
    pub(crate) fn bound(&self, budget: &Budget) {
        self.budget.get_or_init(|| budget.clone());
    }

    /// Bounds everything that works here and below.
    pub(crate) fn bound_run(&self, budget: &Budget) {
        self.run_budget.get_or_init(|| budget.clone());
    }

    /// Bounds the agent that works here, and everything below, by its place in a team.
    pub(crate) fn bound_place(&self, budget: &Budget) {
        self.places().push(budget.clone());
    }

    fn places(&self) -> MutexGuard<'_, Vec<Budget>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tightest of the bounds on something that is shared: tokens, depth.
    fn shared<T: Ord>(&self, bound: impl Fn(&Budget) -> Option<T>) -> Option<T> {
        let own = self.budget.get().into_iter().chain(self.run_budget.get());
        own.chain(&*self.places()).filter_map(bound).min()
    }

    /// This node's bound was passed.
    pub(crate) fn passed(&self, limit: Limit) -> Passed {
        Passed {
            agent: self.agent(),
            limit,
            level: self.level,
        }
    }

    /// Counts one model turn or one round of calls, here and above; says whose bound it passes.
    pub(crate) fn step(&self) -> Option<Passed> {
        let mut passed = None;
        self.each_up(|node| {
            let steps = node.steps.fetch_add(1, Relaxed) + 1;
            let own = node.budget.get().map(Budget::recursion);
            let bound = own.or_else(|| {
                node.places()
                    .iter()
                    .filter_map(Budget::said_recursion)
                    .min()
            });
            if let Some(bound) = bound.filter(|bound| steps > *bound) {
                passed = Some(node.passed(Limit::Recursion(bound)));
            }
        });
        passed
    }

    /// What ends the run is here, or around this: at that level of the tree.
    pub(crate) fn ends_run(&self, level: u32) {
        self.each_up(|node| node.ended_run.store(node.level <= level, Relaxed));
    }

    /// The tokens spent here and below.
    pub(crate) fn spent(&self) -> u64 {
        self.tokens.load(Relaxed)
    }

    /// Charges tokens, here and above.
    pub(crate) fn spend(&self, tokens: u64) {
        self.each_up(|node| {
            node.tokens.fetch_add(tokens, Relaxed);
        });
    }

    /// Charges what a model cost, here and above; `None` if that is not known.
    pub(crate) fn pay(&self, cost: Option<Cost>) {
        self.each_up(|node| node.bill().add(cost));
    }

    fn bill(&self) -> MutexGuard<'_, Paid> {
        self.paid.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was paid here and below.
    pub(crate) fn paid(&self) -> Paid {
        *self.bill()
    }

    /// Whether anybody bounds what is paid here.
    pub(crate) fn has_cost_bound(&self) -> bool {
        let mut has = false;
        self.each_up(|node| has |= node.shared(|budget| budget.cost).is_some());
        has
    }

    /// Whose bound on tokens or cost is reached, if anybody's.
    pub(crate) fn overspent(&self) -> Option<Passed> {
        let mut reached = None;
        self.each_up(|node| {
            let spent = node.tokens.load(Relaxed);
            if let Some(bound) = node
                .shared(|budget| budget.tokens)
                .filter(|bound| spent >= *bound)
            {
                reached = Some(node.passed(Limit::Tokens(bound)));
            }
            let paid = node.paid().known();
            if let Some(bound) = node
                .shared(|budget| budget.cost)
                .filter(|bound| paid >= *bound)
            {
                reached = Some(node.passed(Limit::Cost(bound)));
            }
        });
        reached
    }

    /// Whose bound on depth an agent at this node passes, if anybody's.
    pub(crate) fn too_deep(&self) -> Option<Passed> {
        let mut passed = None;
        self.each_up(|node| {
            let below = self.depth - node.depth;
            if let Some(bound) = node
                .shared(|budget| budget.depth)
                .filter(|bound| below > *bound)
            {
                passed = Some(node.passed(Limit::Depth(bound)));
            }
        });
        passed
    }

    fn each_up(&self, mut f: impl FnMut(&Node)) {
        f(self);
        let mut above = self.parent.upgrade();
        while let Some(node) = above {
            f(&node);
            above = node.parent.upgrade();
        }
    }
}
