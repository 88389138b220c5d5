; Names of captures are those of tree-sitter and Neovim. A later pattern wins over an earlier one.

(identifier) @variable

[
  "use" "const" "enum" "record" "let" "trace" "event" "predicate" "track" "unsafe" "property" "rule" "template"
  "requirement" "abstraction" "model" "query" "enforce" "system" "component" "compose" "test" "as" "ordered" "from" "each"
  "events" "lines" "order" "by" "where" "records" "join" "meta" "id" "complete" "format" "message" "on" "formal" "over" "valid"
  "absorbing" "terminal" "reward" "learn" "load" "import" "smoothing" "pac" "epsilon" "delta" "given" "expect" "at" "state"
  "init" "label" "assume" "guarantee" "step" "steps" "within" "end" "log" "warn" "reflect" "ask" "block" "stop" "invoke"
  "unseen" "error" "allow"
] @keyword

["if" "then" "else" "cases" "when"] @keyword.conditional
["forall" "exists" "any" "all" "count" "for"] @keyword.repeat

(temporal operator: _ @keyword.repeat)
(temporal_infix operator: _ @keyword.repeat)
["leads" "to" "precedes"] @keyword.repeat
(path_formula ["A" "E"] @keyword.repeat)
(probability ["P" "S"] @keyword.repeat)
(reward_formula ["R" "C" "I" "S"] @keyword.repeat)

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
(regex) @string.regexp

[(line_comment) (block_comment)] @comment
(doc_comment) @comment.documentation

(attribute "@" @attribute name: (identifier) @attribute)
(logic) @attribute

(path (identifier) @module)
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

(call function: (identifier) @function.call)
(call function: (member_access name: (identifier) @function.call))
(count_window "count" @function.builtin)
(predicate_item name: (identifier) @function)
(let_item name: (identifier) @function)
(track_item name: (identifier) @function)
(template_item name: (identifier) @function)

(property_item name: (identifier) @type.definition)
(rule_item name: (identifier) @type.definition)
(unsafe_item name: (identifier) @type.definition)
(requirement_item name: (identifier) @type.definition)
(query_item name: (identifier) @type.definition)

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
