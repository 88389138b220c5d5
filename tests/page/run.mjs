// Opens the pages of `guard audit --format html` and `guard view` in a real browser. Called by tests/it/page.rs:
//   node tests/page/run.mjs MODULES CHROMIUM FOLDER [ADDRESS MANY]
// MODULES has puppeteer-core and axe-core; FOLDER has small.html, shared.html, clock.html, hostile.html, big.html, doc/ and
// corpus-*.html; ADDRESS is that of `guard view --write` with three traces, MANY that of `guard view` with ten thousand.
// Prints a line for each check, and screenshots into FOLDER. With UPDATE_SCREENSHOTS=1 it writes the expected ones.
import { createRequire } from "node:module";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";

const [modules, chromium, folder, address, manyTraces] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules), "package.json"));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

let passed = 0, failed = 0;
function check(what, holds, found) {
  if (holds) passed++;
  else { failed++; console.log(`FAILED ${what}${found === undefined ? "" : `: ${JSON.stringify(found)}`}`); }
}

const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
async function opened(address, { width = 1400, dark = false, font = null } = {}) {
  const page = await browser.newPage();
  if (font) await page.setBypassCSP(true);
  page.faults = [];
  page.asked = [];
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") page.faults.push(message.text()); });
  page.on("request", (request) => page.asked.push(request.url()));
  await page.setViewport({ width, height: 1000 });
  if (dark) await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  await page.goto(address);
  await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
  if (font) await page.addStyleTag({ content: `* { font-family: "${font}" !important; caret-color: transparent !important; transition: none !important; }` });
  return page;
}
// Screenshots are compared at an eighth of their size, tile by tile: other versions of the browser draw letters a little
// differently, but a part that is missing, moved, or of another colour changes many points of a tile. All texts are in one font,
// which tests/page/install.sh installs, so that lines break alike on all machines.
const EXPECTED = path.join(path.dirname(new URL(import.meta.url).pathname), "screenshots");
const SCALE = 8, TILE = 8, DIFFERENT = 36, TOLERATED = 0.12;
async function compared(name, picture) {
  const file = path.join(EXPECTED, `${name}.png`);
  const blank = await browser.newPage();
  const small = await blank.evaluate(async (data, scale) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: Math.round(image.width / scale), height: Math.round(image.height / scale) });
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/png").split(",")[1];
  }, picture, SCALE);
  if (process.env.UPDATE_SCREENSHOTS) {
    mkdirSync(EXPECTED, { recursive: true });
    writeFileSync(file, Buffer.from(small, "base64"));
  }
  check(`screenshot ${name} is there`, existsSync(file));
  if (!existsSync(file)) return;
  const found = await blank.evaluate(async (one, other, tile, different) => {
    const points = async (data) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height);
    };
    const [a, b] = [await points(one), await points(other)];
    const tiles = new Map();
    for (let y = 0; y < Math.min(a.height, b.height); y++) for (let x = 0; x < Math.min(a.width, b.width); x++) {
      const [i, j] = [(y * a.width + x) * 4, (y * b.width + x) * 4];
      const most = Math.max(...[0, 1, 2].map((colour) => Math.abs(a.data[i + colour] - b.data[j + colour])));
      const key = `${Math.floor(x / tile)} ${Math.floor(y / tile)}`;
      if (most > different) tiles.set(key, (tiles.get(key) || 0) + 1);
    }
    const worst = Math.max(0, ...tiles.values()) / (tile * tile);
    return { worst, tiles: tiles.size, sizes: [[a.width, a.height], [b.width, b.height]] };
  }, small, readFileSync(file).toString("base64"), TILE, DIFFERENT);
  const [[wide, tall], [width, height]] = found.sizes;
  const fits = found.worst <= TOLERATED && wide === width && Math.abs(tall - height) < 3;
  check(`screenshot ${name} is as expected (UPDATE_SCREENSHOTS=1 writes it)`, fits, found);
  await blank.close();
}
const local = (name) => `file://${path.resolve(folder, name)}`;
const settle = (page) => page.evaluate(() => new Promise((done) => setTimeout(done, 250)));
const text = (page, selector) => page.$eval(selector, (node) => node.textContent);
const shown = (page) => text(page, ".list > p[role=status]");
async function accessible(page, what) {
  const found = await page.evaluate(`${axe}; axe.run(document, { resultTypes: ["violations"] })`);
  check(`axe: ${what}`, found.violations.length === 0, found.violations.map((one) => [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160) + node.failureSummary)]));
}

