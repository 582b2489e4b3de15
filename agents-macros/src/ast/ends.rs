//! The expressions in which the arms of a `branch!` end.

use syn::{Block, Expr, Stmt};

/// The last expression of one path through the code of an arm: its value.
pub(crate) enum End<'a> {
    Expr(&'a mut Expr),
    /// A block without a last expression, so that its value is `()`.
    Block(&'a mut Block),
}

/// Calls the visitor for each last expression of a body: of every branch and block, also if a block has none. A macro
/// such as `unreachable!()` is left out.
pub(crate) fn visit(body: &mut Expr, visitor: &mut impl FnMut(End<'_>)) {
    match body {
        Expr::Group(group) => visit(&mut group.expr, visitor),
        Expr::Paren(paren) => visit(&mut paren.expr, visitor),
        Expr::Block(block) => visit_block(&mut block.block, visitor),
        Expr::If(choice) => {
            visit_block(&mut choice.then_branch, visitor);
            if let Some((_, otherwise)) = &mut choice.else_branch {
                visit(otherwise, visitor);
            }
        }
        Expr::Match(choice) => {
            for arm in &mut choice.arms {
                visit(&mut arm.body, visitor);
            }
        }
        Expr::Macro(_) => {}
        end => visitor(End::Expr(end)),
    }
}

fn visit_block(block: &mut Block, visitor: &mut impl FnMut(End<'_>)) {
    match block.stmts.last_mut() {
        Some(Stmt::Expr(end, None)) => visit(end, visitor),
        Some(Stmt::Macro(_)) => {}
        _ => visitor(End::Block(block)),
    }
}
