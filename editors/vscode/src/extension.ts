// Starts `guard lsp` for `.guard` files, and leaves those of CloudFormation Guard alone.

import { commands, ExtensionContext, languages, TextDocument, window, workspace } from "vscode";
import { isCloudFormation } from "./foreign";
import { Server } from "./server";

let server: Server | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const output = window.createOutputChannel("Guard");
  context.subscriptions.push(output);
  const release = (document: TextDocument): void => {
    if (document.languageId === "guard" && isCloudFormation(document.getText())) {
      void languages.setTextDocumentLanguage(document, "plaintext");
    }
  };
  context.subscriptions.push(workspace.onDidOpenTextDocument(release));
  workspace.textDocuments.forEach(release);
  if (!workspace.isTrusted) {
    // VS Code activates the extension again after the folder is trusted only if asked to: this event comes once.
    context.subscriptions.push(workspace.onDidGrantWorkspaceTrust(() => start(context)));
    return;
  }
  await start(context);

  async function start(context: ExtensionContext): Promise<void> {
    const started = new Server(output);
    server = started;
    context.subscriptions.push(
      commands.registerCommand("guard.restart", () => started.restart()),
      commands.registerCommand("guard.showOutput", () => output.show()),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("guard.path")) {
          void started.restart();
        }
      }),
    );
    await started.restart();
  }
}

export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}
