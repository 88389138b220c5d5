// Runs of a system: a property or a system is verified, and the run that shows the result is a page beside the text. The text shows
// the values of the state that the page shows.

import { randomBytes } from "node:crypto";
import { commands, Uri, window } from "vscode";
import { Page } from "./page";

type State = Record<string, string | number | boolean | null>;

/** A line of `guard verify --format json`, with the formula, the variables in their order, and the number of steps after which it is
 * violated for good. */
interface Answer {
  property: string | null;
  system: string;
  holds: boolean | null;
  text: string;
  variables: string[];
  violated_after?: number;
  counterexample?: Run;
  witness?: Run;
}

/** States before those that repeat, and those; the commands that lead from each to the next. */
interface Run {
  stem: State[];
  loop: State[];
  commands: { stem: string[][]; loop: string[][] };
}

/** The page of a run, beside the text. */
export class RunPanel extends Page<{ step: number }> {
  private spec = "";
  private system = "";
  private states: State[] = [];

  constructor() {
    super("guard.run");
  }

  /** Verifies a property of a system, or all of a system, and shows the first run that shows a result. The server says the results. */
  async verify(uri: Uri, name: string): Promise<void> {
    let answers: Answer[];
    try {
      answers = await commands.executeCommand<Answer[]>("guard.server.verify", uri.toString(), name);
    } catch (error) {
      void window.showErrorMessage(`Guard: ${error instanceof Error ? error.message : String(error)}`);
      return;
    }
    const shown = answers.find((one) => one.counterexample) ?? answers.find((one) => one.witness);
    const run = shown?.counterexample ?? shown?.witness;
    if (shown !== undefined && run !== undefined) {
      this.spec = uri.toString();
      this.system = shown.system;
      this.states = [...run.stem, ...run.loop];
      const kind = shown.counterexample ? "counterexample" : "example";
      this.show(`${shown.property ?? shown.system}: ${kind}`, page(shown, run));
    }
  }

  protected follow(place: { step: number }): void {
    const state = this.states[place.step];
    if (state !== undefined) {
      this.values(this.spec, { system: this.system, state });
    }
  }

  protected closed(): void {
    this.values(this.spec, {});
  }
}

/** What the page shows. */
interface Shown {
  names: string[];
  rows: { command: string; values: string[] }[];
  /** The row to which the run returns; undefined if its continuation does not matter. */
  loop: number | undefined;
  /** The row at which the property is violated for good. */
  violated: number | undefined;
}

function page(answer: Answer, run: Run): string {
  const states = [...run.stem, ...run.loop];
  const made = [...run.commands.stem, ...run.commands.loop];
  const names = answer.variables;
  const shown: Shown = {
    names,
    rows: states.map((state, at) => ({
      // The commands of a state lead to the next one.
      command: at === 0 ? "" : (made[at - 1] ?? []).join(", "),
      values: names.map((name) => String(state[name])),
    })),
    loop: run.loop.length > 0 ? run.stem.length : undefined,
    violated: answer.violated_after === undefined ? undefined : answer.violated_after - 1,
  };
  const nonce = randomBytes(16).toString("base64");
  const data = JSON.stringify(shown).replace(/</g, "\\u003c");
  const text = (plain: string): string => plain.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  const back = made.at(-1)?.join(", ") ?? "";
  const repeats = shown.loop === undefined ? "" : `Then it repeats from step ${shown.loop} on${back === "" ? "" : `, by ${text(back)}`}.`;
  const title = `${answer.property ?? ""} on ${answer.system}: ${answer.counterexample ? "fails" : "holds"}`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'">
<style nonce="${nonce}">
  table { border-collapse: collapse; font-family: var(--vscode-editor-font-family); font-size: var(--vscode-editor-font-size); }
  th, td { text-align: left; padding: 2px 12px 2px 4px; }
  tr { cursor: pointer; }
  tr.at { background: var(--vscode-editor-selectionBackground); outline: 1px solid var(--vscode-contrastActiveBorder, transparent); }
  tr.after { opacity: 0.6; }
  td.new { font-weight: bold; }
  td.violated { color: var(--vscode-errorForeground); }
  code { font-family: var(--vscode-editor-font-family); }
</style>
</head>
<body tabindex="0">
<h3>${text(title)}</h3>
<p><code>${text(answer.text)}</code></p>
<table id="run"><thead></thead><tbody></tbody></table>
<p>${repeats}</p>
<p><kbd>←</kbd> <kbd>→</kbd> step, <kbd>Home</kbd> <kbd>End</kbd> go to the ends; the text shows the values of the step.</p>
<script nonce="${nonce}">(${inPage.toString()})(${data})</script>
</body>
</html>`;
}

/** Runs in the page. */
function inPage(shown: Shown): void {
  const { acquireVsCodeApi, document, addEventListener } = globalThis as unknown as {
    acquireVsCodeApi(): { postMessage(message: unknown): void };
    document: any;
    addEventListener(type: string, listener: (event: any) => void): void;
  };
  const editor = acquireVsCodeApi();
  const cell = (row: any, kind: string, text: string, name = ""): void => {
    const node = document.createElement(kind);
    node.textContent = text;
    node.className = name;
    row.append(node);
  };
  const head = document.createElement("tr");
  for (const name of ["", "step", "command", ...shown.names]) {
    cell(head, "th", name);
  }
  document.querySelector("thead").append(head);
  const rows = shown.rows.map(({ command, values }, at) => {
    const row = document.createElement("tr");
    const isViolated = at === shown.violated;
    cell(row, "td", at === shown.loop ? "↻" : isViolated ? "✗" : "", isViolated ? "violated" : "");
    cell(row, "td", String(at));
    cell(row, "td", command);
    values.forEach((value, place) => {
      cell(row, "td", value, at > 0 && shown.rows[at - 1]?.values[place] !== value ? "new" : "");
    });
    row.addEventListener("click", () => go(at));
    document.querySelector("tbody").append(row);
    return row;
  });
  let at = 0;
  function go(to: number): void {
    at = Math.max(0, to);
    if (at >= rows.length) {
      at = shown.loop ?? rows.length - 1;
    }
    rows.forEach((row, place) => {
      const after = shown.violated !== undefined && place > shown.violated ? "after" : "";
      row.className = place === at ? "at" : after;
    });
    rows[at]?.scrollIntoView({ block: "nearest" });
    editor.postMessage({ step: at });
  }
  const press = (key: string): boolean => {
    const to: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: rows.length - 1 };
    const target = to[key];
    if (target !== undefined) {
      go(target);
    }
    return target !== undefined;
  };
  addEventListener("keydown", (event) => {
    if (press(event.key)) {
      event.preventDefault();
    }
  });
  addEventListener("message", (event) => press(event.data.key));
  go(shown.violated ?? 0);
  document.body.focus();
}
