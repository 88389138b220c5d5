; Made from editors/tree-sitter/queries/indents.scm: see editors/tree-sitter/tests/queries.rs.
[
  (event_item)
  (trace_item)
  (enum_item)
  (record_item)
  (requirement_item)
  (abstraction_item)
  (enforce_item)
  (system_item)
  (component_item)
  (test_item)
  (learn_settings)
  (cases)
  (list)
  (comprehension)
  (braces)
  (parameters)
  (arguments)
  (parenthesized)
] @indent

["}" "]" ")"] @outdent
