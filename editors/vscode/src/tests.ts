// The tests of specs in the test explorer: `guard test --format json` says what came out, at which `expect`.

import {
  CancellationToken,
  CancellationTokenSource,
  debug,
  Disposable,
  Location,
  MarkdownString,
  Position,
  Range,
  RelativePattern,
  TestController,
  TestItem,
  TestMessage,
  TestRunProfileKind,
  TestRunRequest,
  tests,
  TextDocument,
  Uri,
  window,
  workspace,
} from "vscode";
import { isCloudFormation } from "./foreign";
import { run } from "./program";

const SPECS = "**/*.guard";
const FOREIGN = "**/{node_modules,target,.git}/**";
const TEST = /^test\s+"((?:[^"\\]|\\.)*)"/;

/** A line of `guard test --format json`. */
interface Result {
  test: string;
  status: "pass" | "fail" | "error";
  line: number;
  ms: number;
  failures: Failure[];
  problems: string[];
  steps?: { step: number; fields: Record<string, string>; true: string[] }[];
  more_steps?: number;
}

type Side = { verdict: string; at: number | null };
type Failure = { property: string; line: number; expected: Side; got: Side; why: string[] } | { error: string };

/** A test block of a text. */
interface Block {
  name: string;
  range: Range;
  cases: number;
}

/** Returns the test blocks of a text: an item begins in column 0, and ends before the next line that is not indented. */
export function blocks(text: string): Block[] {
  const lines = text.split(/\r\n|\r|\n/);
  const found: Block[] = [];
  lines.forEach((line, at) => {
    const match = TEST.exec(line);
    if (match === null) {
      return;
    }
    let last = at;
    while (last + 1 < lines.length && !/^[^\s}]/.test(lines[last + 1])) {
      last++;
      if (lines[last].startsWith("}")) {
        break;
      }
    }
    const own = lines.slice(at, last + 1);
    const cases = own.filter((line) => /^\s*given\b/.test(line)).length;
    let name = match[1];
    try {
      name = JSON.parse(`"${name}"`) as string;
    } catch {
      // An escape that JSON does not have: the text as it is written.
    }
    found.push({ name, range: new Range(at, 0, last, lines[last].length), cases });
  });
  return found;
}

export class Tests implements Disposable {
  private readonly controller: TestController = tests.createTestController("guard", "Guard");
  private readonly disposables: Disposable[] = [this.controller];

  constructor() {
    this.controller.createRunProfile("Run", TestRunProfileKind.Run, (request, token) => this.run(request, token), true);
    this.controller.createRunProfile("Debug", TestRunProfileKind.Debug, (request) => this.debugAll(request), true);
    this.controller.refreshHandler = () => this.discover();
    const watcher = workspace.createFileSystemWatcher(SPECS);
    this.disposables.push(
      watcher,
      watcher.onDidCreate((uri) => this.read(uri)),
      watcher.onDidChange((uri) => this.read(uri)),
      watcher.onDidDelete((uri) => this.controller.items.delete(uri.toString())),
      workspace.onDidOpenTextDocument((document) => this.parse(document)),
      workspace.onDidChangeTextDocument((event) => this.parse(event.document)),
    );
    workspace.textDocuments.forEach((document) => this.parse(document));
    void this.discover();
  }

  dispose(): void {
    this.disposables.forEach((one) => one.dispose());
  }

  private async discover(): Promise<void> {
    for (const folder of workspace.workspaceFolders ?? []) {
      const found = await workspace.findFiles(new RelativePattern(folder, SPECS), FOREIGN);
      await Promise.all(found.map((uri) => this.read(uri)));
    }
  }

  private async read(uri: Uri): Promise<void> {
    // An open text is what the editor says that it is.
    if (!workspace.textDocuments.some((document) => document.uri.toString() === uri.toString())) {
      const bytes = await workspace.fs.readFile(uri);
      this.replace(uri, new TextDecoder().decode(bytes));
    }
  }

  private parse(document: TextDocument): void {
    if (document.languageId === "guard" && document.uri.scheme === "file") {
      this.replace(document.uri, document.getText());
    }
  }

  private replace(uri: Uri, text: string): void {
    const found = isCloudFormation(text) ? [] : blocks(text);
    const id = uri.toString();
    if (found.length === 0) {
      this.controller.items.delete(id);
      return;
    }
    let file = this.controller.items.get(id);
    if (file === undefined) {
      file = this.controller.createTestItem(id, workspace.asRelativePath(uri), uri);
      this.controller.items.add(file);
    }
    const times = new Map<string, number>();
    const children = found.map((block) => {
      const time = (times.get(block.name) ?? 0) + 1;
      times.set(block.name, time);
      const own = `${id}#${time}#${block.name}`;
      // The same item keeps its results.
      const item = file.children.get(own) ?? this.controller.createTestItem(own, block.name, uri);
      item.range = block.range;
      item.description = block.cases > 1 ? `${block.cases} cases` : undefined;
      return item;
    });
    file.children.replace(children);
  }

  /** Returns a test by its name. */
  find(uri: Uri, name: string): TestItem | undefined {
    let found: TestItem | undefined;
    this.controller.items.get(uri.toString())?.children.forEach((item) => {
      found ??= item.label === name ? item : undefined;
    });
    return found;
  }

