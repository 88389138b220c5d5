//! Paths into JSON: RFC 6901 pointers as steps, RFC 9535 queries over values.

use std::sync::Arc;

use jsonpath_rust::parser::model::{JpQuery, Segment, Selector};
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::js_path_process;
use jsonpath_rust::query::queryable::Queryable;
use smol_str::SmolStr;

use super::projection::ProjectionError;
use crate::input_schema::Path;
use crate::value::{Number, Value};

/// One step down: what it is called in an object, and which item it is in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathStep {
    pub(crate) name: Option<SmolStr>,
    pub(crate) index: Option<usize>,
}

/// A path that is ready to be followed.
#[derive(Clone, Debug)]
pub(crate) enum Route {
    /// Leads to one place.
    Steps(Vec<PathStep>),
    /// Must be searched for in a tree.
    Query(Query),
}

/// A compiled JSONPath that may have many nodes.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    query: Arc<JpQuery>,
    /// The steps up to the first that may have many nodes.
    pub(crate) lead: Vec<PathStep>,
    /// Whether nodes are chosen by what lies below the lead (filters, descent), not by place alone.
    pub(crate) searches: bool,
}

impl Route {
    pub(crate) fn new(path: &Path) -> Result<Route, ProjectionError> {
        match path {
            Path::Pointer(tokens) => Ok(Route::Steps(tokens.iter().map(pointer_step).collect())),
            Path::JsonPath(text) => {
                let query = parse_json_path(text).map_err(|error| ProjectionError::JsonPath {
                    path: text.clone(),
                    reason: error.to_string(),
                })?;
                let lead: Vec<PathStep> = query.segments.iter().map_while(single).collect();
                if lead.len() == query.segments.len() {
                    return Ok(Route::Steps(lead));
                }
                let searches = query.segments[lead.len()..].iter().any(searches);
                Ok(Route::Query(Query {
                    query: Arc::new(query),
                    lead,
                    searches,
                }))
            }
        }
    }

    /// Whether the path begins in a list, so that a list at the top of a file is the document, not a list of records.
    pub(crate) fn begins_in_list(&self) -> bool {
        match self {
            Route::Steps(steps) => steps.first().is_none_or(|step| step.index.is_some()),
            Route::Query(query) => match (query.lead.first(), query.query.segments.first()) {
                (Some(step), _) => step.index.is_some(),
                (None, Some(Segment::Selector(selector))) => !matches!(selector, Selector::Name(_)),
                (None, Some(Segment::Selectors(selectors))) => !selectors
                    .iter()
                    .any(|selector| matches!(selector, Selector::Name(_))),
                (None, _) => false,
            },
        }
    }
}

/// Returns the names of the members on a path that leads to one place through members alone; without names it is the whole value.
pub(crate) fn names_of(path: &Path) -> Option<Vec<SmolStr>> {
    match Route::new(path).ok()? {
        Route::Steps(steps) => steps.into_iter().map(|step| step.name).collect(),
        Route::Query(_) => None,
    }
}

/// Returns the step of a token. RFC 6901: a token of digits without leading zeros is an index in a list.
fn pointer_step(token: &SmolStr) -> PathStep {
    let canonical = token == "0" || !token.starts_with(['0', '+']);
    PathStep {
        name: Some(token.clone()),
        index: token.parse().ok().filter(|_| canonical),
    }
}

fn single(segment: &Segment) -> Option<PathStep> {
    let selector = match segment {
        Segment::Selector(selector) => selector,
        Segment::Selectors(selectors) => match selectors.as_slice() {
            [only] => only,
            _ => return None,
        },
        Segment::Descendant(_) => return None,
    };
    match selector {
        Selector::Name(name) => Some(PathStep {
            name: Some(SmolStr::new(name)),
            index: None,
        }),
        Selector::Index(index) => usize::try_from(*index).ok().map(|index| PathStep {
            name: None,
            index: Some(index),
        }),
        _ => None,
    }
}

fn searches(segment: &Segment) -> bool {
    let filter = |selector: &Selector| matches!(selector, Selector::Filter(_));
    match segment {
        Segment::Descendant(_) => true,
        Segment::Selector(selector) => filter(selector),
        Segment::Selectors(selectors) => selectors.iter().any(filter),
    }
}

