// Starts `guard lsp` for `.guard` files. The path of `guard` is the setting `guard.path`.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const command = workspace.getConfiguration("guard").get("path") || "guard";
  client = new LanguageClient(
    "guard",
    "Guard",
    { command, args: ["lsp"] },
    { documentSelector: [{ scheme: "file", language: "guard" }] },
  );
  return client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
