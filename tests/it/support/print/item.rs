//! Prints items, with one clause per line.

use super::Printer;
use super::expr::is_word;
use guard_lang::syntax::ast::*;

impl Printer {
    pub(super) fn item(&mut self, item: &Item) {
        for doc in &item.docs {
            self.line(&["/// ", &doc.text]);
        }
        for attribute in &item.attributes {
            self.attribute(attribute);
            self.put("\n");
        }
        match &item.kind {
            ItemKind::Use(it) => self.use_item(it),
            ItemKind::Const(it) => {
                self.head("const", &it.name, &[], it.ty.as_ref());
                self.equals(&it.value);
            }
            ItemKind::Enum(it) => self.enumeration(it),
            ItemKind::Record(it) => {
                self.open("record", Some(&it.name));
                for field in &it.fields {
                    self.docs(&field.docs);
                    self.put("  ");
                    self.typed(&field.name, &field.ty);
                    self.put("\n");
                }
                self.put("}");
            }
            ItemKind::Let(it) => {
                self.head("let", &it.name, &it.params, it.ty.as_ref());
                self.equals(&it.value);
            }
            ItemKind::Trace(it) => {
                self.open("trace", None);
                it.clauses
                    .iter()
                    .for_each(|clause| self.trace_clause(clause));
                self.put("}");
            }
            ItemKind::Event(it) => {
                self.open("event", None);
                for field in &it.fields {
                    self.docs(&field.docs);
                    self.put("  ");
                    self.field(field);
                    self.put("\n");
                }
                self.put("}");
            }
            ItemKind::Predicate(it) => {
                self.head("predicate", &it.name, &it.params, None);
                self.equals(&it.value);
            }
            ItemKind::Track(it) => {
                self.head("track", &it.name, &it.params, it.ty.as_ref());
                self.equals(&it.init);
                for arm in &it.arms {
                    if let Some(condition) = &arm.condition {
                        self.put(" when ");
                        self.any(condition);
                    }
                    self.put(" then ");
                    self.any(&arm.value);
                }
            }
            ItemKind::Unsafe(it) => {
                self.head("unsafe", &it.name, &[], None);
                self.equals(&it.value);
                self.say(it.message.as_ref());
            }
            ItemKind::Property(it) => {
                self.head("property", &it.name, &[], None);
                self.logic(it.logic);
                self.equals(&it.formula);
                self.kept(it.kept.as_ref());
                self.on(it.on.as_ref());
                self.say(it.message.as_ref());
            }
            ItemKind::Rule(it) => {
                self.head("rule", &it.name, &it.params, None);
                self.put(": when ");
                self.closed(&it.trigger);
                self.put(" then ");
                self.closed(&it.response);
                self.put(" ");
                self.window(&it.within);
                self.kept(it.kept.as_ref());
                self.say(it.message.as_ref());
            }
            ItemKind::Template(it) => {
                self.head("template", &it.name, &it.params, None);
                self.logic(it.logic);
                self.equals(&it.formula);
            }
            ItemKind::Requirement(it) => {
                self.head("requirement", &it.name, &[], None);
                self.put(" ");
                self.string(&it.text);
                self.put(" {\n  formal ");
                self.any(&it.formal);
                self.kept(it.kept.as_ref());
                self.on(it.on.as_ref());
                self.put("\n}");
            }
            ItemKind::Abstraction(it) => {
                self.open("abstraction", Some(&it.name));
                it.clauses
                    .iter()
                    .for_each(|clause| self.abstraction_clause(clause));
                self.put("}");
            }
            ItemKind::Model(it) => self.model(it),
            ItemKind::Query(it) => {
                self.head("query", &it.name, &[], None);
                self.equals(&it.formula);
                self.on(it.on.as_ref());
            }
            ItemKind::Enforce(it) => self.enforce(it),
            ItemKind::System(it) => self.system("system", it),
            ItemKind::Component(it) => self.system("component", it),
            ItemKind::Compose(it) => {
                self.head("compose", &it.name, &[], None);
                self.put(" = ");
                for (index, part) in it.parts.iter().enumerate() {
                    self.put(if index > 0 { " || " } else { "" });
                    self.put(&part.text);
                }
            }
            ItemKind::Test(it) => self.test(it),
            ItemKind::Broken(it) => {
                self.put("// broken: ");
                self.put(&it.word);
            }
        }
        self.put("\n");
    }

    fn docs(&mut self, docs: &[Doc]) {
        for doc in docs {
            self.line(&["  /// ", &doc.text]);
        }
    }

