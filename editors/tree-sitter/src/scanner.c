// What depends on columns, line breaks or the next word: items, ends of arms and fields, names before a colon, comments, and
// the contents of strings and regular expressions. It keeps no state. Of the C library it calls only what tree-sitter has for grammars
// in WebAssembly, as which Zed runs it.
#include "tree_sitter/parser.h"

#include <string.h>

// In the order of `externals` in grammar.js.
enum Token {
  ITEM_START,
  ITEM_END,
  MISSING,
  LINE_END,
  PLAIN,
  LINE_COMMENT,
  DOC_COMMENT,
  BLOCK_COMMENT,
  STRING_CONTENT,
  MESSAGE_CONTENT,
  PATTERN,
  REGEX_END,
  FLAGS,
  ERROR_SENTINEL,
};

// Longer words are in neither of the lists below.
enum { LONGEST_WORD = 32 };

// Words that begin an item in column 0: ITEM_WORDS of crates/syntax/src/token.rs.
static const char *const ITEM_WORDS[] = {
    "use",         "const", "enum",  "record",  "let",    "trace",     "event",   "predicate",
    "track",       "unsafe", "property", "rule", "template", "requirement", "abstraction", "model",
    "query",       "enforce", "system", "component", "compose", "test", NULL,
};

// Words that continue an expression at the beginning of a line: Token::continues_line there, but for `else` and the words
// that need a second one.
static const char *const CONTINUING_WORDS[] = {
    "and",   "or",      "in",     "contains", "starts_with",    "ends_with", "matches", "as",       "then",
    "until", "U",       "unless", "W",        "release",        "strong_release", "M",  "since",    "back_to",
    "B",     "precedes", "within", NULL,
};

void *tree_sitter_guard_external_scanner_create(void) { return NULL; }

void tree_sitter_guard_external_scanner_destroy(void *payload) { (void)payload; }

unsigned tree_sitter_guard_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload;
  (void)buffer;
  return 0;
}

void tree_sitter_guard_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  (void)payload;
  (void)buffer;
  (void)length;
}

