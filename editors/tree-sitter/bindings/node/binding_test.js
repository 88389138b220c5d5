const assert = require("node:assert");
const { test } = require("node:test");

test("a spec is parsed", () => {
  const Parser = require("tree-sitter");
  const parser = new Parser();
  parser.setLanguage(require("."));
  const tree = parser.parse("property quiet = never mails\n");
  assert.strictEqual(tree.rootNode.namedChild(0).type, "property_item");
  assert.strictEqual(tree.rootNode.hasError, false);
});