    fn attribute(&mut self, attribute: &Attribute) {
        self.put("@");
        self.put(&attribute.name.text);
        if !attribute.args.is_empty() {
            self.put("(");
            self.list(&attribute.args, Self::any);
            self.put(")");
        }
    }

    fn head(&mut self, word: &str, name: &Name, params: &[Param], ty: Option<&Type>) {
        self.put(word);
        self.put(" ");
        self.put(&name.text);
        if !params.is_empty() {
            self.put("(");
            self.list(params, |p, param| {
                p.put(&param.name.text);
                p.of_type(param.ty.as_ref());
                if let Some(default) = &param.default {
                    p.equals(default);
                }
            });
            self.put(")");
        }
        self.of_type(ty);
    }

    fn open(&mut self, word: &str, name: Option<&Name>) {
        self.put(word);
        if let Some(name) = name {
            self.put(" ");
            self.put(&name.text);
        }
        self.put(" {\n");
    }

    fn of_type(&mut self, ty: Option<&Type>) {
        if let Some(ty) = ty {
            self.put(": ");
            self.ty(ty);
        }
    }

    fn typed(&mut self, name: &Name, ty: &Type) {
        self.put(&name.text);
        self.of_type(Some(ty));
    }

    fn equals(&mut self, value: &Expr) {
        self.put(" = ");
        self.any(value);
    }

    fn say(&mut self, message: Option<&Message>) {
        if let Some(message) = message {
            self.put(" message ");
            self.message(message);
        }
    }

    fn kept(&mut self, kept: Option<&Expr>) {
        if let Some(kept) = kept {
            self.clause(" where ", kept);
        }
    }

    fn on(&mut self, on: Option<&Name>) {
        if let Some(on) = on {
            self.put(" on ");
            self.put(&on.text);
        }
    }

    fn logic(&mut self, logic: Option<(Logic, Loc)>) {
        self.put(match logic {
            Some((Logic::Ltl, _)) => ": ltl",
            Some((Logic::Ctl, _)) => ": ctl",
            Some((Logic::Pctl, _)) => ": pctl",
            None => "",
        });
    }

    fn use_item(&mut self, it: &Use) {
        self.put("use ");
        for (index, name) in it.path.iter().enumerate() {
            self.put(if index > 0 { "." } else { "" });
            self.put(&name.text);
        }
        let alias = |p: &mut Self, alias: &Option<Name>| {
            if let Some(alias) = alias {
                p.put(" as ");
                p.put(&alias.text);
            }
        };
        alias(self, &it.alias);
        if let Some(members) = &it.members {
            self.put(".{");
            self.list(members, |p, member| {
                p.put(&member.name.text);
                alias(p, &member.alias);
            });
            self.put("}");
        }
    }

    fn enumeration(&mut self, it: &Enum) {
        self.head("enum", &it.name, &[], None);
        self.put(if it.ordered { " ordered {" } else { " {" });
        for (index, value) in it.values.iter().enumerate() {
            let between = if it.ordered { " <" } else { "," };
            self.put(if index > 0 { between } else { "" });
            if value.docs.is_empty() {
                self.put(" ");
            } else {
                self.put("\n");
                self.docs(&value.docs);
                self.put("  ");
            }
            self.put(&value.name.text);
        }
        self.put(" }");
    }

    fn field(&mut self, field: &Field) {
        for attribute in &field.attributes {
            self.attribute(attribute);
            self.put(" ");
        }
        self.typed(&field.name, &field.ty);
        if let Some(source) = &field.source {
            self.put(if source.each { " from each " } else { " from " });
            self.string(&source.path);
            if let Some(unit) = &source.unit {
                self.put(" in ");
                self.put(&unit.text);
            }
        }
        match &field.absent {
            Some(Absent::Unknown(_)) => self.put(" = unknown"),
            Some(Absent::Default(value)) => self.equals(value),
            None => {}
        }
    }

    fn trace_clause(&mut self, clause: &TraceClause) {
        if let TraceClauseKind::Meta(field) = &clause.kind {
            self.docs(&field.docs);
        }
        self.put("  ");
        match &clause.kind {
            TraceClauseKind::EventsFrom(path) => {
                self.put("events from ");
                self.string(path);
            }
            TraceClauseKind::EventsFromLines => self.put("events from lines"),
            TraceClauseKind::Each(path) => {
                self.put("each ");
                self.string(path);
            }
            TraceClauseKind::OrderBy(keys) => {
                self.put("order by ");
                self.list(keys, Self::postfix);
            }
            TraceClauseKind::Where(e) => self.clause("where ", e),
            TraceClauseKind::RecordsWhere(e) => self.clause("records where ", e),
            TraceClauseKind::Join(join) => {
                self.put("join ");
                self.put(&join.name.text);
                self.clause(" on ", &join.key);
                self.clause(" when ", &join.condition);
            }
            TraceClauseKind::Meta(field) => {
                self.put("meta ");
                self.field(field);
            }
            TraceClauseKind::Id(IdSource::Message(message)) => {
                self.put("id = ");
                self.message(message);
            }
            TraceClauseKind::Id(IdSource::Pointer(path)) => {
                self.put("id from ");
                self.string(path);
            }
            TraceClauseKind::CompleteFrom(path) => {
                self.put("complete from ");
                self.string(path);
            }
            TraceClauseKind::Complete(e) => self.clause("complete = ", e),
            TraceClauseKind::Format(name) => {
                self.put("format ");
                self.put(&name.text);
            }
        }
        self.put("\n");
    }

