// Tries the extension in VS Code itself, as a newcomer meets it: a folder that is not trusted, no `guard`, then everything else.
//   node test/run.mjs MODULES BROWSER VSIX GUARD [PICTURES]
// MODULES has code-server and puppeteer-core. Prints a line for each check that fails, and leaves screenshots in MODULES/shots;
// PICTURES is a folder for the pictures of editors/README.md.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { until, Workbench } from "./workbench.mjs";

const [modules, browser, vsix, guard, pictures] = process.argv.slice(2).map((one) => path.resolve(one));
const shots = path.join(modules, "shots");
rmSync(shots, { recursive: true, force: true });
mkdirSync(shots, { recursive: true });
const work = mkdtempSync(path.join(tmpdir(), "guard-"));
mkdirSync(path.join(work, "lib"));
const write = (name, text) => writeFileSync(path.join(work, name), text);

const spec = (at) => `use lib.money

event {
  tool: string
  amount: int?
  at: time?
}

predicate pays = tool == "pay"
track total: int = 0 then total + (amount ?? 0)

property asked = always (pays -> once tool == "ask")
property watched = always (money.waits -> once tool == "look")
unsafe too_much = total > 10 message "{total} paid"

test "a payment" {
  given [
    {tool: "look"},
    {tool: "pay", amount: 3},
  ]
  expect asked violated at ${at}
}
`;
const RUNS = [
  { id: "good", events: [{ tool: "ask", at: 0 }, { tool: "pay", amount: 4, at: 2 }] },
  { id: "bad", events: [{ tool: "look", at: 1 }, { tool: "pay", amount: 6, at: 3 }, { tool: "wait", at: 5 }, { tool: "pay", amount: 7, at: 9 }] },
];
write("shop.guard", spec(0));
write("lib/money.guard", 'predicate waits = tool == "wait"\n');
write("shop.jsonl", RUNS.map((run) => JSON.stringify(run) + "\n").join(""));
write("agent.guard", `system agent {
  state mode: { idle, planning, calling } = idle
  state high: bool = false
  step plan when mode == idle => mode' == planning, high' == false
  step choose when mode == planning => mode' == calling, high' in { false, true }
  step done when mode == calling => mode' == idle
}

property gated = G not (mode == calling and high) on agent
`);
write("broken.guard", 'foo bar\n@id("x")\ntest "" {\n}\nevent {\n  tool: string\n}\nproperty kept = never tool == "x"\n');
mkdirSync(path.join(work, "[team]"));
writeFileSync(path.join(work, "[team]", "odd name.guard"), 'event { tool: string }\nproperty p = never tol == "x"\n');
write("buckets.guard", "let buckets = Resources.*[ Type == 'AWS::S3::Bucket' ]\nrule encrypted when %buckets !empty {\n}\n");

let passed = 0, failed = 0;
function check(what, holds, found) {
  if (holds) passed++;
  else { failed++; console.log(`FAILED ${what}${found === undefined ? "" : `: ${JSON.stringify(found).slice(0, 800)}`}`); }
}

const started = Date.now();
const bench = await Workbench.start({
  modules, browser, vsix, work,
  // No `guard` on the path.
  env: { PATH: "/usr/bin:/bin" },
  settings: {
    "security.workspace.trust.startupPrompt": "never",
    "security.workspace.trust.banner": "never",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": false,
    "workbench.welcomePage.walkthroughs.openOnInstall": false,
    "workbench.colorTheme": "Default Light Modern",
    "workbench.activityBar.location": "top",
    "git.enabled": false,
    "window.commandCenter": false,
    "chat.commandCenter.enabled": false,
    "editor.minimap.enabled": false,
    "editor.inlayHints.enabled": "on",
    "breadcrumbs.enabled": false,
    "testing.automaticallyOpenPeekView": "never",
    "testing.automaticallyOpenTestResults": "neverOpen",
    "debug.openDebug": "openOnDebugBreak",
    "debug.toolBarLocation": "docked",
    "debug.internalConsoleOptions": "neverOpen",
  },
});
const { page } = bench;
let shot = 0;
/** Takes a screenshot; for the guide that of the first lines of the window, and nothing of the machine in it. */
const picture = async (name, height) => {
  const file = `${String(++shot).padStart(2, "0")}-${name}.png`;
  await page.screenshot({ path: path.join(shots, file) });
  if (height !== undefined && pictures !== undefined) {
    const clip = { x: 0, y: 30, width: 1120, height };
    await page.screenshot({ path: path.join(pictures, `vscode-${name}.png`), clip });
  }
};
const lensTitles = async () => (await bench.texts(".codelens-decoration")).join(" ");
const language = async () => (await bench.texts(".statusbar-item")).join(" ");
const stack = async () => (await bench.texts(".debug-call-stack .monaco-list-row")).join("\n");
const topLine = () => page.evaluate(() => {
  const mark = document.querySelector(".debug-top-stack-frame-line");
  const y = mark?.getBoundingClientRect().y;
  const own = [...document.querySelectorAll(".view-line")].find((line) => Math.abs(line.getBoundingClientRect().y - y) < 3);
  return own?.textContent.replaceAll("\u00a0", " ");
});
const inVariables = async () => (await bench.texts(".debug-pane .monaco-list-row, .debug-view-content .monaco-list-row")).join("\n");

