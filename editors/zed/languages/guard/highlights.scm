; Made from editors/tree-sitter/queries/highlights.scm: see editors/tree-sitter/tests/queries.rs.
(identifier) @variable

[
  "use" "const" "enum" "record" "let" "trace" "event" "predicate" "track" "unsafe" "property" "rule" "template"
  "requirement" "abstraction" "model" "query" "enforce" "system" "component" "compose" "test" "as" "ordered" "from" "each"
  "events" "lines" "order" "by" "where" "records" "join" "meta" "id" "complete" "format" "message" "on" "formal" "over" "valid"
  "absorbing" "terminal" "reward" "learn" "load" "import" "smoothing" "pac" "epsilon" "delta" "given" "expect" "at" "state"
  "init" "label" "assume" "guarantee" "step" "steps" "within" "end" "log" "warn" "reflect" "ask" "block" "stop" "invoke"
  "unseen" "error" "allow"
] @keyword

["if" "then" "else" "cases" "when"] @keyword.control
["forall" "exists" "any" "all" "count" "for"] @keyword.control

(temporal operator: _ @keyword.control)
(temporal_infix operator: _ @keyword.control)
["leads" "to" "precedes"] @keyword.control
(path_formula ["A" "E"] @keyword.control)
(probability ["P" "S"] @keyword.control)
(reward_formula ["R" "C" "I" "S"] @keyword.control)

["and" "or" "not" "in" "contains" "starts_with" "ends_with" "matches"] @keyword.operator
[
  "->" "<->" "<=>" "=>" "==" "!=" "<" "<=" ">" ">=" "+" "-" "*" "??" "=" "&" "&&" "|" "||" "!" "=?" "'" "?"
] @operator
(binary operator: "/" @operator)
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," "." ":" ".."] @punctuation.delimiter

[(integer) (float) (percent) (duration)] @number
(boolean) @boolean
[(null) (verdict)] @constant.builtin
((identifier) @constant.builtin
  (#any-of? @constant.builtin "unknown" "last"))

[(string) (message)] @string
(escape) @string.escape
(interpolation ["{" "}"] @punctuation.special)
(format) @string.special
(regex) @string.regex

[(line_comment) (block_comment)] @comment
(doc_comment) @comment.doc

(attribute "@" @attribute name: (identifier) @attribute)
(logic) @attribute

(path (identifier) @namespace)
(named_type (identifier) @type)
(predicate_type . (identifier) @type)
(range_type . (identifier) @type)
((named_type (identifier) @type.builtin)
  (#any-of? @type.builtin "bool" "int" "float" "string" "time" "duration" "json" "pred"))
["list" "set" "map"] @type.builtin

(enum_item name: (identifier) @type)
(record_item name: (identifier) @type)
(enum_value name: (identifier) @constant)
(value_type (identifier) @constant)
(const_item name: (identifier) @constant)

(call function: (identifier) @function)
(call function: (member_access name: (identifier) @function))
(count_window "count" @keyword.control)
(predicate_item name: (identifier) @function)
(let_item name: (identifier) @function)
(track_item name: (identifier) @function)
(template_item name: (identifier) @function)

(property_item name: (identifier) @type)
(rule_item name: (identifier) @type)
(unsafe_item name: (identifier) @type)
(requirement_item name: (identifier) @type)
(query_item name: (identifier) @type)

(parameter name: (identifier) @variable.parameter)
(instances name: (identifier) @variable.parameter)
(quantifier name: (identifier) @variable.parameter)
(comprehension name: (identifier) @variable.parameter)
(named_argument name: (identifier) @variable.parameter)
(field name: (identifier) @property)
(record_field name: (identifier) @property)
(entry key: (identifier) @property)
(member_access name: (identifier) @property)
(member name: (identifier) @property)
