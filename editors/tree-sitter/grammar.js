/**
 * A tree-sitter grammar of Guard, for colours, folds, outlines, selections and structural search.
 *
 * It follows grammar/guard.lalrpop and accepts a little more: chains of comparisons, bounds after more operators, and any
 * expression where the compiler wants a path. What depends on columns, line breaks or the next word is in src/scanner.c.
 *
 * On size: an optional part before an expression doubles the states of that expression, as the number of children differs.
 * Such heads are hidden rules of their own (`_typed_head`). A token of the scanner that may follow an expression doubles the
 * states of all expressions, so there are two only: `_item_start` and `_line_end`.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

// From loose to tight; `tail` is for forms that reach as far right as they can.
const P = {
  tail: 0,
  response: 1,
  iff: 2,
  implies: 3,
  or: 4,
  and: 5,
  until: 6,
  prefix: 7,
  relation: 8,
  sum: 9,
  product: 10,
  coalesce: 11,
  negation: 12,
  cast: 13,
  postfix: 14,
};

/** A list with commas, with or without one at its end. */
const comma1 = (rule) => seq(rule, repeat(seq(',', rule)), optional(','));
const comma = (rule) => optional(comma1(rule));
/** A list that no bracket closes. */
const list1 = (rule) => seq(rule, repeat(seq(',', rule)));
/** Parts with optional commas between them. */
const loose = (rule) => repeat(seq(rule, optional(',')));
/** Parts that a comma or the end of a line separates. */
const fields = (rule, end) => seq(repeat(seq(rule, choice(',', end))), optional(rule));

/** A token, or the end of a broken item where it is missing. So an item that is not whole costs no other one. */
const must = ($, token) => choice(token, alias($._item_end, $.missing));

