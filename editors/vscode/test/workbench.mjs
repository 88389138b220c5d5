// VS Code as `code-server` serves it to a browser: its start, and what a person does in it. Nothing waits for a fixed time: each
// step waits until the page shows what it is for, or until PATIENCE is over.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import path from "node:path";

/** The longest wait for one thing, in milliseconds. */
const PATIENCE = Number(process.env.GUARD_PATIENCE ?? 120_000);
/** The time after which a click is taken for lost: on a row that the page draws anew at that moment it opens nothing. */
const CLICK = 10_000;
/** The time between two looks at the page. */
const LOOK = 40;

/** Asks until the answer is something, and returns that; `undefined` if it never is. */
export async function until(find, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    const found = await Promise.resolve().then(find).catch(() => undefined);
    if (found) return found;
    if (Date.now() > end) return undefined;
    await new Promise((done) => setTimeout(done, LOOK));
  }
}

/** Between words and hints there are spaces of other widths. */
const plain = (text) => text.replace(/[\u00a0\u2000-\u200a]/g, " ");

export class Workbench {
  /** Installs the extension into a new folder of data, and opens `work`. The folder is not trusted at first. */
  static async start({ modules, browser: executablePath, vsix, work, settings, env = {} }) {
    const require = createRequire(path.join(modules, "package.json"));
    const puppeteer = require("puppeteer-core");
    const data = path.join(modules, "data");
    rmSync(data, { recursive: true, force: true });
    const bench = new Workbench();
    bench.settings = path.join(data, "Machine", "settings.json");
    mkdirSync(path.join(data, "User"), { recursive: true });
    writeFileSync(path.join(data, "User", "settings.json"), JSON.stringify(settings));
    const all = { ...process.env, ...env, XDG_CONFIG_HOME: data, XDG_DATA_HOME: data };
    const entry = path.join(modules, "node_modules", "code-server", "out", "node", "entry.js");
    const common = [entry, "--user-data-dir", data, "--extensions-dir", path.join(data, "extensions")];
    execFileSync(process.execPath, [...common, "--install-extension", vsix], { stdio: "ignore", env: all });
    // A free port: a server that an earlier run left would answer for another folder.
    const port = await new Promise((done) => {
      const socket = createServer().listen(0, "127.0.0.1", () => {
        const { port } = socket.address();
        socket.close(() => done(port));
      });
    });
    const options = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
    bench.server = spawn(process.execPath, [...common, ...options, work], { stdio: "ignore", env: all });
    try {
      const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
      bench.browser = await puppeteer.launch({ executablePath, args });
      const address = `http://127.0.0.1:${port}/?folder=${encodeURIComponent(work)}`;
      await until(() => fetch(address).then((answer) => answer.ok));
      bench.page = await bench.browser.newPage();
      await bench.page.setViewport({ width: 1120, height: 720 });
      await bench.page.goto(address, { timeout: PATIENCE });
      await bench.page.waitForSelector(".monaco-workbench .explorer-viewlet .monaco-list-row", { timeout: PATIENCE });
      return bench;
    } catch (error) {
      await bench.close();
      throw error;
    }
  }

  async close() {
    await this.browser?.close();
    this.server.kill();
  }

  /** Sets settings of the machine; VS Code notices the file. */
  set(settings) {
    mkdirSync(path.dirname(this.settings), { recursive: true });
    writeFileSync(this.settings, JSON.stringify(settings));
  }

  /** The texts of all elements that a selector finds. */
  async texts(selector) {
    const found = await this.page.$$eval(selector, (nodes) => nodes.map((node) => node.textContent));
    return found.map(plain);
  }

  /** The names of rows of a tree or list, as they are read aloud. */
  labels(selector) {
    const rows = (nodes) => nodes.map((node) => node.getAttribute("aria-label") ?? node.textContent);
    return this.page.$$eval(`${selector} .monaco-list-row`, rows);
  }

  /** The lines of text editors, with what stands between the words. */
  async lines() {
    const lines = await this.page.$$eval(".view-line", (nodes) => nodes.map((node) => node.textContent));
    return lines.map(plain);
  }

