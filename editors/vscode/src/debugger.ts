// `guard dap`: stepping through recorded traces and tests.

import {
  CancellationToken,
  debug,
  DebugAdapterDescriptor,
  DebugAdapterExecutable,
  DebugConfiguration,
  Disposable,
  window,
  WorkspaceFolder,
} from "vscode";
import { findProgram, wantedProgram } from "./program";
import { chooseTraces } from "./traces";

/** Registers the debug adapter. */
export function registerDebugger(): Disposable {
  return Disposable.from(
    debug.registerDebugAdapterDescriptorFactory("guard", { createDebugAdapterDescriptor: descriptor }),
    debug.registerDebugConfigurationProvider("guard", { resolveDebugConfiguration: resolve }),
  );
}

async function descriptor(): Promise<DebugAdapterDescriptor> {
  const wanted = wantedProgram();
  const command = await findProgram(wanted);
  if (command === undefined) {
    throw new Error(`Guard: the program \`${wanted}\` was not found; see the setting \`guard.path\`.`);
  }
  return new DebugAdapterExecutable(command, ["dap"]);
}

/** Completes a configuration: the spec is that of the editor, and the traces are chosen. */
async function resolve(
  _folder: WorkspaceFolder | undefined,
  given: DebugConfiguration,
  _token?: CancellationToken,
): Promise<DebugConfiguration | undefined> {
  const config: DebugConfiguration = { ...given, type: "guard", request: "launch", name: given.name ?? "Guard" };
  const document = window.activeTextEditor?.document;
  if (config.spec === undefined && document?.languageId === "guard") {
    config.spec = document.uri.fsPath;
  }
  if (config.spec === undefined) {
    void window.showErrorMessage("Guard: open a spec, or name it in the launch configuration (`spec`).");
    return undefined;
  }
  if (config.runs === undefined && config.test === undefined) {
    const chosen = await chooseTraces(config.spec as string, false);
    if (chosen === undefined) {
      return undefined;
    }
    config.runs = chosen[0];
  }
  return config;
}
