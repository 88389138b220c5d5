; Made from editors/tree-sitter/queries/highlights.scm: see editors/tree-sitter/tests/queries.rs.
[
  "use" "const" "enum" "record" "let" "trace" "event" "predicate" "track" "unsafe" "property" "rule" "template"
  "requirement" "abstraction" "model" "query" "enforce" "system" "component" "compose" "test" "as" "ordered" "from" "each"
  "events" "lines" "order" "by" "where" "records" "join" "meta" "id" "complete" "format" "message" "on" "formal" "over" "valid"
  "absorbing" "terminal" "reward" "learn" "load" "import" "smoothing" "pac" "epsilon" "delta" "given" "expect" "at" "state"
  "init" "label" "assume" "guarantee" "step" "steps" "within" "end" "log" "warn" "reflect" "ask" "block" "stop" "invoke"
  "unseen" "error" "allow"
] @keyword

["if" "then" "else" "cases" "when"] @keyword.control.conditional
["forall" "exists" "any" "all" "count" "for"] @keyword.control.repeat

(temporal operator: _ @keyword.control.repeat)
(temporal_infix operator: _ @keyword.control.repeat)
["leads" "to" "precedes"] @keyword.control.repeat
(path_formula ["A" "E"] @keyword.control.repeat)
(probability ["P" "S"] @keyword.control.repeat)
(reward_formula ["R" "C" "I" "S"] @keyword.control.repeat)

["and" "or" "not" "in" "contains" "starts_with" "ends_with" "matches"] @keyword.operator
[
  "->" "<->" "<=>" "=>" "==" "!=" "<" "<=" ">" ">=" "+" "-" "*" "??" "=" "&" "&&" "|" "||" "!" "=?" "'" "?"
] @operator
(binary operator: "/" @operator)
["(" ")" "[" "]"] @punctuation.bracket
["," "." ":" ".."] @punctuation.delimiter

[(integer) (duration)] @constant.numeric.integer
[(float) (percent)] @constant.numeric.float
(boolean) @constant.builtin.boolean
[(null) (verdict)] @constant.builtin

[(string) (message)] @string
(escape) @constant.character.escape
(interpolation ["{" "}"] @punctuation.special)
(format) @string.special
(regex) @string.regexp

(line_comment) @comment.line
(block_comment) @comment.block
(doc_comment) @comment.line.documentation

(attribute "@" @attribute name: (identifier) @attribute)
(logic) @attribute

(path (identifier) @namespace)
((named_type (identifier) @type)
  (#not-any-of? @type "bool" "int" "float" "string" "time" "duration" "json" "pred"))
(predicate_type . (identifier) @type)
(range_type . (identifier) @type.builtin)
((named_type (identifier) @type.builtin)
  (#any-of? @type.builtin "bool" "int" "float" "string" "time" "duration" "json" "pred"))
["list" "set" "map"] @type.builtin

(enum_item name: (identifier) @type.enum)
(record_item name: (identifier) @type)
(enum_value name: (identifier) @type.enum.variant)
(value_type (identifier) @type.enum.variant)
(const_item name: (identifier) @constant)

(call function: (identifier) @function)
(predicate_item name: (identifier) @function)
(let_item name: (identifier) @function)
(track_item name: (identifier) @function)
(template_item name: (identifier) @function)

(property_item name: (identifier) @constructor)
(rule_item name: (identifier) @constructor)
(unsafe_item name: (identifier) @constructor)
(requirement_item name: (identifier) @constructor)
(query_item name: (identifier) @constructor)

(parameter name: (identifier) @variable.parameter)
(instances name: (identifier) @variable.parameter)
(quantifier name: (identifier) @variable.parameter)
(comprehension name: (identifier) @variable.parameter)
(named_argument name: (identifier) @variable.parameter)
(field name: (identifier) @variable.other.member)
(record_field name: (identifier) @variable.other.member)
(entry key: (identifier) @variable.other.member)
(member_access name: (identifier) @variable.other.member)
(member name: (identifier) @variable.other.member)
