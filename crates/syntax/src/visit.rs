//! Walking the tree.
//!
//! [`children`] calls a function on the direct parts of an expression, [`walk`] on the expression
//! and everything below it, [`item_expressions`] on the expressions of an item.

use super::ast::*;

/// Calls `f` on each direct part of `expr`, in the order of the text.
pub fn children<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Bool(_)
        | ExprKind::Null
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Percent(_)
        | ExprKind::String(_)
        | ExprKind::Regex { .. }
        | ExprKind::Duration(_)
        | ExprKind::EmptyBraces
        | ExprKind::Name(_)
        | ExprKind::Error => {}
        ExprKind::List(elements) | ExprKind::Set(elements) => elements.iter().for_each(f),
        ExprKind::Record(entries) => entries.iter().for_each(|entry| f(&entry.value)),
        ExprKind::Member { base, .. } => f(base),
        ExprKind::Index { base, index } => {
            f(base);
            f(index);
        }
        ExprKind::Call { callee, args } => {
            f(callee);
            args.iter().for_each(|arg| f(&arg.value));
        }
        ExprKind::CountWindow { args, .. } => args.iter().for_each(|arg| f(&arg.value)),
        ExprKind::Prime(operand)
        | ExprKind::Unary { operand, .. }
        | ExprKind::Cast { operand, .. }
        | ExprKind::Temporal { operand, .. }
        | ExprKind::Ctl { operand, .. } => f(operand),
        ExprKind::Chain { operands, .. } => operands.iter().for_each(f),
        ExprKind::Binary { lhs, rhs, .. }
        | ExprKind::TemporalInfix { lhs, rhs, .. }
        | ExprKind::LeadsTo { lhs, rhs, .. }
        | ExprKind::Precedes { lhs, rhs } => {
            f(lhs);
            f(rhs);
        }
        ExprKind::If {
            condition,
            then,
            otherwise,
        } => {
            f(condition);
            f(then);
            f(otherwise);
        }
        ExprKind::Cases(arms) => {
            for arm in arms {
                arm.condition.iter().for_each(&mut *f);
                f(&arm.value);
            }
        }
        ExprKind::Quantifier { source, body, .. } => {
            f(source);
            f(body);
        }
        ExprKind::Instances { domain, body, .. } => {
            domain.iter().for_each(|domain| f(domain));
            f(body);
        }
        ExprKind::Path { path, .. } => f(path),
        ExprKind::Probability { bound, path, given } => {
            bound_children(bound, f);
            f(path);
            given.iter().for_each(|given| f(given));
        }
        ExprKind::SteadyState { bound, operand } => {
            bound_children(bound, f);
            f(operand);
        }
        ExprKind::Reward { bound, kind, .. } => {
            bound_children(bound, f);
            if let RewardKind::Reach(target) = kind {
                f(target);
            }
        }
    }
}

fn bound_children<'a>(bound: &'a ProbBound, f: &mut dyn FnMut(&'a Expr)) {
    if let ProbBound::Compare { threshold, .. } = bound {
        f(threshold);
    }
}

/// Calls `f` on `expr` and on everything below it, parents first.
pub fn walk<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        f(expr);
        let from = stack.len();
        children(expr, &mut |child| stack.push(child));
        if let Some(pushed) = stack.get_mut(from..) {
            pushed.reverse();
        }
    }
}

/// Calls `f` on each expression in a message.
pub fn message_expressions<'a>(message: &'a Message, f: &mut dyn FnMut(&'a Expr)) {
    for part in &message.parts {
        if let MessagePart::Value { expr, .. } = part {
            f(expr);
        }
    }
}

/// Calls `f` on each outermost expression of an item, in the order of the text.
pub fn item_expressions<'a>(item: &'a Item, f: &mut dyn FnMut(&'a Expr)) {
    for attribute in &item.attributes {
        attribute.args.iter().for_each(&mut *f);
    }
    match &item.kind {
        ItemKind::Use(_)
        | ItemKind::Enum(_)
        | ItemKind::Record(_)
        | ItemKind::Compose(_)
        | ItemKind::Broken(_) => {}
        ItemKind::Const(it) => f(&it.value),
        ItemKind::Let(it) => {
            params(&it.params, f);
            f(&it.value);
        }
        ItemKind::Trace(it) => it.clauses.iter().for_each(|clause| trace_clause(clause, f)),
        ItemKind::Event(it) => it.fields.iter().for_each(|it| field(it, f)),
        ItemKind::Predicate(it) => {
            params(&it.params, f);
            f(&it.value);
        }
        ItemKind::Track(it) => {
            params(&it.params, f);
            f(&it.init);
            for arm in &it.arms {
                arm.condition.iter().for_each(&mut *f);
                f(&arm.value);
            }
        }
        ItemKind::Unsafe(it) => {
            f(&it.value);
            it.message.iter().for_each(|m| message_expressions(m, f));
        }
        ItemKind::Property(it) => {
            f(&it.formula);
            it.kept.iter().for_each(&mut *f);
            it.message.iter().for_each(|m| message_expressions(m, f));
        }
        ItemKind::Rule(it) => {
            params(&it.params, f);
            f(&it.trigger);
            f(&it.response);
            it.kept.iter().for_each(&mut *f);
            it.message.iter().for_each(|m| message_expressions(m, f));
        }
        ItemKind::Template(it) => {
            params(&it.params, f);
            f(&it.formula);
        }
        ItemKind::Requirement(it) => {
            f(&it.formal);
            it.kept.iter().for_each(f);
        }
        ItemKind::Abstraction(it) => {
            it.clauses
                .iter()
                .for_each(|clause| abstraction_clause(clause, f));
        }
        ItemKind::Model(it) => model(it, f),
        ItemKind::Query(it) => f(&it.formula),
        ItemKind::Enforce(it) => enforce(it, f),
        ItemKind::System(it) | ItemKind::Component(it) => {
            it.members
                .iter()
                .for_each(|member| system_member(member, f));
        }
        ItemKind::Test(it) => {
            for clause in &it.clauses {
                match clause {
                    TestClause::Given(events, _) => f(events),
                    TestClause::Expect(expect) => {
                        f(&expect.subject);
                        expect.at.iter().for_each(&mut *f);
                    }
                }
            }
        }
    }
}