    fn clause(&mut self, word: &str, e: &Expr) {
        self.put(word);
        self.after_word(e);
    }

    fn abstraction_clause(&mut self, clause: &AbstractionClause) {
        self.put("  ");
        match &clause.kind {
            AbstractionClauseKind::StepsWhen(e) => self.clause("steps when ", e),
            AbstractionClauseKind::Over(entries) => {
                self.put("over ");
                self.list(entries, |p, entry| match entry {
                    OverEntry::Expr(e) => p.postfix(e),
                    OverEntry::Declared { name, ty, value } => {
                        p.typed(name, ty);
                        if let Some(value) = value {
                            p.equals(value);
                        }
                    }
                });
            }
            AbstractionClauseKind::Valid(e) => self.clause("valid ", e),
            AbstractionClauseKind::Step(e) => self.clause("step ", e),
            AbstractionClauseKind::Absorbing(e) => self.clause("absorbing ", e),
            AbstractionClauseKind::Terminal(e) => self.clause("terminal ", e),
            AbstractionClauseKind::Reward { name, value } => self.reward(name.as_ref(), value),
        }
        self.put("\n");
    }

    fn reward(&mut self, name: Option<&Name>, value: &Expr) {
        self.put("reward");
        if let Some(name) = name {
            self.put(" ");
            self.put(&name.text);
        }
        self.equals(value);
    }

    fn model(&mut self, it: &Model) {
        self.head("model", &it.name, &[], None);
        match &it.source {
            ModelSource::Load(path) => {
                self.put(" = load ");
                self.string(path);
            }
            ModelSource::Import(path) => {
                self.put(" = import ");
                self.string(path);
            }
            ModelSource::Learn {
                abstraction,
                settings,
            } => {
                self.put(" = learn ");
                if let Some(name) = abstraction {
                    self.put(&name.text);
                    self.put(" ");
                }
                self.put("{\n");
                for setting in settings {
                    match &setting.kind {
                        LearnSettingKind::Smoothing(e) => self.clause("  smoothing ", e),
                        LearnSettingKind::By(e) => {
                            self.put("  by ");
                            self.postfix(e);
                        }
                        LearnSettingKind::Order(e) => self.clause("  order ", e),
                        LearnSettingKind::Pac { epsilon, delta } => {
                            self.clause("  pac epsilon ", epsilon);
                            self.clause(" delta ", delta);
                        }
                    }
                    self.put("\n");
                }
                self.put("}");
            }
        }
    }

    fn enforce(&mut self, it: &Enforce) {
        match &it.kind {
            EnforceKind::Property { name, arms } => self.arms("enforce ", name, arms),
            EnforceKind::Query { name, arms } => self.arms("enforce on ", name, arms),
            EnforceKind::When {
                condition,
                action,
                on_error_allow,
            } => {
                self.clause("enforce when ", condition);
                self.put(" => ");
                self.action(action);
                self.put(if *on_error_allow {
                    " on error allow"
                } else {
                    ""
                });
            }
        }
    }

    fn arms(&mut self, head: &str, name: &Name, arms: &[Arm]) {
        self.put(head);
        self.put(&name.text);
        self.put(" {\n");
        for arm in arms {
            self.put("  ");
            match arm {
                Arm::OnErrorAllow(_) => self.put("on error allow"),
                Arm::Act {
                    trigger, action, ..
                } => {
                    match trigger {
                        ArmTrigger::Threshold(threshold) => {
                            self.put(threshold.op.as_str());
                            self.put(" ");
                            self.any(&threshold.value);
                        }
                        ArmTrigger::Unseen => self.put("unseen"),
                        ArmTrigger::Outcome(outcome) => {
                            self.put(outcome.kind.as_str());
                            if let Some(steps) = &outcome.steps {
                                self.clause(" for ", steps);
                                self.put(" steps");
                            }
                        }
                    }
                    self.put(" => ");
                    self.action(action);
                }
            }
            self.put("\n");
        }
        self.put("}");
    }

