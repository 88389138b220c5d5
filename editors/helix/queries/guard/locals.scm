; Made from editors/tree-sitter/queries/locals.scm: see editors/tree-sitter/tests/queries.rs.
[
  (let_item)
  (predicate_item)
  (track_item)
  (template_item)
  (rule_item)
  (instances)
  (quantifier)
  (comprehension)
  (system_item)
  (component_item)
] @local.scope

(parameter name: (identifier) @local.definition)
(instances name: (identifier) @local.definition)
(quantifier name: (identifier) @local.definition)
(comprehension name: (identifier) @local.definition)
(member name: (identifier) @local.definition)

(identifier) @local.reference