  /** Runs one test, as its lens asks for it. */
  async runOne(uri: Uri, name: string): Promise<void> {
    const item = this.find(uri, name);
    if (item !== undefined) {
      const source = new CancellationTokenSource();
      await this.run(new TestRunRequest([item]), source.token);
      source.dispose();
    }
  }

  private async run(request: TestRunRequest, token: CancellationToken): Promise<void> {
    const run = this.controller.createTestRun(request);
    const byFile = new Map<string, TestItem[]>();
    for (const item of this.chosen(request)) {
      run.enqueued(item);
      const key = item.uri?.toString() ?? "";
      byFile.set(key, [...(byFile.get(key) ?? []), item]);
    }
    const abort = new AbortController();
    token.onCancellationRequested(() => abort.abort());
    for (const [key, items] of byFile) {
      if (token.isCancellationRequested) {
        break;
      }
      items.forEach((item) => run.started(item));
      try {
        await this.runFile(Uri.parse(key), items, run, abort.signal);
      } catch (error) {
        items.forEach((item) => run.errored(item, new TestMessage(String(error))));
      }
    }
    run.end();
  }

  private async runFile(
    uri: Uri,
    items: TestItem[],
    testRun: ReturnType<TestController["createTestRun"]>,
    signal: AbortSignal,
  ): Promise<void> {
    const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    if (open?.isDirty) {
      await open.save();
    }
    const { stdout, stderr } = await run(["test", uri.fsPath, "--format", "json"], signal);
    const results = stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Result);
    testRun.appendOutput(stderr.replace(/\r?\n/g, "\r\n"));
    for (const item of items) {
      const own = results.filter((result) => {
        const line = result.line - 1;
        return item.range !== undefined && item.range.start.line <= line && line <= item.range.end.line;
      });
      const ms = own.reduce((sum, result) => sum + result.ms, 0);
      const failed = own.filter((result) => result.status !== "pass");
      if (own.length === 0) {
        testRun.errored(item, new TestMessage(stderr === "" ? "The test was not run." : stderr));
      } else if (failed.length === 0) {
        testRun.passed(item, ms);
      } else {
        testRun.failed(item, failed.flatMap((result) => messages(uri, result)), ms);
      }
    }
  }

  /** Returns the tests that a request is about. */
  private chosen(request: TestRunRequest): TestItem[] {
    const roots: TestItem[] = [];
    if (request.include !== undefined) {
      roots.push(...request.include);
    } else {
      this.controller.items.forEach((item) => roots.push(item));
    }
    const all: TestItem[] = [];
    for (const root of roots) {
      if (root.children.size === 0) {
        all.push(root);
      } else {
        root.children.forEach((item) => all.push(item));
      }
    }
    return all.filter((item) => !request.exclude?.includes(item));
  }

  private async debugAll(request: TestRunRequest): Promise<void> {
    for (const item of this.chosen(request).slice(0, 1)) {
      await this.debugOne(item.uri as Uri, item.label);
    }
  }

  /** Steps through a test; of one with several cases the one that is chosen. */
  async debugOne(uri: Uri, name: string): Promise<void> {
    const document = await workspace.openTextDocument(uri);
    if (document.isDirty) {
      await document.save();
    }
    const cases = blocks(document.getText()).find((block) => block.name === name)?.cases ?? 1;
    let test: string | undefined = name;
    if (cases > 1) {
      const names = Array.from({ length: cases }, (_, place) => `${name} (case ${place + 1})`);
      test = await window.showQuickPick(names, { title: "Which case is stepped through?" });
    }
    if (test !== undefined) {
      const configuration = { type: "guard", request: "launch", name: test, spec: uri.fsPath, test };
      await debug.startDebugging(workspace.getWorkspaceFolder(uri), configuration);
    }
  }
}

/** Returns the messages of a test that failed: one at each `expect` that was not met. */
function messages(uri: Uri, result: Result): TestMessage[] {
  const side = ({ verdict, at }: Side): string => (at === null ? verdict : `${verdict} at ${at}`);
  return result.failures.map((failure) => {
    if ("error" in failure) {
      const message = new TestMessage(failure.error);
      message.location = new Location(uri, new Position(result.line - 1, 0));
      return message;
    }
    const text = new MarkdownString();
    text.appendText(`${failure.property}: expected ${side(failure.expected)}, found ${side(failure.got)}`);
    for (const sentence of [...failure.why, ...result.problems]) {
      text.appendMarkdown("\n\n- ").appendText(sentence);
    }
    if (result.steps?.length) {
      text.appendMarkdown("\n\n").appendCodeblock(table(result), "text");
    }
    const message = new TestMessage(text);
    message.expectedOutput = side(failure.expected);
    message.actualOutput = side(failure.got);
    message.location = new Location(uri, new Position(failure.line - 1, 0));
    return message;
  });
}

/** Returns the steps of a test as a table. */
function table(result: Result): string {
  const steps = result.steps ?? [];
  const fields = [...new Set(steps.flatMap((step) => Object.keys(step.fields)))];
  const rows = [
    ["step", ...fields, "true there"],
    ...steps.map((step) => [
      String(step.step),
      ...fields.map((field) => step.fields[field] ?? ""),
      step.true.join(", "),
    ]),
  ];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column])).join("  ").trimEnd());
  if (result.more_steps) {
    lines.push(`… and ${result.more_steps} more`);
  }
  return lines.join("\n");
}