    fn action(&mut self, action: &Action) {
        match &action.kind {
            ActionKind::Invoke { name, args } => {
                self.put("invoke ");
                self.put(&name.text);
                self.args(args);
            }
            other => self.put(other.as_str()),
        }
        if let Some(message) = &action.message {
            self.put(" ");
            self.message(message);
        }
    }

    fn system(&mut self, word: &str, it: &System) {
        self.open(word, Some(&it.name));
        for member in &it.members {
            self.docs(&member.docs);
            self.put("  ");
            match &member.kind {
                SystemMemberKind::State { name, ty, init } => {
                    self.put("state ");
                    self.typed(name, ty);
                    if let Some(init) = init {
                        self.equals(init);
                    }
                }
                SystemMemberKind::Init(e) => self.clause("init ", e),
                SystemMemberKind::Step {
                    name,
                    when,
                    branches,
                } => {
                    self.put("step ");
                    self.put(&name.text);
                    if let Some(when) = when {
                        self.clause(" when ", when);
                    }
                    self.put(" => ");
                    self.branches(branches);
                }
                SystemMemberKind::Label { name, value } => {
                    self.put("label ");
                    if is_word(&name.text) {
                        self.put(&name.text);
                    } else {
                        self.put("\"");
                        self.quoted(&name.text, false);
                        self.put("\"");
                    }
                    self.equals(value);
                }
                SystemMemberKind::Reward { name, value } => self.reward(name.as_ref(), value),
                SystemMemberKind::Assume(e) => self.clause("assume ", e),
                SystemMemberKind::Guarantee(e) => self.clause("guarantee ", e),
            }
            self.put("\n");
        }
        self.put("}");
    }

    fn branches(&mut self, branches: &[Branch]) {
        for (index, branch) in branches.iter().enumerate() {
            self.put(if index > 0 { " | " } else { "" });
            if let Some(probability) = &branch.probability {
                self.any(probability);
                self.put(": ");
            }
            if branch.updates.is_empty() {
                self.put("true");
            }
            self.list(&branch.updates, |p, update| {
                p.put(&update.target.text);
                p.put(match update.kind {
                    UpdateKind::Equal => "' == ",
                    UpdateKind::In => "' in ",
                });
                p.sum(&update.value);
            });
        }
    }

    fn test(&mut self, it: &Test) {
        self.put("test ");
        self.string(&it.name);
        self.put(" {\n");
        for clause in &it.clauses {
            match clause {
                TestClause::Given(events, _) => self.clause("  given ", events),
                TestClause::Expect(expect) => {
                    self.clause("  expect ", &expect.subject);
                    if let Some(outcome) = expect.outcome {
                        self.put(" ");
                        self.put(outcome.as_str());
                    }
                    if let Some(at) = &expect.at {
                        self.clause(" at ", at);
                    }
                }
            }
            self.put("\n");
        }
        self.put("}");
    }

    fn message(&mut self, message: &Message) {
        if !message.raw.is_empty() {
            self.put(&message.raw);
            return;
        }
        self.put("\"");
        for part in &message.parts {
            match part {
                MessagePart::Text(text) => self.quoted(text, true),
                MessagePart::Value { expr, format, .. } => {
                    self.put("{");
                    self.any(expr);
                    if let Some(format) = format {
                        self.put(":");
                        self.put(format);
                    }
                    self.put("}");
                }
            }
        }
        self.put("\"");
    }

    pub(super) fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Primitive(primitive) => self.put(primitive.as_str()),
            TypeKind::Named(name) => self.put(&name.text),
            TypeKind::Optional(inner) => {
                self.ty(inner);
                self.put("?");
            }
            TypeKind::List(inner) => self.generic("list<", inner),
            TypeKind::Set(inner) => self.generic("set<", inner),
            TypeKind::Map(inner) => self.generic("map<", inner),
            TypeKind::Range(low, high) => {
                self.put("int ");
                self.any(low);
                self.put("..");
                self.any(high);
            }
            TypeKind::Values(values) => {
                self.put("{ ");
                self.list(values, |p, value| p.put(&value.text));
                self.put(" }");
            }
            TypeKind::Pred(types) => {
                self.put("pred");
                if !types.is_empty() {
                    self.put("(");
                    self.list(types, Self::ty);
                    self.put(")");
                }
            }
        }
    }

    fn generic(&mut self, head: &str, inner: &Type) {
        self.put(head);
        self.ty(inner);
        self.put(">");
    }
}