module.exports = grammar({
  name: 'guard',

  word: ($) => $.identifier,
  extras: ($) => [/[\s\uFEFF]/, $.line_comment, $.doc_comment, $.block_comment],
  externals: ($) => [
    // Before an item: its word, or an attribute, in column 0.
    $._item_start,
    // Before an item or at the end of the file: what is still open ends here.
    $._item_end,
    // The same, where a value should stand.
    $.missing,
    // The end of an arm of `cases` or of a field, by a line break.
    $._line_end,
    // A word before `:`, which is a name whatever it means elsewhere.
    $._plain,
    $.line_comment,
    $.doc_comment,
    $.block_comment,
    $._string_content,
    $._message_content,
    $.pattern,
    $._regex_end,
    $.flags,
    // Never in a tree: the scanner sees by it that the parser recovers from an error.
    $._error_sentinel,
  ],

  rules: {
    source_file: ($) => repeat(choice(seq($._item_start, repeat(seq($.attribute, optional($._item_start))), $._item, $._item_end), $._item_end)),

    _item: ($) =>
      choice(
        $.use_item,
        $.const_item,
        $.enum_item,
        $.record_item,
        $.let_item,
        $.trace_item,
        $.event_item,
        $.predicate_item,
        $.track_item,
        $.unsafe_item,
        $.property_item,
        $.rule_item,
        $.template_item,
        $.requirement_item,
        $.abstraction_item,
        $.model_item,
        $.query_item,
        $.enforce_item,
        $.system_item,
        $.component_item,
        $.compose_item,
        $.test_item,
      ),

    attribute: ($) => prec.right(seq('@', field('name', $.identifier), optional(seq('(', comma($._expression), $._close_paren)))),

    // ---------------------------------------------------------------- names and heads

    identifier: (_) => /[A-Za-z_][A-Za-z0-9_]*/,
    _plain_name: ($) => alias($._plain, $.identifier),
    _name: ($) => field('name', choice($.identifier, $._plain_name)),
    _of_type: ($) => seq(':', field('type', $._type)),
    _default: ($) => seq('=', field('default', $._expression)),
    _head: ($) => seq($._name, optional($.parameters)),
    _typed_head: ($) => seq($._name, optional($.parameters), optional($._of_type)),
    _formula_head: ($) => seq($._name, optional($.parameters), optional(seq(':', alias($.identifier, $.logic)))),
    parameters: ($) => seq('(', comma($.parameter), $._close_paren),
    parameter: ($) => seq($._typed_head, optional($._default)),

    // Rules of their own, so that what follows has one state for both choices.
    _when: ($) => must($, 'when'),
    _then: ($) => must($, 'then'),
    _else: ($) => must($, 'else'),
    _arrow: ($) => must($, '=>'),
    _colon: ($) => must($, ':'),
    _equals: ($) => must($, '='),
    _close_paren: ($) => must($, ')'),
    _close_bracket: ($) => must($, ']'),
    _close_brace: ($) => must($, '}'),
    _close_quote: ($) => must($, token.immediate('"')),

    // ---------------------------------------------------------------- definitions

    use_item: ($) =>
      seq('use', alias($._path, $.path), optional(choice($._alias, seq('.', '{', comma($.use_member), $._close_brace)))),
    _path: ($) => choice($.identifier, seq($._path, '.', $.identifier)),
    use_member: ($) => seq(field('name', $.identifier), optional($._alias)),
    _alias: ($) => seq('as', field('alias', $.identifier)),

    const_item: ($) => seq('const', $._typed_head, $._equals, field('value', $._expression)),
    enum_item: ($) =>
      seq(
        'enum',
        field('name', $.identifier),
        choice(
          seq('{', comma($.enum_value), $._close_brace),
          seq('ordered', '{', $.enum_value, repeat(seq('<', $.enum_value)), $._close_brace),
        ),
      ),
    enum_value: ($) => field('name', $.identifier),
    record_item: ($) => seq('record', field('name', $.identifier), '{', fields($.record_field, $._line_end), $._close_brace),
    record_field: ($) => seq($._name, $._of_type),
    let_item: ($) => seq('let', $._typed_head, $._equals, field('value', $._expression)),
    predicate_item: ($) => seq('predicate', $._head, $._equals, field('value', $._expression)),
    track_item: ($) =>
      seq(
        'track',
        $._typed_head,
        $._equals,
        field('initial', $._expression),
        choice(seq($._then, field('value', $._expression)), repeat1($.track_arm)),
      ),
    track_arm: ($) => seq('when', field('condition', $._expression), $._then, field('value', $._expression)),
    template_item: ($) => seq('template', $._formula_head, $._equals, field('formula', $._expression)),

    // ---------------------------------------------------------------- properties

    _message: ($) => seq('message', $.message),
    _on: ($) => seq('on', field('on', $.identifier)),
    _where: ($) => seq('where', field('where', $._expression)),
    unsafe_item: ($) => seq('unsafe', $._name, $._equals, field('formula', $._expression), optional($._message)),
    property_item: ($) =>
      seq(
        'property',
        $._formula_head,
        $._equals,
        field('formula', $._expression),
        optional(choice($._on, $._where)),
        optional($._message),
      ),
    rule_item: ($) =>
      seq(
        'rule',
        $._head,
        $._colon,
        $._when,
        field('trigger', $._expression),
        $._then,
        field('response', $._expression),
        $._window_clause,
        optional($._where),
        optional($._message),
      ),
    _window_clause: ($) => must($, $.within),
    within: ($) => prec.right(seq('within', $._window, optional(choice('steps', 'step')), optional(seq('or', 'end')))),
    _window: ($) => seq($._bound_value, optional(seq('..', $._bound_value))),
    // A bracket after `until` opens a bound, not a list.
    _bound_value: ($) => prec(1, choice($.integer, $.duration, $.identifier)),
    requirement_item: ($) =>
      seq(
        'requirement',
        field('name', $.identifier),
        field('text', $.string),
        '{',
        'formal',
        field('formula', $._expression),
        optional(choice($._on, $._where)),
        $._close_brace,
      ),

    // ---------------------------------------------------------------- data

    event_item: ($) => seq('event', '{', fields($.field, $._line_end), $._close_brace),
    field: ($) => seq(repeat($.attribute), $._name, $._of_type, optional($.source), optional($._default)),
    source: ($) => seq('from', optional('each'), $.string, optional(seq('in', $.identifier))),
    trace_item: ($) => seq('trace', '{', repeat($.trace_clause), $._close_brace),
    trace_clause: ($) =>
      choice(
        seq('events', 'from', choice($.string, 'lines')),
        seq('each', $.string),
        seq('order', 'by', list1($._expression)),
        $._where,
        seq('records', $._where),
        seq('join', field('name', $.identifier), 'on', field('key', $._expression), $._when, field('condition', $._expression)),
        seq('meta', $.field),
        seq('id', choice(seq('=', $.message), seq('from', $.string))),
        seq('complete', choice(seq('=', $._expression), seq('from', $.string))),
        seq('format', $.identifier),
      ),

    // ---------------------------------------------------------------- models and systems

    abstraction_item: ($) => seq('abstraction', field('name', $.identifier), '{', repeat($.abstraction_clause), $._close_brace),
    abstraction_clause: ($) =>
      choice(
        seq('steps', 'when', $._expression),
        seq('over', list1(choice($._expression, $.component))),
        seq(choice('valid', 'step', 'absorbing', 'terminal'), $._expression),
        $._reward,
      ),
    component: ($) => seq(field('name', $._plain_name), $._of_type, optional($._default)),
    _reward: ($) => seq($._reward_head, '=', $._expression),
    _reward_head: ($) => seq('reward', optional(field('name', $.identifier))),
    model_item: ($) =>
      seq(
        'model',
        field('name', $.identifier),
        '=',
        choice(
          seq('learn', choice(seq($.identifier, optional($.learn_settings)), $.learn_settings)),
          seq(choice('load', 'import'), $.string),
        ),
      ),
    learn_settings: ($) =>
      seq(
        '{',
        loose(
          choice(
            seq(choice('smoothing', 'order'), $._value),
            seq('by', $._expression),
            seq('pac', 'epsilon', $._value, 'delta', $._value),
          ),
        ),
        $._close_brace,
      ),
    _value: ($) => choice($._number, $.identifier),
    query_item: ($) => seq('query', $._name, $._equals, field('formula', $._expression), optional($._on)),

    system_item: ($) => seq('system', field('name', $.identifier), '{', repeat($.member), $._close_brace),
    component_item: ($) => seq('component', field('name', $.identifier), '{', repeat($.member), $._close_brace),
    member: ($) =>
      choice(
        seq('state', $._name, $._of_type, optional($._default)),
        seq(choice('init', 'assume', 'guarantee'), $._expression),
        seq($._step_head, $._branches),
        seq('label', field('name', choice($.identifier, $.string)), '=', $._expression),
        $._reward,
      ),
    _step_head: ($) => seq('step', field('name', $.identifier), optional(seq('when', field('condition', $._expression)))),
    _branches: ($) => must($, seq('=>', $.branch, repeat(seq('|', $.branch)))),
    branch: ($) => seq(optional(seq($._probability, ':')), choice('true', list1($.update))),
    _probability: ($) => choice($._number, seq($._number, '/', $._number), $._plain_name, $.parenthesized),
    // The value binds tighter than the bar between branches.
    update: ($) => prec(P.relation, seq(field('target', $.identifier), "'", choice('==', 'in'), field('value', $._expression))),
    compose_item: ($) => seq('compose', field('name', $.identifier), '=', $.identifier, repeat(seq('||', $.identifier))),

    // ---------------------------------------------------------------- enforcement and tests

    enforce_item: ($) =>
      seq(
        'enforce',
        choice(
          seq(optional('on'), field('name', $.identifier), '{', loose($.arm), $._close_brace),
          seq('when', field('condition', $._expression), $._reaction),
        ),
      ),
    _reaction: ($) => must($, seq('=>', $.action, optional($._on_error))),
    _on_error: (_) => seq('on', 'error', 'allow'),
    arm: ($) => choice(seq($._trigger, '=>', $.action), $._on_error),
    _trigger: ($) =>
      choice(
        seq(choice('<', '<=', '>', '>='), $._value),
        'unseen',
        seq($.verdict, optional(seq('for', $._value, choice('steps', 'step')))),
      ),
    verdict: (_) => choice('violated', 'satisfied', 'presumably_violated', 'presumably_satisfied', 'unknown'),
    action: ($) =>
      prec.right(
        seq(
          choice('log', 'warn', 'reflect', 'ask', 'block', 'stop', seq('invoke', field('name', $.identifier), $.arguments)),
          optional($.message),
        ),
      ),
    test_item: ($) => seq('test', field('name', $.string), '{', repeat($.test_clause), $._close_brace),
    test_clause: ($) =>
      choice(seq('given', $._expression), seq('expect', $._expression, optional($.verdict), optional(seq('at', $._value)))),

    // ---------------------------------------------------------------- types

    _type: ($) => choice($.missing, $._cast_type, $.predicate_type, $.range_type, $.value_type),
    _cast_type: ($) => choice($.named_type, $.generic_type, $.optional_type),
    named_type: ($) => $.identifier,
    generic_type: ($) => seq(choice('list', 'set', 'map'), '<', $._cast_type, '>'),
    optional_type: ($) => seq(choice($.named_type, $.generic_type), '?'),
    predicate_type: ($) => seq($.identifier, '(', comma($._type), $._close_paren),
    range_type: ($) => seq($.identifier, $._end, '..', $._end),
    _end: ($) => choice(seq(optional('-'), $.integer), $.identifier),
    value_type: ($) => seq('{', comma1($.identifier), $._close_brace),

    // ---------------------------------------------------------------- literals

    _number: ($) => choice($.integer, $.float, $.percent),
    integer: (_) => /[0-9][0-9_]*/,
    float: (_) => /[0-9][0-9_]*(\.[0-9][0-9_]*([eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)/,
    percent: (_) => /[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9]+)?%/,
    duration: (_) => /[0-9][0-9_]*(\.[0-9][0-9_]*)?(ns|us|ms|s|m|h|d)/,
    string: ($) => seq('"', repeat(choice($._string_content, $.escape)), $._close_quote),
    message: ($) =>
      seq(
        '"',
        repeat(choice($._message_content, $.escape, token.immediate('{{'), token.immediate('}}'), $.interpolation)),
        $._close_quote,
      ),
    interpolation: ($) =>
      seq(
        token.immediate('{'),
        $._expression,
        optional(seq(':', alias(token.immediate(/[^}"\n]+/), $.format))),
        $._close_brace,
      ),
    escape: (_) => token.immediate(/\\(u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|.)/),
    regex: ($) => seq('/', $.pattern, alias($._regex_end, '/'), optional($.flags)),
    boolean: (_) => choice('true', 'false'),
    null: (_) => 'null',

    // ---------------------------------------------------------------- expressions and formulas

    _expression: ($) =>
      choice(
        $.identifier,
        alias($._soft, $.identifier),
        $.integer,
        $.float,
        $.percent,
        $.duration,
        $.string,
        $.regex,
        $.boolean,
        $.null,
        $.parenthesized,
        $.list,
        $.comprehension,
        $.braces,
        $.cases,
        $.member_access,
        $.index,
        $.call,
        $.primed,
        $.cast,
        $.unary,
        $.binary,
        $.temporal,
        $.temporal_infix,
        $.response,
        $.conditional,
        $.quantifier,
        $.instances,
        $.count_window,
        $.path_formula,
        $.probability,
        $.reward_formula,
        $.missing,
      ),
    // Names, unless what follows makes them quantifiers.
    _soft: (_) => choice('any', 'all', 'count'),
    parenthesized: ($) => seq('(', $._expression, $._close_paren),
    list: ($) => seq('[', comma($._expression), $._close_bracket),
    comprehension: ($) =>
      seq('[', field('value', $._expression), 'for', field('name', $.identifier), 'in', field('source', $._expression), $._close_bracket),
    braces: ($) => seq('{', comma(choice($._expression, $.entry)), $._close_brace),
    entry: ($) => seq(field('key', choice($._plain_name, $.string)), ':', field('value', $._expression)),
    cases: ($) => seq('cases', '{', $.case_arm, repeat(seq(choice(',', $._line_end), $.case_arm)), optional(','), $._close_brace),
    case_arm: ($) => seq(choice('else', field('condition', $._expression)), $._arrow, field('value', $._expression)),
    member_access: ($) => prec.left(P.postfix, seq($._expression, '.', field('name', $.identifier))),
    index: ($) => prec.left(P.postfix, seq($._expression, '[', field('index', $._expression), $._close_bracket)),
    call: ($) => prec.left(P.postfix, seq(field('function', $._expression), $.arguments)),
    arguments: ($) => seq('(', comma(choice($._expression, $.named_argument)), $._close_paren),
    named_argument: ($) => seq(field('name', $._plain_name), ':', field('value', $._expression)),
    primed: ($) => prec.left(P.postfix, seq($._expression, "'")),
    cast: ($) => prec.left(P.cast, seq($._expression, 'as', field('type', $._cast_type))),
    unary: ($) =>
      choice(
        prec.right(P.negation, seq(field('operator', '-'), $._expression)),
        prec.right(P.prefix, seq(field('operator', choice('not', '!')), $._expression)),
      ),
    binary: ($) => {
      const infix = (side, level, sign) => side(level, seq($._expression, field('operator', sign), $._expression));
      const words = ['in', 'contains', 'starts_with', 'ends_with', 'matches'];
      return choice(
        infix(prec.right, P.coalesce, '??'),
        infix(prec.left, P.product, choice('*', '/')),
        infix(prec.left, P.sum, choice('+', '-')),
        infix(prec.left, P.relation, choice('==', '!=', '<', '<=', '>', '>=', seq('not', 'in'), ...words)),
        infix(prec.left, P.and, choice('and', '&', '&&')),
        infix(prec.left, P.or, choice('or', '|', '||')),
        infix(prec.right, P.implies, '->'),
        infix(prec.left, P.iff, choice('<->', '<=>')),
      );
    },
    bound: ($) => choice($._brackets, seq('<=', $._bound_value)),
    _brackets: ($) => seq('[', $._bound_value, ',', $._bound_value, $._close_bracket),
    temporal: ($) => prec.right(P.prefix, seq($._prefix_operator, $._expression)),
    // A bracket after an operator opens a bound, not a list.
    _prefix_operator: ($) => {
      const plain = ['next', 'X', 'weak_next', 'N', 'previously', 'Y', 'weak_previously', 'Z', 'never'];
      const branching = ['AG', 'AF', 'AX', 'EG', 'EF', 'EX'];
      const bounded = ['always', 'G', 'eventually', 'F', 'once', 'O', 'historically', 'H'];
      return prec.right(
        choice(field('operator', choice(...plain, ...branching)), seq(field('operator', choice(...bounded)), optional($.bound))),
      );
    },
    temporal_infix: ($) => {
      const words = ['unless', 'release', 'strong_release', 'since', 'back_to'];
      const letters = ['W', 'R', 'M', 'S', 'B'];
      return prec.right(
        P.until,
        choice(
          seq($._expression, field('operator', choice(...words, ...letters)), $._expression),
          seq($._expression, field('operator', choice('until', 'U')), optional($.bound), $._expression),
        ),
      );
    },
    response: ($) =>
      prec.right(
        P.response,
        choice(
          seq($._expression, 'leads', 'to', $._expression, optional($.within)),
          seq($._expression, 'precedes', $._expression),
        ),
      ),
    conditional: ($) =>
      prec.right(
        P.tail,
        seq('if', field('condition', $._expression), $._then, field('then', $._expression), $._else, field('else', $._expression)),
      ),
    quantifier: ($) =>
      prec.right(
        P.tail,
        seq(
          choice('any', 'all', 'count'),
          field('name', $.identifier),
          'in',
          field('source', $._expression),
          $._colon,
          field('body', $._expression),
        ),
      ),
    instances: ($) => prec.right(P.tail, seq($._instances_head, $._colon, field('body', $._expression))),
    _instances_head: ($) =>
      seq(
        choice('forall', 'exists'),
        choice($._name, seq('(', comma1(field('name', $.identifier)), $._close_paren)),
        optional(seq('in', field('source', $._expression))),
      ),
    count_window: ($) => prec(P.postfix, seq('count', alias($._brackets, $.bound), $.arguments)),
    path_formula: ($) => seq(choice('A', 'E'), '[', $._expression, $._close_bracket),
    _threshold: ($) => choice('=?', seq(choice('<', '<=', '>', '>='), $._value)),
    probability: ($) =>
      seq(choice('P', 'S'), $._threshold, '[', $._expression, optional(seq('given', field('given', $._expression))), $._close_bracket),
    reward_formula: ($) => seq($._reward_formula_head, '[', choice($._expression, $._reward_kind), $._close_bracket),
    _reward_formula_head: ($) => seq('R', optional(seq('{', $.string, $._close_brace)), $._threshold),
    _reward_kind: ($) => choice(seq('C', optional(seq('<=', $._bound_value))), seq('I', '=', $._bound_value), 'S'),
  },
});
