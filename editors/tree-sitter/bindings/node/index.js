const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const root = join(__dirname, "..", "..");
const query = (name) => readFileSync(join(root, "queries", `${name}.scm`), "utf8");

module.exports = require("node-gyp-build")(root);
module.exports.nodeTypeInfo = require("../../src/node-types.json");
// The names of the Rust package.
for (const name of ["highlights", "locals", "tags", "injections", "folds", "indents"]) {
  module.exports[`${name.toUpperCase()}_QUERY`] = query(name);
}