static bool is_letter(int32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool begins_word(int32_t c) { return is_letter(c) || c == '_'; }

static bool continues_word(int32_t c) { return begins_word(c) || (c >= '0' && c <= '9'); }

static bool is_space(int32_t c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xFEFF; }

static bool is_one_of(const char *word, const char *const *words) {
  for (; *words; words++) {
    if (strcmp(word, *words) == 0) return true;
  }
  return false;
}

static unsigned read_word(TSLexer *lexer, char word[LONGEST_WORD]) {
  unsigned length = 0;
  while (continues_word(lexer->lookahead)) {
    if (length < LONGEST_WORD - 1) word[length++] = (char)lexer->lookahead;
    lexer->advance(lexer, false);
  }
  word[length] = 0;
  return length;
}

// Reads to the end of the line.
static void read_line(TSLexer *lexer) {
  while (!lexer->eof(lexer) && lexer->lookahead != '\n') lexer->advance(lexer, false);
}

// Reads the rest of a comment after its slash and star; false if it does not end.
static bool read_block(TSLexer *lexer) {
  while (!lexer->eof(lexer)) {
    bool star = lexer->lookahead == '*';
    lexer->advance(lexer, false);
    if (star && lexer->lookahead == '/') {
      lexer->advance(lexer, false);
      return true;
    }
  }
  return false;
}

// Passes white space and comments; false if a slash follows that begins no comment.
static bool pass_blank(TSLexer *lexer) {
  for (;;) {
    while (is_space(lexer->lookahead)) lexer->advance(lexer, false);
    if (lexer->lookahead != '/') return true;
    lexer->advance(lexer, false);
    if (lexer->lookahead == '/') {
      read_line(lexer);
    } else if (lexer->lookahead == '*') {
      lexer->advance(lexer, false);
      if (!read_block(lexer)) return false;
    } else {
      return false;
    }
  }
}

// Whether the word that follows is `wanted`.
static bool next_word_is(TSLexer *lexer, const char *wanted) {
  char word[LONGEST_WORD];
  if (!pass_blank(lexer)) return false;
  read_word(lexer, word);
  return strcmp(word, wanted) == 0;
}

static bool read_content(TSLexer *lexer, bool is_message) {
  bool any = false;
  for (; !lexer->eof(lexer); any = true) {
    int32_t c = lexer->lookahead;
    if (c == '"' || c == '\\' || c == '\r' || c == '\n' || (is_message && (c == '{' || c == '}'))) break;
    lexer->advance(lexer, false);
  }
  lexer->result_symbol = is_message ? MESSAGE_CONTENT : STRING_CONTENT;
  return any;
}

// Reads a regular expression to the slash that closes it. A slash in brackets is an ordinary character.
static bool read_pattern(TSLexer *lexer) {
  bool in_class = false;
  lexer->result_symbol = PATTERN;
  for (;;) {
    if (lexer->lookahead == '\\') lexer->advance(lexer, false);
    else if (lexer->lookahead == '[') in_class = true;
    else if (lexer->lookahead == ']') in_class = false;
    else if (lexer->lookahead == '/' && !in_class) return true;
    if (lexer->eof(lexer) || lexer->lookahead == '\r' || lexer->lookahead == '\n') return false;
    lexer->advance(lexer, false);
  }
}

// Reads a comment after its first slash.
static bool read_comment(TSLexer *lexer) {
  if (lexer->lookahead == '*') {
    lexer->advance(lexer, false);
    lexer->result_symbol = BLOCK_COMMENT;
    // Without its end, it reaches to the end of the file.
    read_block(lexer);
    lexer->mark_end(lexer);
    return true;
  }
  if (lexer->lookahead != '/') return false;
  lexer->advance(lexer, false);
  bool is_doc = lexer->lookahead == '!';
  if (lexer->lookahead == '/') {
    lexer->advance(lexer, false);
    is_doc = lexer->lookahead != '/';
  }
  read_line(lexer);
  lexer->mark_end(lexer);
  lexer->result_symbol = is_doc ? DOC_COMMENT : LINE_COMMENT;
  return true;
}

// Whether what is not a word, at the beginning of a line, continues the expression before it.
static bool sign_continues(TSLexer *lexer) {
  int32_t c = lexer->lookahead;
  if (c == '!' || c == '-') {
    lexer->advance(lexer, false);
    return lexer->lookahead == (c == '!' ? '=' : '>');
  }
  static const char SIGNS[] = "=<>&|+*/?.,:')]}";
  return c > 0 && c < 128 && memchr(SIGNS, (char)c, sizeof SIGNS - 1) != NULL;
}

// Whether a word at the beginning of a line continues the expression or the field before it.
static bool word_continues(TSLexer *lexer, const char *word) {
  if (strcmp(word, "not") == 0) return next_word_is(lexer, "in");
  if (strcmp(word, "leads") == 0) return next_word_is(lexer, "to");
  if (strcmp(word, "else") == 0) {
    if (!pass_blank(lexer) || lexer->lookahead != '=') return true;
    lexer->advance(lexer, false);
    return lexer->lookahead != '>';
  }
  if (strcmp(word, "from") == 0) {
    return pass_blank(lexer) && (lexer->lookahead == '"' || next_word_is(lexer, "each"));
  }
  return is_one_of(word, CONTINUING_WORDS);
}

// The mark before an item in column 0 or at the end of the file: first the item before it ends, with all that is open in it.
static bool mark_item(TSLexer *lexer, const bool *valid, bool at_end) {
  bool recovers = valid[ERROR_SENTINEL];
  if (!recovers && !at_end && valid[ITEM_START]) lexer->result_symbol = ITEM_START;
  else if (recovers || (valid[ITEM_END] && !valid[ITEM_START])) lexer->result_symbol = ITEM_END;
  else if (valid[MISSING]) lexer->result_symbol = MISSING;
  else {
    // What cannot end here is broken, and the parser finds what can.
    lexer->result_symbol = ITEM_END;
    return !at_end;
  }
  return true;
}

bool tree_sitter_guard_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  (void)payload;
  bool recovers = valid[ERROR_SENTINEL];
  if (!recovers) {
    bool in_string = valid[STRING_CONTENT] || valid[MESSAGE_CONTENT];
    if (in_string || valid[PATTERN] || valid[REGEX_END]) {
      bool line_ends = lexer->eof(lexer) || lexer->lookahead == '\r' || lexer->lookahead == '\n';
      // The end of an interpolation that is not closed stands before the next item.
      if (valid[MESSAGE_CONTENT] && lexer->get_column(lexer) == 0) line_ends = true;
      if (in_string && !line_ends) return read_content(lexer, valid[MESSAGE_CONTENT]);
      if (valid[PATTERN]) return read_pattern(lexer);
      // A string or regular expression that is not closed ends with its line.
      lexer->result_symbol = in_string ? ITEM_END : REGEX_END;
      if (!in_string && !line_ends) lexer->advance(lexer, false);
      return true;
    }
    if (valid[FLAGS] && is_letter(lexer->lookahead)) {
      while (is_letter(lexer->lookahead)) lexer->advance(lexer, false);
      lexer->result_symbol = FLAGS;
      return true;
    }
  }
  bool passed = false;
  bool line_broken = false;
  bool in_column_zero = false;
  for (; is_space(lexer->lookahead); lexer->advance(lexer, true)) {
    in_column_zero = lexer->lookahead == '\n' || (in_column_zero && lexer->lookahead == 0xFEFF);
    line_broken = line_broken || in_column_zero;
    passed = true;
  }
  // Marks of items and ends are empty, before what follows.
  lexer->mark_end(lexer);
  if (lexer->eof(lexer)) return mark_item(lexer, valid, true);
  // At the beginning of the file and after a mark nothing is passed. Columns are slow: only words of items ask for them.
  bool ask_column = !passed && !recovers && (valid[ITEM_START] || valid[ITEM_END] || valid[MISSING]);
  if (lexer->lookahead == '/') {
    lexer->advance(lexer, false);
    if (lexer->lookahead != '/' && lexer->lookahead != '*') return false;
    return read_comment(lexer);
  }
  bool ends_line = valid[LINE_END] && !recovers;
  if (!begins_word(lexer->lookahead)) {
    if (lexer->lookahead == '@' && ask_column) in_column_zero = lexer->get_column(lexer) == 0;
    if (lexer->lookahead == '@' && in_column_zero) return mark_item(lexer, valid, false);
    // The attribute of a field may stand on the line of the field before it.
    lexer->result_symbol = LINE_END;
    return ends_line && (lexer->lookahead == '@' || (line_broken && !sign_continues(lexer)));
  }
  if (!in_column_zero && !ask_column && !ends_line && !(valid[PLAIN] && !recovers)) return false;
  char word[LONGEST_WORD];
  unsigned length = read_word(lexer, word);
  bool is_item = (in_column_zero || ask_column) && is_one_of(word, ITEM_WORDS);
  if (is_item && ask_column) is_item = lexer->get_column(lexer) == length;
  if (!is_item && !ends_line) lexer->mark_end(lexer);
  bool before_colon = pass_blank(lexer) && lexer->lookahead == ':';
  // Before a colon it is a field with the name of an item word.
  if (is_item) return !before_colon && mark_item(lexer, valid, false);
  if (ends_line) {
    lexer->result_symbol = LINE_END;
    return before_colon || (line_broken && !word_continues(lexer, word));
  }
  lexer->result_symbol = PLAIN;
  return before_colon && valid[PLAIN] && !recovers;
}