// Every control.
{
  const page = await opened(local("small.html"));
  const all = await shown(page);
  check("all traces are listed", all.startsWith("12 of 12 traces"), all);
  const violating = await page.$$eval(".row .bad", (nodes) => nodes.length);
  check("violating traces are marked", violating === 3, violating);
  await page.select("select", "approved");
  await settle(page);
  const property = await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("property"));
  check("the address names the property", property === "approved", property);
  const labels = await page.$$eval(".filters label", (nodes) => nodes.map((node) => node.firstChild.textContent));
  check("filters", JSON.stringify(labels.slice(0, 4)) === '["Search","Property","Severity","Verdict"]', labels);
  const selects = await page.$$(".filters select");
  await selects[2].select("violated");
  await settle(page);
  const filtered = await shown(page);
  check("a verdict is a filter", /^[12] of 12 traces/.test(filtered), filtered);
  const before = await page.evaluate(() => location.hash);
  await page.evaluate(() => [...document.querySelectorAll("button")].find((button) => button.textContent === "Clear filters").click());
  await settle(page);
  check("filters are cleared", (await shown(page)).startsWith("12 of 12"), await shown(page));
  await page.goBack();
  await settle(page);
  check("back restores the filters", (await shown(page)) === filtered && (await page.evaluate(() => location.hash)) === before);
  await page.goForward();
  await page.type("input[type=search]", "zzzz-no-such-text");
  await settle(page);
  check("a search without results", (await shown(page)).startsWith("0 of 12"), await shown(page));
  await page.$eval("input[type=search]", (node) => { node.value = ""; node.dispatchEvent(new Event("input")); });
  await settle(page);
  const first = () => text(page, ".row .name span");
  await page.evaluate(() => [...document.querySelectorAll(".heads button")].find((button) => button.textContent === "verdict").click());
  await settle(page);
  check("order by verdict", (await page.$eval(".row .what", (node) => node.className)).includes("bad"), await first());
  await page.evaluate(() => [...document.querySelectorAll(".heads button")].find((button) => button.textContent === "trace").click());
  await settle(page);
  const up = await first();
  await page.evaluate(() => [...document.querySelectorAll(".heads button")].find((button) => button.textContent === "trace").click());
  await settle(page);
  check("order by name and back", up !== (await first()), up);
  await page.evaluate(() => { document.activeElement.blur(); [...document.querySelectorAll(".row")].find((row) => row.querySelector(".bad")).click(); });
  await settle(page);
  const step = () => page.$eval(".stepper span", (node) => node.textContent.trim());
  await page.keyboard.press("Home");
  await settle(page);
  const start = await step();
  await page.keyboard.press("ArrowRight");
  await settle(page);
  check("keys step", start.startsWith("Step 0") && (await step()).startsWith("Step 1"), [start, await step()]);
  await page.keyboard.press("Home");
  await page.keyboard.press("n");
  await settle(page);
  const marked = await page.$$eval(".strip .why", (nodes) => nodes.length);
  check("the violation is marked", marked > 0, marked);
  const rows = await page.$$eval(".strip tbody th[scope=row]", (nodes) => nodes.map((node) => node.textContent));
  check("conditions, verdicts and kinds have rows", rows.includes("kind") && rows.includes("approved") && rows.length > 4, rows);
  const shared = await page.evaluate(() => location.href);
  const other = await opened(shared);
  await settle(other);
  check("an address shows the same step", (await other.$eval(".stepper span", (node) => node.textContent.trim())) === (await step()));
  check("the clause is shown", (await text(other, "#trace pre")).length > 5);
  check("the clause is given in words", (await text(other, "#trace")).includes("In words: "));
  check("nothing is fetched", other.asked.every((asked) => asked.startsWith("file:")), other.asked);
  check("no errors", page.faults.length + other.faults.length === 0, [page.faults, other.faults]);
  await page.bringToFront();
  await page.keyboard.press("j");
  await settle(page);
  check("j opens the next trace", (await page.evaluate(() => location.href)) !== shared);
  await page.focus(".rows");
  await page.keyboard.press("End");
  await settle(page);
  check("the list takes keys", (await page.$eval(".row[aria-selected=true]", (node) => node.getAttribute("aria-posinset"))) === "12");
  await page.emulateMediaType("print");
  check("controls are not printed", (await page.$eval(".filters", (node) => getComputedStyle(node).display)) === "none");
  check("it prints", (await page.pdf()).length > 10_000);
  await page.close();
  await other.close();
}

