// Recorded traces: which ones are audited, and the page of an audit beside the text.

import { randomBytes } from "node:crypto";
import { stat } from "node:fs/promises";
import * as path from "node:path";
import {
  ColorThemeKind,
  commands,
  debug,
  ProgressLocation,
  Uri,
  window,
  workspace,
} from "vscode";
import { Page } from "./page";
import { run } from "./program";

/** The endings of files of traces beside a spec. */
const ENDINGS = [".jsonl", ".json", ".csv"];

/** The exit codes of an audit that was made: nothing violated, something violated, some data unreadable. */
const AUDITED = [0, 1, 3];

/** The files that were chosen last for a spec. */
const latest = new Map<string, string[]>();

/** Lets the user choose recorded traces for a spec; `undefined` if that was given up. */
export async function chooseTraces(spec: string, several: boolean): Promise<string[] | undefined> {
  const beside: string[] = [];
  for (const ending of ENDINGS) {
    const file = spec.replace(/\.guard$/, ending);
    if (file !== spec && (await stat(file).then((found) => found.isFile(), () => false))) {
      beside.push(file);
    }
  }
  const known = [...new Set([...(latest.get(spec) ?? []), ...beside])];
  let chosen: string[] | undefined;
  if (known.length > 0) {
    const other = "Other files …";
    const items = known.map((file) => ({ label: path.basename(file), description: path.dirname(file), file }));
    const picked = await window.showQuickPick([...items, { label: other, description: "", file: "" }], {
      title: "Recorded traces",
    });
    if (picked === undefined) {
      return undefined;
    }
    chosen = picked.file === "" ? undefined : [picked.file];
  }
  if (chosen === undefined) {
    const files = await window.showOpenDialog({
      title: "Recorded traces",
      defaultUri: Uri.file(path.dirname(spec)),
      canSelectFolders: several,
      canSelectMany: several,
      openLabel: several ? "Audit" : "Step through",
    });
    chosen = files?.map((file) => file.fsPath);
  }
  if (chosen !== undefined) {
    latest.set(spec, chosen);
  }
  return chosen;
}

/** Where the page stands. */
interface Place {
  trace: string;
  step: string;
  file: string;
  property: string;
}

/** The page of an audit, beside the text; the values of the step that it shows are hints in the text. */
export class TracePanel extends Page<Place> {
  private spec = "";
  private place: Place | undefined;

  constructor() {
    super("guard.trace");
  }

  /** Audits traces that the user chooses, and shows the result. */
  async audit(uri: Uri, property?: string, given?: string[]): Promise<void> {
    const files = given ?? (await chooseTraces(uri.fsPath, true));
    if (files === undefined || files.length === 0) {
      return;
    }
    const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    if (open?.isDirty) {
      await open.save();
    }
    const title = `Guard: auditing ${files.map((file) => path.basename(file)).join(", ")}`;
    const done = await window.withProgress(
      { location: ProgressLocation.Notification, title, cancellable: true },
      (_, token) => {
        const abort = new AbortController();
        token.onCancellationRequested(() => abort.abort());
        return run(["audit", uri.fsPath, ...files, "--format", "html"], abort.signal).catch((error: Error) => {
          if (error.name !== "AbortError") {
            void window.showErrorMessage(`Guard: ${error.message}`);
          }
          return undefined;
        });
      },
    );
    if (done === undefined) {
      return;
    }
    if (!AUDITED.includes(done.code)) {
      void window.showErrorMessage(`Guard: ${done.stderr.trim() || "the audit failed"}`);
      return;
    }
    this.spec = uri.fsPath;
    this.show(`${path.basename(this.spec)}: traces`, prepared(done.stdout, property ?? ""));
    void commands.executeCommand("setContext", "guard.traceShown", true);
  }