/** The frame of the page that has an element. Frames of pages that were closed do not answer. */
const frameWith = (selector) => until(async () => {
  for (const frame of page.frames()) {
    const silence = new Promise((done) => setTimeout(done, 500));
    if (await Promise.race([frame.$(selector).catch(() => null), silence])) return frame;
  }
  return undefined;
});

/** In a folder that is not trusted there are colours, and nothing is started. */
async function restricted() {
  check("the folder is not trusted", await until(async () => (await language()).includes("Restricted Mode")), await language());
  await bench.open("buckets.guard");
  // The extension has read the file, so it is active.
  check("a file of CloudFormation Guard is plain text", await until(async () => (await language()).includes("Plain Text")), await language());
  await bench.open("shop.guard");
  const colours = await until(async () => {
    const found = await page.$$eval(".view-line span[class*=mtk]", (nodes) => [...new Set(nodes.map((node) => node.className))]);
    return found.length > 4 && found;
  });
  check("colours", colours);
  check("nothing is started", (await lensTitles()) === "" && (await bench.texts(".notification-toast")).length === 0);
  await picture("restricted");
}

/** Once the folder is trusted, a missing program is explained, and one that is then named is started. */
async function missing() {
  await bench.command("Workspaces: Manage Workspace Trust");
  await bench.clickText(".workspace-trust-editor .monaco-button", "Trust");
  check("it says what is missing", await bench.toast("was not found"), await bench.texts(".notification-toast"));
  await picture("missing");
  await bench.clickText(".notification-toast .monaco-button", "How to install");
  check("it says how to install", await bench.toast("cargo install"), await bench.texts(".notification-toast"));
  await bench.open("shop.guard");
  bench.set({ "guard.path": guard });
  await bench.command("Notifications: Clear All Notifications");
  const titles = await until(async () => {
    const found = await lensTitles();
    return ["Run test", "Debug test", "Audit traces…"].every((title) => found.includes(title)) && found;
  });
  check("the program is started once its path is set", titles, await lensTitles());
  const hinted = await until(async () => (await bench.line('    {tool: "pay"'))?.includes("pays; total = 3"));
  check("values after the events of the test", hinted, await bench.lines());
  await picture("lenses", 500);
}

/** Tests: from their lenses, and in the explorer of tests. */
async function tests() {
  await bench.lens("Run test");
  // Where it is written differs between versions: in an element, or in the style of one.
  const inline = await until(() => page.evaluate(() => {
    const texts = (node) => ["::before", "::after"].map((part) => getComputedStyle(node, part).content).join(" ");
    const nodes = [...document.querySelectorAll(".monaco-editor *")];
    return nodes.map((node) => texts(node) + (node.children.length === 0 ? node.textContent : "")).find((text) => /violated.at.1/.test(text));
  }));
  check("the result of the test is at its line", inline, await bench.lines());
  await bench.command("Testing: Focus on Test Explorer View");
  await bench.clickRow(".test-explorer", "shop.guard");
  await page.keyboard.press("ArrowRight");
  const rows = () => bench.labels(".test-explorer");
  const row = async (state) => (await rows()).find((label) => label.includes("a payment") && label.includes(state));
  check("the explorer of tests has the result", await until(() => row("Failed")), await rows());
  await picture("tests");
  write("shop.guard", spec(1));
  check("the editor reads the file anew", await until(() => bench.line("  expect asked violated at 1")), await bench.lines());
  await bench.command("Test: Run All Tests");
  check("the test passes", await until(() => row("Passed")), await rows());
}