// Three widths, light and dark.
for (const dark of [false, true]) {
  for (const width of [400, 800, 1400]) {
    const page = await opened(local("small.html"), { width, dark });
    await settle(page);
    const wide = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    check(`no overflow at ${width}`, wide[0] <= wide[1], wide);
    await accessible(page, `${width}${dark ? " dark" : ""}`);
    await page.screenshot({ path: path.join(folder, `page-${width}${dark ? "-dark" : ""}.png`), fullPage: true });
    await page.close();
    const plain = await opened(local("small.html"), { width, dark, font: "DejaVu Sans" });
    await settle(plain);
    await compared(`page-${width}${dark ? "-dark" : ""}`, await plain.screenshot({ fullPage: true, encoding: "base64" }));
    await plain.close();
  }
}

// Events of one message share a number: stepping passes through each of them.
{
  const page = await opened(local("shared.html"));
  await page.keyboard.press("Home");
  await settle(page);
  const where = async () => (await page.$eval(".stepper span", (node) => node.textContent)).match(/event (\d+) of (\d+)/).slice(1).map(Number);
  const seen = [(await where())[0]];
  for (let press = 1; press < (await where())[1]; press++) {
    await page.keyboard.press("ArrowRight");
    await settle(page);
    seen.push((await where())[0]);
  }
  check("each event is reached", seen.length > 4 && seen.every((event, place) => event === place + 1), seen);
  const numbers = await page.$$eval(".strip thead th.count", (nodes) => nodes.map((node) => node.textContent));
  check("two events share a number", new Set(numbers).size < numbers.length, numbers);
  check("what was said is shown around the step", (await text(page, ".around")).includes("list the files"), await text(page, ".around"));
  await page.close();
}

// The clock and the tracks stand step by step below the conditions.
{
  const page = await opened(local("clock.html"));
  await settle(page);
  const rows = await page.$$eval(".strip tbody tr", (nodes) => nodes.map((node) => [...node.cells].map((cell) => cell.textContent)));
  const place = (head) => rows.findIndex((row) => row[0] === head);
  const clock = rows[place("at, since the first step")], spent = rows[place("spent")];
  check("the clock counts from the first step", JSON.stringify(clock?.slice(1)) === '["0 s","30 s","1.5 min","1.5 h","1 d"]', rows);
  check("the track has a value at each step", JSON.stringify(spent?.slice(1)) === '["0","40","40","80","120"]', rows);
  check("they stand under their headings", place("Clock") + 1 === place("at, since the first step") && place("Tracks") + 1 === place("spent"), rows.map((row) => row[0]));
  const changed = await page.$$eval(".strip tbody tr", (nodes) => [...nodes.find((node) => node.cells[0].textContent === "spent").cells].slice(1).map((cell) => cell.classList.contains("o")));
  check("changes of the track are marked", JSON.stringify(changed) === "[false,true,false,true,true]", changed);
  await page.evaluate(() => [...document.querySelectorAll(".chip")].find((node) => node.textContent.includes("calm")).click());
  await settle(page);
  check("a verdict names the step at which a track got its value", (await text(page, "#trace .beside")).includes("`spent` has been 40 since step 1"), await text(page, "#trace .beside"));
  check("no errors with a clock", page.faults.length === 0, page.faults);
  await page.close();
}

