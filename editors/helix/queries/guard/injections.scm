; Made from editors/tree-sitter/queries/injections.scm: see editors/tree-sitter/tests/queries.rs.
((pattern) @injection.content
  (#set! injection.language "regex"))

([(line_comment) (block_comment)] @injection.content
  (#set! injection.language "comment"))