  /** The line that begins with a text. */
  async line(begin) {
    return (await this.lines()).find((line) => line.startsWith(begin));
  }

  /** Clicks where a thing is once it stands still: lists and lenses are drawn anew while answers come in. */
  async click(find, what, options) {
    const place = () => this.page.evaluate(find);
    let last;
    const still = await until(async () => {
      const now = await place();
      const same = now && last && now.x === last.x && now.y === last.y;
      last = now;
      return same && now;
    });
    if (!still) throw new Error(`not found: ${what}`);
    await this.page.mouse.click(still.x, still.y, options);
  }

  /** Clicks the row of a list whose name, as it is read aloud, begins with this one. */
  clickRow(list, name, options) {
    return this.clickOne(`${list} .monaco-list-row`, `(node.getAttribute("aria-label") ?? "").startsWith(${JSON.stringify(name)})`, options);
  }

  /** Clicks the element of a selector whose text is this one. */
  clickText(selector, text, options) {
    const plain = 'node.textContent.replace(/[\\u00a0\\u2000-\\u200a]/g, " ").trim()';
    return this.clickOne(selector, `${plain} === ${JSON.stringify(text)}`, options);
  }

  clickOne(selector, is, options) {
    const find = `(() => {
      const own = [...document.querySelectorAll(${JSON.stringify(selector)})].find((node) => ${is});
      const box = own?.getBoundingClientRect();
      return box && box.width > 0 ? { x: box.x + Math.min(box.width / 2, 30), y: box.y + box.height / 2 } : null;
    })()`;
    return this.click(find, `${selector} where ${is}`, options);
  }

  lens(title) {
    return this.clickText(".codelens-decoration a, .codelens-decoration span", title);
  }

  /** Opens a file of the explorer, to stay. */
  async open(name) {
    const isThere = await this.page.$eval(".explorer-viewlet", (node) => node.getBoundingClientRect().width > 0).catch(() => false);
    if (!isThere) await this.command("View: Show Explorer");
    const is = (name) => [...document.querySelectorAll(".tab.active .label-name")].some((tab) => tab.textContent === name);
    const opened = await until(async () => {
      await this.clickRow(".explorer-viewlet", name, { count: 2 });
      return until(() => this.page.evaluate(is, name), CLICK);
    });
    if (!opened) throw new Error(`${name} is not open after ${PATIENCE} ms`);
    await this.page.waitForSelector(".monaco-editor .view-line", { timeout: PATIENCE });
  }

  /** Chooses an entry of the list that is open for it, by typing. */
  async choose(text) {
    const focused = ".quick-input-widget .monaco-list-row.focused";
    const ready = await until(async () => {
      const rows = await this.labels(".quick-input-widget");
      return rows.some((row) => row.includes(text));
    }, 5_000);
    if (!ready) throw new Error(`no entry ${text}: ${await this.labels(".quick-input-widget")}`);
    const chosen = await until(async () => {
      const own = await this.page.$eval(focused, (row) => row.getAttribute("aria-label"));
      if (own.includes(text)) return true;
      await this.page.keyboard.press("ArrowDown");
      return false;
    });
    if (!chosen) throw new Error(`cannot choose ${text}`);
    await this.page.keyboard.press("Enter");
  }

  /** Runs a command of the palette. */
  async command(name) {
    const input = ".quick-input-widget input[type=text], .quick-input-widget .input";
    for (let attempt = 0; ; attempt++) {
      await this.page.keyboard.press("F1");
      const open = await until(async () => (await this.page.$eval(input, (node) => node.value)).startsWith(">"), 5_000);
      if (!open && attempt < 5) continue;
      await this.page.keyboard.type(name);
      try {
        return await this.choose(name);
      } catch (error) {
        // A command appears when the extension is active; a widget may take the keys that open the palette.
        if (attempt >= 5) throw error;
        await this.page.keyboard.press("Escape");
      }
    }
  }

  /** Whether a message says this; its buttons. */
  async toast(text) {
    return until(async () => (await this.texts(".notification-toast")).find((toast) => toast.includes(text)));
  }
}