// A phone: the page is short, what is closed opens and stays open, and a trace that is touched comes into view.
{
  const phone = { width: 400, font: "DejaVu Sans" };
  const page = await opened(local("small.html"), phone);
  await settle(page);
  const tall = await page.evaluate(() => document.documentElement.scrollHeight);
  check("the page is short on a phone", tall < 4_500, tall);
  const isOpen = (name) => page.$eval(`#fold-${name}`, (node) => node.open);
  check("what is seldom needed is closed", !(await isOpen("violations")) && !(await isOpen("legend")) && (await isOpen("around")) && (await isOpen("step")));
  await page.$eval("#fold-legend summary", (node) => node.click());
  await page.$eval("#fold-around summary", (node) => node.click());
  await page.evaluate(() => document.activeElement.blur());
  await page.$eval("#next", (node) => node.click());
  await settle(page);
  check("what was opened and closed stays so", (await isOpen("legend")) && !(await isOpen("around")));
  const top = () => page.$eval("#trace", (node) => node.getBoundingClientRect().top);
  await page.evaluate(() => scrollTo(0, 0));
  const far = await top();
  await page.evaluate(() => [...document.querySelectorAll(".row")].find((row) => row.getAttribute("aria-selected") === "false").click());
  await settle(page);
  check("a trace that is touched is in view", far > 600 && Math.abs(await top()) < 100, [far, await top()]);
  const shared = await opened(page.url(), { width: 400 });
  await settle(shared);
  const begins = await shared.$eval("#trace", (node) => node.getBoundingClientRect().top);
  check("a shared address begins at its trace", Math.abs(begins) < 100, begins);
  await shared.close();
  const name = () => text(page, "#trace h2");
  const before = await name();
  await page.$eval("#traceafter", (node) => node.click());
  await settle(page);
  check("a button opens the next trace", (await name()) !== before, before);
  await page.$eval("#tolist", (node) => node.click());
  await settle(page);
  const list = await page.$eval(".rows", (node) => [node.getBoundingClientRect().top, node === document.activeElement]);
  check("a button leads back to the list", list[0] >= 0 && list[0] < 800 && list[1], list);
  const small = await page.$$eval("button:not(.plain, .heads button, .now, .line), select, input", (nodes) => nodes.map((node) => node.getBoundingClientRect()).filter((box) => box.height > 0 && box.height < 32).length);
  check("controls can be touched", small === 0, small);
  await page.close();
  // On a wide screen everything but long lists is open.
  const wide = await opened(local("small.html"));
  const shut = await wide.$$eval("details.fold:not([open])", (nodes) => nodes.map((node) => node.id));
  check("a wide page is open", JSON.stringify(shut) === '["fold-columns"]', shut);
  await wide.evaluate(() => dispatchEvent(new Event("beforeprint")));
  check("everything is printed", (await wide.$$("details.fold:not([open])")).length === 0);
  await wide.evaluate(() => dispatchEvent(new Event("afterprint")));
  check("and closed again", (await wide.$$("details.fold:not([open])")).length === 1);
  await wide.close();
}

// Pictures of models are part of the page of `guard view`, and follow its theme.
if (address) {
  const page = await opened(address);
  const pictures = await page.$$eval("#models svg", (nodes) => nodes.map((node) => [node.getAttribute("aria-label"), node.getBoundingClientRect().width > 100]));
  check("the model is drawn", pictures.length >= 2 && pictures.every(([name, wide]) => name && wide), pictures);
  const paint = () => page.$eval("#models .node", (node) => getComputedStyle(node).fill);
  const light = await paint();
  await page.evaluate(() => { document.documentElement.dataset.theme = "dark"; });
  check("its colours follow the theme", light !== (await paint()), light);
  await page.close();
}

// Every corpus of recorded runs: its page lists all traces, opens the first violating one and the last one, and steps through.
for (const file of readdirSync(folder).filter((name) => /^corpus-.*\.html$/.test(name))) {
  const page = await opened(local(file), { width: 800 });
  const traces = await page.$eval("#data", (node) => JSON.parse(node.textContent).traces.length);
  const listed = await shown(page);
  check(`${file}: all traces are listed`, traces > 0 && listed.startsWith(`${traces.toLocaleString("en")} of `), listed);
  for (const key of ["", "End"]) {
    await page.focus(".rows");
    if (key) await page.keyboard.press(key);
    else await page.$eval(".row", (row) => row.click());
    await page.waitForFunction(() => document.querySelector("#trace .strip") || document.querySelector("#trace .quiet:last-of-type"), { timeout: 20_000 });
    await settle(page);
    const steps = await page.$$eval("#trace .strip thead th.count", (nodes) => nodes.length);
    if (steps < 2) continue;
    const where = () => page.$eval(".stepper span", (node) => node.textContent);
    await page.$eval("#first", (node) => node.click());
    await settle(page);
    const start = await where();
    await page.$eval("#next", (node) => node.click());
    await settle(page);
    check(`${file}: steps are passed`, start !== (await where()), start);
  }
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  check(`${file}: no overflow`, wide[0] <= wide[1], wide);
  await accessible(page, file);
  check(`${file}: no errors, nothing is fetched`, page.faults.length === 0 && page.asked.every((asked) => asked.startsWith("file:")), page.faults);
  await page.close();
}

