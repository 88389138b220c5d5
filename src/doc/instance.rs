//! Instances of templates with arguments named like the parameters, so that the formula can be shown.

use std::fmt::Write;

use super::Facts;
use crate::check;
use crate::modules::Loader;
use crate::syntax::ast::{Template, Type, TypeKind};

/// The name of the module in the generated spec.
const MODULE: &str = "documented";

/// Returns the facts about a template with a predicate for each predicate parameter. Returns `None` if no argument can be
/// invented for a parameter, or if the template needs the events of its own module.
pub(super) fn facts(template: &Template, module: &str, loader: &dyn Loader) -> Option<Facts> {
    let text = spec(template, module)?;
    let checked = crate::front(
        "<doc>",
        &text,
        &Beside { module, loader },
        check::Limits::default(),
    );
    let spec = checked.spec?;
    super::facts(&spec, &checked.sources, "shown")
}

fn spec(template: &Template, module: &str) -> Option<String> {
    let mut fields = String::from("  key: json?\n  at: time?\n");
    let mut items = String::new();
    let mut args = Vec::new();
    for param in &template.params {
        let name = &param.name.text;
        let mut field = |ty: &str| {
            let _ = writeln!(fields, "  {name}: {ty}");
            name.to_string()
        };
        args.push(match param.ty.as_ref().map(|ty| (&ty.kind, ty))? {
            (TypeKind::Pred(types), _) if types.is_empty() => field("bool"),
            (TypeKind::Pred(types), _) => {
                field("bool");
                let params: Vec<String> = (0..types.len()).map(|i| format!("x{i}: json")).collect();
                let equal: Vec<String> = (0..types.len()).map(|i| format!("key == x{i}")).collect();
                let _ = writeln!(
                    items,
                    "predicate is_{name}({}) = {name} and {}",
                    params.join(", "),
                    equal.join(" and ")
                );
                format!("is_{name}")
            }
            _ if param.default.is_some() => continue,
            (_, ty) => match written(ty, module)?.as_str() {
                "int" => "3".to_owned(),
                "float" => "0.5".to_owned(),
                "duration" => "2s".to_owned(),
                "list<string>" | "set<string>" => {
                    let _ = writeln!(items, "const {name} = [\"a\", \"b\"]");
                    name.to_string()
                }
                ty @ ("bool" | "string" | "string?" | "json" | "json?" | "time" | "time?") => {
                    field(ty)
                }
                _ => return None,
            },
        });
    }
    let name = &template.name.text;
    Some(format!(
        "use {MODULE}\nevent {{\n{fields}}}\n{items}property shown = {MODULE}.{name}({})\n",
        args.join(", ")
    ))
}

/// Returns the text of a type, without white space.
fn written(ty: &Type, module: &str) -> Option<String> {
    let text = module.get(ty.span.range())?;
    Some(text.split_whitespace().collect())
}

/// Loads the documented module, and everything that it imports.
struct Beside<'a> {
    module: &'a str,
    loader: &'a dyn Loader,
}

impl Loader for Beside<'_> {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        if path == format!("{MODULE}.guard") {
            return Ok((self.module.to_owned(), path.to_owned()));
        }
        self.loader.load(path)
    }
}