  /** Steps through the trace that is shown, in the debugger. */
  async debugShown(): Promise<void> {
    if (this.place === undefined) {
      void window.showInformationMessage("Guard: audit traces first, and select one.");
      return;
    }
    const { trace, file, property } = this.place;
    const configuration = { type: "guard", request: "launch", name: trace, spec: this.spec, runs: file, trace };
    const more = property === "" ? {} : { property };
    await debug.startDebugging(workspace.getWorkspaceFolder(Uri.file(this.spec)), { ...configuration, ...more });
  }

  protected follow(place: Place): void {
    this.place = place;
    const step = place.step === "" ? undefined : Number(place.step);
    this.values(Uri.file(this.spec).toString(), { runs: place.file, trace: place.trace, step });
  }

  protected closed(): void {
    this.place = undefined;
    void commands.executeCommand("setContext", "guard.traceShown", false);
    this.values(Uri.file(this.spec).toString(), {});
  }
}

/** Returns the page with a script before its own, which opens a violation and tells where the page stands. */
function prepared(html: string, property: string): string {
  const nonce = randomBytes(16).toString("base64");
  const kind = window.activeColorTheme.kind;
  const dark = kind === ColorThemeKind.Dark || kind === ColorThemeKind.HighContrast;
  const options = JSON.stringify({ property, theme: dark ? "dark" : "light" }).replace(/</g, "\\u003c");
  const own = `<script nonce="${nonce}">(${beforePage.toString()})(${options})</script>`;
  const at = html.lastIndexOf("<script>");
  const policy = html.slice(0, at).replace("script-src ", `script-src 'nonce-${nonce}' `);
  return policy + own + html.slice(at);
}

/** Runs in the page, before its script. */
function beforePage(options: { property: string; theme: string }): void {
  const page = globalThis as unknown as {
    acquireVsCodeApi(): { postMessage(message: unknown): void };
    document: any;
    history: any;
    KeyboardEvent: any;
    addEventListener(type: string, listener: (event: any) => void): void;
    requestAnimationFrame(then: () => void): void;
  };
  const editor = page.acquireVsCodeApi();
  const { document, history } = page;
  document.documentElement.dataset.theme = options.theme;
  const data = JSON.parse(document.getElementById("data").textContent);
  const tell = (hash: string): void => {
    const state = new URLSearchParams(hash.replace(/^#/, ""));
    const name = state.get("trace");
    const own = data.traces[Number(state.get("n") || -1)];
    const trace = own && own[0] === name ? own : data.traces.find((one: unknown[]) => one[0] === name);
    if (trace) {
      const [step, property] = [state.get("step") || "", state.get("property") || ""];
      editor.postMessage({ trace: name, step, property, file: data.files[trace[1]] });
    }
  };
  for (const verb of ["pushState", "replaceState"]) {
    const own = history[verb].bind(history);
    history[verb] = (state: unknown, title: string, address: string) => {
      try {
        own(state, title, address);
      } catch {
        // An editor may keep pages from changing their address; the page keeps its place by itself.
      }
      tell(address);
    };
  }
  // The first violation of the property, or of any, is open from the start.
  const place = data.properties.findIndex((property: { name: string }) => property.name === options.property);
  const violated = (trace: any[]): boolean => (place < 0 ? trace[4].includes("v") : trace[4][place] === "v");
  const first = Math.max(0, data.traces.findIndex(violated));
  const trace = data.traces[first];
  if (trace) {
    const found = trace[5].find((one: any) => one.v === "v" && one.at !== null && (place < 0 || one.p === place));
    const state = new URLSearchParams({ trace: trace[0], n: String(first), step: String(found ? found.at : 0) });
    if (place >= 0) {
      state.set("property", options.property);
    }
    history.replaceState(null, "", `#${state}`);
  }
  page.addEventListener("load", () => {
    if (trace) {
      // The list above it is drawn first.
      page.requestAnimationFrame(() => document.getElementById("trace").scrollIntoView());
    }
  });
  page.addEventListener("message", (event) => {
    const press = { key: event.data.key, bubbles: true };
    document.body.dispatchEvent(new page.KeyboardEvent("keydown", press));
  });
}
