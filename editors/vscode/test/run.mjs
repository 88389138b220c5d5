// Tries the extension in VS Code itself, as `code-server` serves it to a browser:
//   node test/run.mjs MODULES BROWSER VSIX GUARD
// MODULES has code-server and puppeteer-core. Prints a line for each check that fails, and leaves screenshots in MODULES/shots.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import path from "node:path";

const [modules, browserPath, vsix, guard] = process.argv.slice(2).map((one) => path.resolve(one));
const require = createRequire(path.join(modules, "package.json"));
const puppeteer = require("puppeteer-core");

const PATIENCE = 90_000;
// A free port: a server that an earlier run left would answer for another folder.
const PORT = await new Promise((done) => {
  const socket = createServer().listen(0, "127.0.0.1", () => {
    const { port } = socket.address();
    socket.close(() => done(port));
  });
});
const shots = path.join(modules, "shots");
const data = path.join(modules, "data");
const work = path.join(modules, "work");
for (const folder of [shots, data, work]) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}

const SPEC = `event {
  tool: string
  amount: int?
  at: time?
}

predicate pays = tool == "pay"
track total: int = 0 then total + (amount ?? 0)

property asked = always (pays -> once tool == "ask")
unsafe too_much = total > 10 message "{total} paid"

test "a payment" {
  given [
    {tool: "look"},
    {tool: "pay", amount: 3},
  ]
  expect asked violated at 0
}
`;
const RUNS = [
  { id: "good", events: [{ tool: "ask", at: 0 }, { tool: "pay", amount: 4, at: 2 }] },
  { id: "bad", events: [{ tool: "look", at: 1 }, { tool: "pay", amount: 6, at: 3 }, { tool: "pay", amount: 7, at: 9 }] },
];
writeFileSync(path.join(work, "shop.guard"), SPEC);
writeFileSync(path.join(work, "shop.jsonl"), RUNS.map((run) => JSON.stringify(run) + "\n").join(""));
mkdirSync(path.join(data, "User"), { recursive: true });
const settings = {
  "guard.path": guard,
  "security.workspace.trust.enabled": false,
  "workbench.startupEditor": "none",
  "workbench.welcomePage.walkthroughs.openOnInstall": false,
  "editor.inlayHints.enabled": "on",
  "testing.automaticallyOpenPeekView": "never",
  "testing.automaticallyOpenTestResults": "neverOpen",
  "debug.openDebug": "openOnDebugBreak",
};
writeFileSync(path.join(data, "User", "settings.json"), JSON.stringify(settings));

const entry = path.join(modules, "node_modules", "code-server", "out", "node", "entry.js");
const env = { ...process.env, XDG_CONFIG_HOME: data, XDG_DATA_HOME: data };
const common = ["--user-data-dir", data, "--extensions-dir", path.join(data, "extensions")];
execFileSync(process.execPath, [entry, ...common, "--install-extension", vsix], { stdio: "ignore", env });
const server = spawn(
  process.execPath,
  [entry, ...common, "--auth", "none", "--bind-addr", `127.0.0.1:${PORT}`, "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust", work],
  { stdio: "ignore", env },
);

let passed = 0, failed = 0;
function check(what, holds, found) {
  if (holds) passed++;
  else { failed++; console.log(`FAILED ${what}${found === undefined ? "" : `: ${JSON.stringify(found).slice(0, 600)}`}`); }
}
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
/** Waits until a function gives something, and returns that, or nothing after a time. */
async function until(find, ms = PATIENCE) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await find().catch(() => undefined);
    if (found || Date.now() > end) return found;
    await sleep(250);
  }
}