// Hostile contents are text.
{
  const page = await opened(local("hostile.html"));
  for (const row of [0, 1]) {
    await page.evaluate((row) => document.querySelectorAll(".row")[row]?.click(), row);
    await settle(page);
  }
  check("no script of the data ran", (await page.evaluate(() => window.pwned)) === undefined);
  const strange = await page.$$eval("main img, main script, main iframe, main b, main a[href], main style", (nodes) => nodes.map((node) => node.outerHTML));
  check("no element comes from the data", strange.length === 0, strange);
  const body = await page.evaluate(() => document.body.innerText);
  check("markup is shown as text", body.includes("<img src=x onerror="), body.slice(0, 400));
  check("marks that turn text around are shown", body.includes("\\u{202e}") && !/[\u202a-\u202e\u2066-\u2069]/.test(body));
  check("nothing hostile is fetched", page.asked.every((asked) => asked.startsWith("file:")), page.asked);
  check("no errors with hostile data", page.faults.length === 0, page.faults);
  check("long values are cut", statSync(path.join(folder, "hostile.html")).size < 2_000_000, statSync(path.join(folder, "hostile.html")).size);
  await page.close();
}

// Ten thousand traces.
{
  const started = Date.now();
  const page = await opened(local("big.html"));
  const ready = Number(await page.$eval("html", (node) => node.dataset.ready));
  const rows = await page.$$eval(".row", (nodes) => nodes.length);
  check("only rows in sight exist", rows > 5 && rows < 60, rows);
  const took = await page.evaluate(() => {
    const begin = performance.now();
    const search = document.querySelector("select");
    search.value = search.options[1].value;
    search.dispatchEvent(new Event("change"));
    document.querySelector(".rows").scrollTop = 100_000;
    document.body.getBoundingClientRect();
    return performance.now() - begin;
  });
  console.log(`10,000 traces: ready ${ready} ms after navigation (${Date.now() - started} ms in all), filtered in ${Math.round(took)} ms`);
  // On a machine that does nothing else it is ready in well under half a second; a test machine may be busy.
  check("it is ready soon", ready < 5_000, ready);
  check("a filter is fast", took < 1_000, took);
  await page.waitForSelector(".strip", { timeout: 20_000 });
  const opening = await page.evaluate(async () => {
    const begin = performance.now();
    const before = document.querySelector("#trace h2").textContent;
    const other = [...document.querySelectorAll(".row")].find((row) => row.querySelector(".name span").textContent !== before);
    const name = other.querySelector(".name span").textContent;
    other.click();
    while (document.querySelector("#trace h2").textContent !== name) await new Promise((done) => setTimeout(done, 5));
    return performance.now() - begin;
  });
  console.log(`a compressed trace is open in ${Math.round(opening)} ms; the page has ${statSync(path.join(folder, "big.html")).size} bytes`);
  check("a compressed trace opens soon", opening < 1_000, opening);
  check("ten thousand traces take few bytes", statSync(path.join(folder, "big.html")).size < 8_000_000, statSync(path.join(folder, "big.html")).size);
  // Words that only the steps have.
  await page.evaluate(() => { location.hash = `#q=${encodeURIComponent("words of a message")}`; });
  const searching = Date.now();
  await page.waitForFunction(() => !document.querySelector(".list > p[role=status]").textContent.includes("reading"), { timeout: 20_000 });
  const hits = await shown(page);
  console.log(`contents searched in ${Date.now() - searching} ms: ${hits}`);
  check("contents are searched", /^[1-9][\d,]* of 10,000 traces$/.test(hits), hits);
  check("no errors with many traces", page.faults.length === 0, page.faults);
  await page.close();
}

