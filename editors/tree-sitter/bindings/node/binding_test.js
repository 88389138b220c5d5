const assert = require("node:assert");
const { test } = require("node:test");
const Parser = require("tree-sitter");
const guard = require(".");

const SPEC = `/// Nothing is mailed.
@severity(high)
property quiet = never (mails and to matches /@corp\\.example$/)
`;

function tree(text) {
  const parser = new Parser();
  parser.setLanguage(guard);
  return parser.parse(text);
}

test("a spec is parsed", () => {
  const root = tree(SPEC).rootNode;
  assert.deepStrictEqual(
    root.namedChildren.map((node) => node.type),
    ["doc_comment", "attribute", "property_item"],
  );
  assert.strictEqual(root.hasError, false);
  assert.notStrictEqual(tree("property quiet = never (\n").rootNode.descendantsOfType("missing").length, 0);
});

test("the query of colours runs", () => {
  const captures = new Parser.Query(guard, guard.HIGHLIGHTS_QUERY).captures(tree(SPEC).rootNode);
  // A later pattern wins over an earlier one.
  const colours = Object.fromEntries(captures.map(({ name, node }) => [node.text, name]));
  const expected = {
    "/// Nothing is mailed.": "comment.documentation",
    severity: "attribute",
    property: "keyword",
    quiet: "type.definition",
    never: "keyword.repeat",
    mails: "variable",
    and: "keyword.operator",
    "/@corp\\.example$/": "string.regexp",
  };
  const found = Object.keys(expected).map((text) => [text, colours[text]]);
  assert.deepStrictEqual(Object.fromEntries(found), expected);
});

test("every query is one of the grammar", () => {
  const names = Object.keys(guard).filter((name) => name.endsWith("_QUERY"));
  assert.strictEqual(names.length, 6);
  for (const name of names) {
    assert.ok(new Parser.Query(guard, guard[name]), name);
  }
});