/** Debugging a test: the line, the values, a step back. */
async function debugTest() {
  await bench.lens("Debug test");
  check("the debugger stops at the first event", await until(async () => (await stack()).includes("step 0")), await stack());
  check("the line of the event is marked", await until(async () => (await topLine())?.includes('{tool: "look"}')), await topLine());
  await page.keyboard.press("F10");
  check("a step", await until(async () => (await stack()).includes("step 1")), await stack());
  check("the next line is marked", await until(async () => (await topLine())?.includes('{tool: "pay"')), await topLine());
  const scopes = ["Event", "Predicates", "Tracks", "Properties"];
  const shown = await until(async () => {
    const all = await inVariables();
    return scopes.every((name) => all.includes(name));
  });
  check("scopes", shown, await inVariables());
  const beside = await until(async () => (await bench.line("track total"))?.endsWith("total = 3") && (await bench.line("property asked"))?.includes("asked = violated"));
  check("values beside the declarations", beside, await bench.lines());
  await picture("debug", 500);
  await bench.command("Debug: Stop");
  check("the session ends", await until(async () => (await page.$$(".debug-toolbar, .debug-top-stack-frame-line")).length === 0));
}

/** The page of an audit beside the text; the text shows the values of the step that the page shows. */
async function traces() {
  await bench.command("Guard: Audit Traces");
  await bench.choose("shop.jsonl");
  const inner = await frameWith("#trace");
  check("the page is shown", inner, page.frames().map((frame) => frame.url()));
  if (!inner) return;
  const standing = () => inner.$eval(".stepper", (node) => node.textContent);
  const stands = (step) => until(async () => (await standing()).includes(step));
  const total = (value) => until(async () => (await bench.line("track total"))?.includes(`total = ${value}`));
  check("the violation is open", await stands("Step 1"), await standing().catch(String));
  check("the values of the step are in the text", await total(6), await bench.lines());
  await inner.click("#strip");
  await page.keyboard.press("ArrowRight");
  check("a key steps", await stands("Step 2"), await standing());
  await page.keyboard.press("ArrowRight");
  check("and again", await stands("Step 3"), await standing());
  check("the text follows", await total(13), await bench.lines());
  await picture("trace", 470);
  await bench.clickText(".view-line", 'test "a payment" {');
  await backInText();
  check("keys in the text step too", await stands("Step 2"), await standing());
}

/** Presses the keys that step back, with the focus in the text. */
async function backInText() {
  for (const key of ["Control", "Alt"]) await page.keyboard.down(key);
  await page.keyboard.press("ArrowLeft");
  for (const key of ["Alt", "Control"]) await page.keyboard.up(key);
}

/** The trace of the page in the debugger, with a breakpoint in an imported module. */
async function debugTrace() {
  await bench.command("View: Show Explorer");
  await bench.clickRow(".explorer-viewlet", "lib");
  await bench.open("money.guard");
  await bench.clickText(".view-line", 'predicate waits = tool == "wait"');
  await page.keyboard.press("F9");
  check("a breakpoint in a module", await until(() => page.$(".codicon-debug-breakpoint")));
  await bench.command("Guard: Step through This Trace");
  await bench.command("View: Show Run and Debug");
  check("the trace opens in the debugger", await until(async () => (await stack()).includes("step 0")), await stack());
  await page.keyboard.press("F5");
  check("it stops at the violation", await until(async () => (await stack()).includes("step 1")), await stack());
  await page.keyboard.press("F5");
  check("it stops at the breakpoint of the module", await until(async () => (await stack()).includes("step 2")), await stack());
  check("the line of the module is marked", await until(async () => (await topLine())?.startsWith("predicate waits")), await topLine());
  check("with its value", await until(async () => (await topLine())?.endsWith("waits = true")), await topLine());
  await picture("debug-trace");
}

