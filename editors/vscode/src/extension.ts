// Starts `guard lsp` for `.guard` files, shows their tests and traces, and leaves files of CloudFormation Guard alone.

import { commands, ExtensionContext, languages, TextDocument, Uri, window, workspace } from "vscode";
import { RunPanel } from "./counterexample";
import { registerDebugger } from "./debugger";
import { isCloudFormation } from "./foreign";
import { press } from "./page";
import { Server } from "./server";
import { Tests } from "./tests";
import { TracePanel } from "./traces";

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
    const tests = new Tests();
    const panel = new TracePanel();
    const runs = new RunPanel();
    // A lens names the text; a command of the palette is about the editor.
    const about = (uri: string | Uri | undefined): Uri | undefined =>
      typeof uri === "string" ? Uri.parse(uri) : (uri ?? window.activeTextEditor?.document.uri);
    const audit = async (uri?: string | Uri, property?: string, files?: string[]): Promise<void> => {
      const spec = about(uri);
      if (spec !== undefined) {
        await panel.audit(spec, property, files);
      }
    };
    context.subscriptions.push(
      tests,
      panel,
      runs,
      registerDebugger(),
      commands.registerCommand("guard.runTest", (uri: string, name: string) => tests.runOne(Uri.parse(uri), name)),
      commands.registerCommand("guard.debugTest", (uri: string, name: string) => tests.debugOne(Uri.parse(uri), name)),
      commands.registerCommand("guard.auditTraces", audit),
      commands.registerCommand("guard.verify", (uri: string, name: string) => runs.verify(Uri.parse(uri), name)),
      commands.registerCommand("guard.debugTrace", () => panel.debugShown()),
      commands.registerCommand("guard.nextStep", () => press("ArrowRight")),
      commands.registerCommand("guard.previousStep", () => press("ArrowLeft")),
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
