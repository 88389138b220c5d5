// The language server: `guard lsp`, started when a trusted folder or file is open, and again when its setting changes.

import { commands, env, OutputChannel, window } from "vscode";
import { LanguageClient, State, StaticFeature } from "vscode-languageclient/node";
import { findProgram, wantedProgram } from "./program";

/** The commands that lenses of the server may name, since this extension carries them out. */
export const COMMANDS = ["guard.runTest", "guard.debugTest", "guard.auditTraces", "guard.verify"];

const lenses: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    capabilities.experimental = { ...capabilities.experimental, commands: { commands: COMMANDS } };
  },
  initialize: () => {},
  getState: () => ({ kind: "static" }),
  clear: () => {},
};

const HOW_TO_INSTALL = "cargo install --path . --locked";

/** One server at a time. */
export class Server {
  private client: LanguageClient | undefined;
  /** Starts and stops one after another. */
  private turn: Promise<void> = Promise.resolve();

  constructor(private readonly output: OutputChannel) {}

  /** Starts the server anew; a server that runs is stopped before. */
  restart(): Promise<void> {
    this.turn = this.turn.then(() => this.replace()).catch((error) => this.output.appendLine(String(error)));
    return this.turn;
  }

  stop(): Promise<void> {
    this.turn = this.turn.then(() => this.end());
    return this.turn;
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.state === State.Running) {
      await client.stop();
    }
    await client?.dispose();
  }

  private async replace(): Promise<void> {
    await this.end();
    const wanted = wantedProgram();
    const command = await findProgram(wanted);
    if (command === undefined) {
      void this.explain(wanted);
      return;
    }
    const selector = [
      { scheme: "file", language: "guard" },
      { scheme: "untitled", language: "guard" },
    ];
    this.client = new LanguageClient(
      "guard",
      "Guard",
      { command, args: ["lsp"] },
      { documentSelector: selector, outputChannel: this.output },
    );
    this.client.registerFeature(lenses);
    await this.client.start();
  }

  /** Says what is missing, with ways out. */
  private async explain(wanted: string): Promise<void> {
    const [settings, how] = ["Set its path", "How to install"];
    const text = `Guard: the program \`${wanted}\` was not found, so files have colours only.`;
    const chosen = await window.showWarningMessage(text, settings, how);
    if (chosen === settings) {
      await commands.executeCommand("workbench.action.openSettings", "guard.path");
    } else if (chosen === how) {
      const [copy, restart] = ["Copy the command", "It is installed"];
      const steps = `In a copy of the repository of Guard, run \`${HOW_TO_INSTALL}\`.`;
      const next = await window.showInformationMessage(steps, copy, restart);
      if (next === copy) {
        await env.clipboard.writeText(HOW_TO_INSTALL);
      } else if (next === restart) {
        void this.restart();
      }
    }
  }
}