/** A property of a system that fails: the run that shows it is beside the text, and the text shows the values of its states. */
async function counterexample() {
  await bench.open("agent.guard");
  const titles = await until(async () => ((await lensTitles()).match(/Verify/g) ?? []).length === 2 && !(await lensTitles()).includes("Audit"));
  check("systems and their properties are verified, not audited", titles, await lensTitles());
  await bench.lens("Verify");
  const inner = await frameWith("#run tbody tr");
  check("the run is shown", inner, await bench.texts(".notification-toast"));
  if (!inner) return picture("no-run");
  const at = async () => inner.$eval("#run tr.at", (row) => [...row.cells].map((cell) => cell.textContent));
  const mode = (value) => until(async () => (await bench.line("  state mode"))?.startsWith(`  state mode = ${value}:`));
  check("it opens at the violation", await until(async () => (await at())[0] === "✗" && (await at())[3] === "calling" && (await at())[4] === "true"), await at());
  check("the text shows the state", await mode("calling"), await bench.lines());
  await inner.click("#run tr.at");
  await page.keyboard.press("ArrowLeft");
  check("a key steps through the run", await until(async () => (await at())[1] === "1"), await at());
  check("the text follows the run", await mode("planning"), await bench.lines());
  await picture("counterexample", 330);
  await bench.clickText(".view-line", "system agent {");
  await backInText();
  check("keys in the text step through the run", await until(async () => (await at())[1] === "0"), await at());
}

/** What VS Code refused once: symbols without a name; addresses with brackets and spaces, which ended the server. */
async function refused() {
  await bench.open("broken.guard");
  await bench.command("Explorer: Focus on Outline View");
  const outline = () => bench.labels(".outline-pane, .pane-body");
  check("a broken file has an outline", await until(async () => (await outline()).some((row) => row.includes("kept"))), await outline());
  await bench.command("View: Show Explorer");
  await bench.clickRow(".explorer-viewlet", "[team]");
  await bench.open("odd name.guard");
  check("a file with an odd address has findings", await until(() => page.$(".squiggly-error")), await bench.lines());
  const told = await bench.texts(".notification-toast");
  check("no request failed", !told.some((text) => /request|falsy/i.test(text)), told);
}

/** In each theme that VS Code brings for light, dark and contrast, words that matter differ from names and from each other. */
async function themes() {
  await bench.open("shop.guard");
  // Hints stand between the words of the line.
  const line = "property asked";
  const colours = () => page.evaluate((line) => {
    const plain = (text) => text.replace(/[\u00a0\u2000-\u200a]/g, " ");
    const own = [...document.querySelectorAll(".view-line")].find((node) => plain(node.textContent).startsWith(line));
    const of = (word) => {
      const node = [...(own?.querySelectorAll("span span") ?? [])].find((node) => plain(node.textContent).trim() === word);
      return node && getComputedStyle(node).color;
    };
    const back = getComputedStyle(document.querySelector(".monaco-editor .lines-content, .monaco-editor")).backgroundColor;
    return { item: of("property"), temporal: of("always"), past: of("once"), name: of("asked"), text: of('"ask"'), back };
  }, line);
  const shown = () => page.$eval(".monaco-workbench", (node) => /vscode-theme-\S+/.exec(node.className)?.[0]);
  let before = await shown();
  for (const theme of THEMES) {
    bench.set({ "guard.path": guard, "workbench.colorTheme": theme, "window.autoDetectColorScheme": false });
    let last, same = 0;
    const found = await until(async () => {
      const now = await colours();
      // The text is drawn after the window has the theme: it is read once it stays the same for some looks.
      same = JSON.stringify(now) === JSON.stringify(last) && (await shown()) !== before ? same + 1 : 0;
      last = now;
      return same > 8 && now.temporal !== undefined && now;
    }, 10_000);
    before = await shown();
    const { item, temporal, past, name, text } = found ?? {};
    check(`${theme}: words of time are words, and no names`, temporal && temporal === past && temporal !== name && temporal !== text && item !== name, last);
  }
}

const THEMES = [
  // The one that is shown at first is not the first here.
  "Default Dark Modern", "Default Light Modern", "Default Dark+", "Default Light+", "Visual Studio Dark", "Visual Studio Light",
  "Default High Contrast", "Default High Contrast Light",
];
// The driver of the browser does not always find a page that opens after another one was closed: runs of designs have a session of
// their own (GUARD_PART=designs).
const designs = [restricted, missing, counterexample];
const traced = [restricted, missing, tests, debugTest, traces, debugTrace, refused, themes];
const parts = process.env.GUARD_PART === "designs" ? designs : traced;
try {
  for (const part of parts) {
    const begun = Date.now();
    await part();
    console.log(`${part.name}: ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  }
  const toasts = (await bench.texts(".notification-toast")).filter((text) => /error|failed/i.test(text));
  check("no errors", toasts.length === 0, toasts);
} catch (error) {
  check("the script", false, String(error.stack));
  await picture("error");
} finally {
  await bench.close();
  rmSync(work, { recursive: true, force: true });
}
console.log(`VS Code: ${((Date.now() - started) / 1000).toFixed(0)} s`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