// The live page.
if (address) {
  const page = await opened(address);
  await settle(page);
  await page.waitForSelector(".strip", { timeout: 20_000 });
  check("steps come from the server", (await page.$$eval(".strip tbody tr", (nodes) => nodes.length)) > 3);
  const change = async (from, to) => {
    await page.$eval("#spec", (node, from, to) => { document.getElementById("checked").textContent = "checking"; node.value = node.value.replace(from, to); node.dispatchEvent(new Event("input")); }, from, to);
    await page.waitForFunction(() => { const told = document.getElementById("checked").textContent; return told && !told.includes("checking"); }, { timeout: 60_000 });
    return text(page, "#checked");
  };
  const wrong = await change("property approved", "property approved approved");
  check("a wrong spec has diagnostics", wrong.includes("G01"), wrong);
  await change("property approved approved", "property approved");
  const changed = await change("Y approval", "once approval");
  check("a change shows the verdicts that change", changed.includes("approved") && changed.includes("no longer violated"), changed);
  await accessible(page, "view");
  check("the live page asks its own address only", page.asked.every((asked) => asked.startsWith(new URL(address).origin)), page.asked);
  check("no errors in the live page", page.faults.length === 0, page.faults);
  await page.screenshot({ path: path.join(folder, "view.png"), fullPage: true });
  // Save: refused while the spec has errors, then written, and the page is that of the new spec.
  const file = path.join(folder, "a.guard"), original = readFileSync(file, "utf8");
  const saved = async () => {
    await page.waitForFunction(() => !document.getElementById("save").disabled);
    await page.click("#save");
    await page.waitForFunction(() => { const told = document.getElementById("saved"); return told && told.textContent && !told.textContent.startsWith("saving"); }, { timeout: 60_000 });
    return text(page, "#saved");
  };
  await change("property approved", "property approved approved");
  check("a wrong spec is not saved", (await saved()).includes("has errors") && readFileSync(file, "utf8") === original);
  await change("property approved approved", "property approved");
  writeFileSync(file, `${original}\n`);
  check("a file that was changed is not overwritten", (await saved()).includes("changed meanwhile") && readFileSync(file, "utf8") === `${original}\n`);
  writeFileSync(file, original);
  const reload = page.waitForNavigation({ waitUntil: "load" });
  await page.$eval("#spec", (node) => node.dispatchEvent(new Event("input")));
  await page.click("#save");
  await reload;
  await page.waitForSelector(".strip", { timeout: 20_000 });
  check("the file has the changed text", readFileSync(file, "utf8") === original.replace("Y approval", "once approval"));
  check("the page shows the verdicts of the saved spec", (await page.$$eval(".row .bad", (nodes) => nodes.length)) === 1);
  check("no more errors than refusals", page.faults.every((fault) => /4(09|22)/.test(fault)), page.faults);
  await page.close();
}

// The live page over ten thousand traces: only parts of the list are in it.
if (manyTraces) {
  const page = await opened(manyTraces);
  await page.waitForSelector(".row .name", { timeout: 20_000 });
  await page.waitForSelector(".strip", { timeout: 20_000 });
  check("the list of the server is shown", (await shown(page)).startsWith("10,000 of 10,000 traces"), await shown(page));
  check("the first violating trace is open", (await text(page, "#trace")).includes("violated"));
  await page.focus(".rows");
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.querySelector("#trace h2").textContent === "trace-9999", { timeout: 20_000 });
  check("the last trace is listed", (await page.$eval(".row[aria-selected=true]", (node) => node.getAttribute("aria-posinset"))) === "10000");
  await page.$eval(".rows", (node) => { node.scrollTop = 44 * 5_000; });
  await page.waitForFunction(() => [...document.querySelectorAll(".row .name span")].some((node) => node.textContent === "trace-5003"), { timeout: 20_000 });
  await page.select("select", "approved");
  const selects = await page.$$(".filters select");
  await selects[2].select("violated");
  await page.waitForFunction(() => !document.querySelector(".list > p[role=status]").textContent.startsWith("10,000 of"), { timeout: 20_000 });
  const some = await shown(page);
  check("the server filters", /^[1-9][\d,]* of 10,000 traces/.test(some), some);
  check("what is listed violates", await page.$$eval(".row .what", (nodes) => nodes.length > 5 && nodes.every((node) => node.textContent.includes("approved"))));
  await page.evaluate(() => document.activeElement.blur());
  const before = await text(page, "#trace h2");
  await page.keyboard.press("k");
  await page.waitForFunction((name) => document.querySelector("#trace h2").textContent !== name, { timeout: 20_000 }, before);
  const shared = await page.evaluate(() => location.href);
  const other = await opened(shared);
  await other.waitForSelector(".strip", { timeout: 20_000 });
  check("an address opens the same trace", (await text(other, "#trace h2")) === (await text(page, "#trace h2")) && (await shown(other)) === some);
  check("it is in sight", (await other.$$(".row[aria-selected=true]")).length === 1);
  await accessible(other, "view of many");
  check("no errors with many traces on the server", page.faults.length + other.faults.length === 0, [page.faults, other.faults]);
  await page.close();
  await other.close();
}

// Pages of `guard doc`.
for (const file of readdirSync(path.join(folder, "doc")).filter((name) => name.endsWith(".html"))) {
  const page = await browser.newPage();
  await page.goto(local(path.join("doc", file)));
  await accessible(page, `guard doc: ${file}`);
  await page.close();
}
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
