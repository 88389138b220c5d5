// Controls.
const controls = {};
function select(name, label, options) {
  const made = el("select", { onchange: () => go({ [name]: made.value }, true) }, options.map(([value, text]) => el("option", { value }, text)));
  controls[name] = made;
  return el("label", {}, label, made);
}
const search = el("input", { type: "search", placeholder: data.live ? "name, file, message" : "name, file, message, contents" });
let typing = 0;
search.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => go({ q: search.value }, true), 120); });
const status = el("p", { class: "quiet", role: "status", "aria-live": "polite" });
const voice = el("p", { class: "sr", role: "status", "aria-live": "polite" });
function announce(text) { voice.textContent = text; }
function heads() {
  const button = (name, text) => {
    const made = el("button", { type: "button", onclick: () => go({ sort: state.sort === name ? `-${name}` : state.sort === `-${name}` ? "" : name }, true) }, text);
    controls[`sort-${name}`] = made;
    return made;
  };
  return el("div", { class: "heads", role: "group", "aria-label": "Order" }, button("name", "trace"), button("steps", "steps"), button("verdict", "verdict"));
}
let keys = null;
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  if (event.target.closest("input, select, textarea")) return;
  const at = indexOf(current());
  if (event.key === "j" || event.key === "k") {
    const to = Math.min(visible.length - 1, Math.max(0, at + (event.key === "j" ? 1 : -1)));
    if (visible.length) openAt(to, true);
  } else if (event.key === "/") search.focus();
  else if (!keys || current() < 0) return;
  else if (event.key === "ArrowRight") keys.move(keys.at() + 1);
  else if (event.key === "ArrowLeft") keys.move(keys.at() - 1);
  else if (event.key === "Home" && !event.target.closest(".rows")) keys.move(0);
  else if (event.key === "End" && !event.target.closest(".rows")) keys.move(keys.last);
  else if (event.key === "n") keys.jump(1);
  else if (event.key === "N") keys.jump(-1);
  else return;
  event.preventDefault();
});
function render() {
  search.value = state.q;
  for (const name of ["property", "severity", "verdict", "file"]) if (controls[name]) controls[name].value = state[name];
  for (const name of Object.keys(ORDERS)) {
    const button = controls[`sort-${name}`];
    button.removeAttribute("data-sorted");
    if (state.sort === name) button.setAttribute("data-sorted", "down");
    if (state.sort === `-${name}`) button.setAttribute("data-sorted", "up");
  }
  if (state.q && !contents && !data.live) readContents();
  choose();
  const waiting = state.q && !contents && !data.live ? "; reading the contents …" : "";
  status.textContent = `${count(visible.length)} of ${many(data.live ? data.live.traces : traces.length, "trace", "traces")}${data.cut ? `; ${data.cut}` : ""}${waiting}`;
  drawRows(false);
  keys = null;
  drawTrace();
}
function theme() {
  const order = ["", "light", "dark"];
  const button = el("button", { type: "button", class: "theme" }, "Theme: system");
  button.addEventListener("click", () => {
    const next = order[(order.indexOf(document.documentElement.dataset.theme || "") + 1) % 3];
    if (next) document.documentElement.dataset.theme = next; else delete document.documentElement.dataset.theme;
    button.textContent = `Theme: ${next || "system"}`;
  });
  return button;
}

const start = () => {
  document.getElementById("controls").append(theme());
  // Of more files the search finds those that are meant.
  const CHOICES = 1_000;
  const files = data.files.map((file) => [file, file]);
  const filters = el("div", { class: "filters", role: "search" },
    el("label", {}, "Search", search),
    select("property", "Property", [["", "all"], ...properties.map((property) => [property.name, property.name])]),
    select("severity", "Severity", [["", "all"], ...SEVERITIES.map((one) => [one, `${one} or higher, violated`])]),
    select("verdict", "Verdict", [["", "all"], ["violated", "violated"], ["open", "open"], ["unknown", "unknown"], ["satisfied", "satisfied"]]),
    files.length > 1 && files.length <= CHOICES ? select("file", "File", [["", "all"], ...files]) : null,
    el("button", { type: "button", onclick: () => go({ ...DEFAULTS, trace: state.trace, n: state.n, step: state.step }, false) }, "Clear filters"));
  const list = el("div", { class: "list" }, heads(), rows, status);
  const problems = data.problems.length ? el("section", { "aria-labelledby": "h-data", id: "data-problems" },
    fold("problems", el("h2", { id: "h-data" }, `${many(data.problems.length + data.more_problems, "problem", "problems")} with the data`), !narrow.matches && data.problems.length < 6,
      el("ul", {}, data.problems.map((problem) => el("li", {}, problem))), data.more_problems ? el("p", { class: "quiet" }, `and ${many(data.more_problems, "more problem", "more problems")}`) : null)) : null;
  main.replaceChildren(...[overview(), plots(),
    el("section", { "aria-labelledby": "h-traces" }, el("h2", { id: "h-traces" }, "Traces"), filters, el("div", { class: "work" }, list, view)),
    data.live ? editor() : null, problems, voice].filter(Boolean));
  render();
  reveal(current());
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
};
addEventListener("hashchange", () => { state = read(); render(); reveal(current()); });
addEventListener("popstate", () => { state = read(); render(); reveal(current()); });
addEventListener("resize", () => { drawn = ""; drawRows(false); });
// What is closed on the screen is printed.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details.fold:not([open])")];
  for (const one of closed) one.open = true;
  drawn = "";
  drawRows(true);
});
addEventListener("afterprint", () => {
  for (const one of closed) one.open = false;
  drawn = "";
  drawRows(false);
});
start();