/// Returns the value that a step leads to.
pub(crate) fn follow<'v>(value: &'v Value, step: &PathStep) -> Option<&'v Value> {
    match value {
        Value::Object(object) => object.get(step.name.as_deref()?),
        Value::List(items) => items.get(step.index?),
        _ => None,
    }
}

/// Returns the value that steps lead to.
pub(crate) fn follow_all<'v>(value: &'v Value, steps: &[PathStep]) -> Option<&'v Value> {
    steps.iter().try_fold(value, follow)
}

impl Query {
    /// Whether there is something that nodes are looked for in: the value that the steps before the first choice lead to.
    pub(crate) fn has_root(&self, value: &Value) -> bool {
        matches!(
            follow_all(value, &self.lead),
            Some(Value::List(_) | Value::Object(_))
        )
    }

    /// Returns all nodes, in the order of the text.
    pub(crate) fn nodes(&self, root: &Value) -> Vec<Value> {
        // The whole value is converted, since a filter may refer to its root (`$`).
        if follow_all(root, &self.lead).is_none() {
            return Vec::new();
        }
        let tree = Tree::from(root.clone());
        js_path_process(&self.query, &tree)
            .map(|nodes| {
                nodes
                    .into_iter()
                    .map(|node| node.val.value.clone())
                    .collect()
            })
            .unwrap_or_default()
    }
}

/// A value with its children laid out as the query engine wants them.
#[derive(Clone, Debug, Default)]
struct Tree {
    value: Value,
    items: Option<Vec<Tree>>,
    members: Option<Vec<(SmolStr, Tree)>>,
}

impl From<Value> for Tree {
    fn from(value: Value) -> Tree {
        let mut tree = Tree {
            value,
            items: None,
            members: None,
        };
        match &tree.value {
            Value::List(items) => {
                tree.items = Some(items.iter().cloned().map(Tree::from).collect());
            }
            Value::Object(object) => {
                let member = |(key, value): (&SmolStr, &Value)| (key.clone(), value.clone().into());
                tree.members = Some(object.iter().map(member).collect());
            }
            _ => {}
        }
        tree
    }
}

impl PartialEq for Tree {
    fn eq(&self, other: &Tree) -> bool {
        self.value == other.value
    }
}

impl From<&str> for Tree {
    fn from(text: &str) -> Tree {
        Value::string(text).into()
    }
}

impl From<String> for Tree {
    fn from(text: String) -> Tree {
        Value::string(text).into()
    }
}

impl From<bool> for Tree {
    fn from(value: bool) -> Tree {
        Value::Bool(value).into()
    }
}

impl From<i64> for Tree {
    fn from(int: i64) -> Tree {
        Value::int(int.into()).into()
    }
}

impl From<f64> for Tree {
    fn from(float: f64) -> Tree {
        Number::float(float)
            .map_or(Value::Null, Value::Number)
            .into()
    }
}

impl From<Vec<Tree>> for Tree {
    fn from(items: Vec<Tree>) -> Tree {
        Value::list(items.into_iter().map(|tree| tree.value).collect()).into()
    }
}

impl Queryable for Tree {
    fn get(&self, key: &str) -> Option<&Tree> {
        let members = self.members.as_ref()?;
        members
            .iter()
            .find_map(|(name, tree)| (name == key).then_some(tree))
    }

    fn as_array(&self) -> Option<&Vec<Tree>> {
        self.items.as_ref()
    }

    fn as_object(&self) -> Option<Vec<(&str, &Tree)>> {
        let members = self.members.as_ref()?;
        Some(members.iter().map(|(key, tree)| (&**key, tree)).collect())
    }

    fn as_str(&self) -> Option<&str> {
        self.value.as_str()
    }

    fn as_i64(&self) -> Option<i64> {
        match &self.value {
            Value::Number(Number::Int(int)) => i64::try_from(*int).ok(),
            _ => None,
        }
    }

    fn as_f64(&self) -> Option<f64> {
        match &self.value {
            Value::Number(number) => Some(number.to_f64()),
            _ => None,
        }
    }

    fn as_bool(&self) -> Option<bool> {
        match &self.value {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    fn null() -> Tree {
        Tree::default()
    }
}