const browser = await puppeteer.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
try {
  const address = `http://127.0.0.1:${PORT}/?folder=${encodeURIComponent(work)}`;
  await until(() => fetch(address).then((answer) => answer.ok));
  const page = await browser.newPage();
  await page.setViewport({ width: 1500, height: 1000 });
  await page.goto(address, { timeout: PATIENCE });
  await page.waitForSelector(".monaco-workbench", { timeout: PATIENCE });
  let shot = 0;
  const picture = (name) => page.screenshot({ path: path.join(shots, `${String(++shot).padStart(2, "0")}-${name}.png`) });
  const texts = (selector) => page.$$eval(selector, (nodes) => nodes.map((node) => node.textContent));
  const spaced = (text) => text.replaceAll("\u00a0", " ");
  const command = async (name) => {
    await page.keyboard.press("F1");
    await page.waitForSelector(".quick-input-widget input", { visible: true });
    await sleep(300);
    await page.keyboard.type(name);
    await sleep(700);
    await page.keyboard.press("Enter");
    await sleep(500);
  };
  const lens = async (title) => {
    // Lenses are drawn anew while answers come in, so the click is where the lens is, not on a node.
    const place = await until(() => page.evaluate((title) => {
      const all = [...document.querySelectorAll(".codelens-decoration *")];
      const own = all.find((node) => node.children.length === 0 && node.textContent.replace(/\u00a0/g, " ").trim() === title);
      const box = own?.getBoundingClientRect();
      return box && { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    }, title), 20_000);
    if (!place) throw new Error(`no lens ${title}: ${await page.$$eval(".codelens-decoration", (all) => all.map((node) => node.outerHTML).join(" "))}`);
    await page.mouse.click(place.x, place.y);
  };
  const editorText = async () => spaced((await texts(".view-line")).join("\n"));

  // Without ripgrep, which the server does not have here, files are opened by their tree.
  const file = await until(async () => {
    const rows = await page.$$(".explorer-viewlet .monaco-list-row");
    for (const row of rows) {
      if ((await row.evaluate((node) => node.textContent)).trim() === "shop.guard") return row;
    }
    return undefined;
  });
  await file.click({ count: 2 });
  await page.waitForSelector(".monaco-editor .view-lines", { timeout: PATIENCE });

  // Lenses, and the values of the test.
  const lenses = await until(async () => {
    const found = await texts(".codelens-decoration");
    return found.some((text) => text.includes("Run test")) && found;
  });
  const all = spaced((lenses || []).join(" "));
  check("lenses", all.includes("Run test") && all.includes("Debug test") && all.includes("Audit traces…"), lenses);
  const hinted = await until(async () => {
    const text = await editorText();
    return text.includes("pays; total = 3") && text;
  });
  check("values after the events of the test", hinted, await editorText());
  await picture("lenses-and-values");

  // Run test: the result stands at the `expect` line.
  await lens("Run test");
  // Where it is written differs between versions: in an element, or in the style of one.
  const inline = await until(() => page.evaluate(() => {
    const texts = (node) => ["::before", "::after"].map((part) => getComputedStyle(node, part).content).join(" ");
    const nodes = [...document.querySelectorAll(".monaco-editor *")];
    return nodes.map((node) => texts(node) + (node.children.length === 0 ? node.textContent : "")).find((text) => /violated.at.1/.test(text));
  }));
  check("the result of the test is at its line", inline);
  await picture("run-test");

  // Debug test: it stops at the first event, steps, and shows values.
  await lens("Debug test");
  const stack = await until(async () => {
    const found = (await texts(".debug-call-stack .monaco-list-row")).map(spaced);
    return found.some((text) => text.includes("step 0")) && found;
  });
  check("the debugger stops at the first event", stack, await texts(".debug-call-stack .monaco-list-row"));
  await page.keyboard.press("F10");
  const violated = await until(async () => {
    const found = (await texts(".debug-call-stack .monaco-list-row")).map(spaced);
    return found.some((text) => text.includes("step 1")) && found;
  });
  check("a step", violated, await texts(".debug-call-stack .monaco-list-row"));
  const scopes = await until(async () => {
    const found = (await texts(".debug-variables .monaco-list-row, .variables-view .monaco-list-row, .debug-view-content .monaco-list-row")).map(spaced);
    return found.some((text) => text.includes("Event")) && found;
  });
  check("scopes", scopes && ["Event", "Predicates", "Tracks", "Properties"].every((name) => scopes.some((text) => text.includes(name))), scopes);
  await picture("debug-test");
  await command("Debug: Stop");
  await sleep(1500);

  // The page of an audit, beside the text; the text shows the values of the step that the page shows.
  await page.click(".monaco-editor .view-lines");
  await command("Guard: Audit Traces");
  await until(() => page.waitForSelector(".quick-input-widget .monaco-list-row", { visible: true, timeout: 1000 }), 20_000);
  await sleep(500);
  await page.keyboard.press("Enter");
  const inner = await until(async () => {
    for (const frame of page.frames()) {
      if (await frame.$("#trace").catch(() => null)) return frame;
    }
    return undefined;
  });
  if (!inner) await picture("no-trace");
  check("the page is shown", inner, page.frames().map((frame) => frame.url()));
  if (inner) {
    const standing = () => inner.$eval(".stepper", (node) => node.textContent);
    const at = await until(async () => (await standing()).includes("Step 1") && standing());
    check("the violation is open", at, await standing().catch(String));
    const shown = await until(async () => {
      const text = await editorText();
      return text.includes("total = 6") && text;
    });
    check("the values of the step are in the text", shown, await editorText());
    await picture("trace");
    await inner.click("#strip");
    await page.keyboard.press("ArrowRight");
    const moved = await until(async () => (await standing()).includes("Step 2"));
    check("a key steps", moved, await standing());
    const next = await until(async () => (await editorText()).includes("total = 13"));
    check("the text follows", next, await editorText());
    await picture("trace-next-step");
    await page.click(".monaco-editor .view-lines");
    await page.keyboard.down("Control");
    await page.keyboard.down("Alt");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.up("Alt");
    await page.keyboard.up("Control");
    const back = await until(async () => (await standing()).includes("Step 1"), 20_000);
    check("keys in the text step too", back, await standing());
    await command("Guard: Step through This Trace");
    const traced = await until(async () => {
      const found = (await texts(".debug-call-stack .monaco-list-row")).map(spaced);
      return found.some((text) => text.includes("step 0")) && found;
    });
    check("the trace opens in the debugger", traced, await texts(".debug-call-stack .monaco-list-row"));
    await picture("debug-trace");
  }
  const toasts = (await texts(".notification-toast")).filter((text) => /error|failed/i.test(text));
  check("no errors", toasts.length === 0, toasts);
} finally {
  await browser.close();
  server.kill();
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