fn params<'a>(params: &'a [Param], f: &mut dyn FnMut(&'a Expr)) {
    params
        .iter()
        .filter_map(|param| param.default.as_ref())
        .for_each(f);
}

fn field<'a>(field: &'a Field, f: &mut dyn FnMut(&'a Expr)) {
    for attribute in &field.attributes {
        attribute.args.iter().for_each(&mut *f);
    }
    if let Some(Absent::Default(value)) = &field.absent {
        f(value);
    }
}

fn trace_clause<'a>(clause: &'a TraceClause, f: &mut dyn FnMut(&'a Expr)) {
    match &clause.kind {
        TraceClauseKind::EventsFrom(_)
        | TraceClauseKind::EventsFromLines
        | TraceClauseKind::Each(_)
        | TraceClauseKind::CompleteFrom(_)
        | TraceClauseKind::Format(_)
        | TraceClauseKind::Id(IdSource::Pointer(_)) => {}
        TraceClauseKind::OrderBy(keys) => keys.iter().for_each(f),
        TraceClauseKind::Where(e)
        | TraceClauseKind::RecordsWhere(e)
        | TraceClauseKind::Complete(e) => f(e),
        TraceClauseKind::Join(join) => {
            f(&join.key);
            f(&join.condition);
        }
        TraceClauseKind::Meta(meta) => field(meta, f),
        TraceClauseKind::Id(IdSource::Message(message)) => message_expressions(message, f),
    }
}

fn abstraction_clause<'a>(clause: &'a AbstractionClause, f: &mut dyn FnMut(&'a Expr)) {
    match &clause.kind {
        AbstractionClauseKind::StepsWhen(e)
        | AbstractionClauseKind::Valid(e)
        | AbstractionClauseKind::Step(e)
        | AbstractionClauseKind::Absorbing(e)
        | AbstractionClauseKind::Terminal(e)
        | AbstractionClauseKind::Reward { value: e, .. } => f(e),
        AbstractionClauseKind::Over(entries) => {
            for entry in entries {
                match entry {
                    OverEntry::Expr(e) => f(e),
                    OverEntry::Declared { value, .. } => value.iter().for_each(&mut *f),
                }
            }
        }
    }
}

fn model<'a>(model: &'a Model, f: &mut dyn FnMut(&'a Expr)) {
    if let ModelSource::Learn { settings, .. } = &model.source {
        for setting in settings {
            match &setting.kind {
                LearnSettingKind::Smoothing(e)
                | LearnSettingKind::By(e)
                | LearnSettingKind::Order(e) => f(e),
                LearnSettingKind::Pac { epsilon, delta } => {
                    f(epsilon);
                    f(delta);
                }
            }
        }
    }
}

fn enforce<'a>(enforce: &'a Enforce, f: &mut dyn FnMut(&'a Expr)) {
    match &enforce.kind {
        EnforceKind::Property { arms, .. } | EnforceKind::Query { arms, .. } => {
            for arm in arms {
                if let Arm::Act {
                    trigger,
                    action: act,
                    ..
                } = arm
                {
                    match trigger {
                        ArmTrigger::Threshold(threshold) => f(&threshold.value),
                        ArmTrigger::Outcome(outcome) => outcome.steps.iter().for_each(&mut *f),
                        ArmTrigger::Unseen => {}
                    }
                    action(act, f);
                }
            }
        }
        EnforceKind::When {
            condition,
            action: act,
            ..
        } => {
            f(condition);
            action(act, f);
        }
    }
}

fn action<'a>(action: &'a Action, f: &mut dyn FnMut(&'a Expr)) {
    if let ActionKind::Invoke { args, .. } = &action.kind {
        args.iter().for_each(|arg| f(&arg.value));
    }
    action
        .message
        .iter()
        .for_each(|message| message_expressions(message, f));
}

fn system_member<'a>(member: &'a SystemMember, f: &mut dyn FnMut(&'a Expr)) {
    match &member.kind {
        SystemMemberKind::State { init, .. } => init.iter().for_each(f),
        SystemMemberKind::Init(e)
        | SystemMemberKind::Label { value: e, .. }
        | SystemMemberKind::Reward { value: e, .. }
        | SystemMemberKind::Assume(e)
        | SystemMemberKind::Guarantee(e) => f(e),
        SystemMemberKind::Step { when, branches, .. } => {
            when.iter().for_each(&mut *f);
            for branch in branches {
                branch.probability.iter().for_each(&mut *f);
                branch.updates.iter().for_each(|update| f(&update.value));
            }
        }
    }
}
