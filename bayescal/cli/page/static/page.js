"use strict";

const at = (id) => document.getElementById(id);
const digits = crypto.getRandomValues(new Uint8Array(16));
const tab = Array.from(digits, (digit) => digit.toString(16).padStart(2, "0")).join("");
const LIMITS = [null, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2];
const LARGEST = 256 * 1024 ** 2;
const PREDICTIONS = ["prob", "percent", "logit", "survival"];
const fields = Array.from(at("fields").querySelectorAll("[name]"));
let chosen = {}; // the role of each column that was corrected
let positive = ""; // the value that is the event, if it was corrected
let dropped = false; // a file, in place of the demo
let files = 0;
let number = 0; // of the report that is shown
let waiting = null; // for the user to finish typing
let running = false;
let again = false;

async function ask(path, body, query = "") {
  const answer = await fetch(`${path}?tab=${tab}${query}`, { method: "POST", body });
  if (!answer.ok) throw Object.assign(new Error(await answer.text()), { status: answer.status });
  return answer;
}

const told = async (path, said) => (await ask(path, JSON.stringify(said))).json();

function complain(error) {
  const lost = error instanceof TypeError;
  const text = lost ? "The program does not answer. Start bayescal app again, and open its new address." : error.message;
  at("error").textContent = text;
  at("error").hidden = !text;
}

function element(name, text = "", of = {}) {
  return Object.assign(document.createElement(name), { textContent: text }, of);
}

function said() {
  const given = { columns: chosen, positive, shown: at("shown").value };
  for (const each of fields) {
    const used = !each.closest("label").hidden;
    if (used) given[each.name] = each.type === "checkbox" ? each.checked : each.value.trim();
  }
  return given;
}

// What is done: look at the file, and assess it unless something is open. What is changed meanwhile is asked next.

async function run() {
  clearTimeout(waiting);
  again = running;
  if (running) return;
  running = true;
  do {
    again = false;
    try {
      complain(new Error(""));
      await once(files);
    } catch (error) {
      if (error.status === 409) at("doing").textContent = again ? "" : error.message.trim();
      else complain(error);
    }
  } while (again);
  running = false;
}

async function once(file) {
  const given = said();
  const seen = await timed(dropped ? "Reading the file" : "Opening the demo", told("look", given));
  if (file !== files || again) return;
  show(seen);
  at("result").classList.add("old");
  if (seen.questions.length) return;
  const limit = LIMITS[at("limit").value];
  const asked = { ...given, limit, thresholds: at("thresholds").value };
  const found = await timed("Assessing", told("answer", asked));
  if (file !== files || again) return;
  answer(found);
}

async function timed(what, work) {
  const began = Date.now();
  const tell = () => (at("doing").textContent = `${what} … ${Math.round((Date.now() - began) / 1000)} s`);
  const clock = setInterval(tell, 1000);
  at("doing").textContent = `${what} …`;
  at("stop").hidden = false;
  try {
    return await work;
  } finally {
    clearInterval(clock);
    at("doing").textContent = "";
    at("stop").hidden = true;
  }
}

async function take(file) {
  if (!file) return;
  files += 1;
  const mine = files;
  [chosen, positive, dropped] = [{}, "", true];
  for (const each of fields) each.type === "checkbox" ? (each.checked = false) : (each.value = "");
  at("shown").replaceChildren();
  at("rows").replaceChildren();
  at("questions").hidden = at("result").hidden = at("others").hidden = true;
  at("more").open = false;
  complain(new Error(""));
  at("file-told").textContent = `Reading ${file.name} …`;
  try {
    if (file.size > LARGEST) throw new Error("Files of up to 256 MB are read here; read larger ones in Python, with bayescal.read.");
    await ask("file", file, `&name=${encodeURIComponent(file.name)}`);
  } catch (error) {
    if (mine !== files || error.status === 409) return;
    at("file-told").textContent = file.name;
    if (error.status === 422) at("more").open = true; // perhaps the encoding or the sheet
    return complain(error);
  }
  if (mine === files) run();
}

// What is shown

function show(seen) {
  const focused = document.activeElement.id;
  at("file-told").textContent = `${dropped ? seen.file : "A demo, boosted trees on breast tumours"}: the first of ${seen.rows.toLocaleString("en")} rows. Correct what is wrong above a column.`;
  const head = element("tr");
  const body = Array.from({ length: Math.max(...seen.columns.map((each) => each.cells.length)) }, () => element("tr"));
  seen.columns.forEach((column, index) => {
    const cell = element("th", "", { scope: "col", className: column.role ? "used" : "" });
    const choice = element("select", "", { id: `role-${index}` });
    choice.setAttribute("aria-label", `Column ${column.name} is`);
    for (const [role, words] of Object.entries(seen.roles)) choice.append(new Option(words, role, false, role === column.role));
    choice.addEventListener("change", () => choose(column.name, choice.value));
    cell.append(element("span", column.name, { className: "name" }), choice);
    if (column.reason) cell.append(element("small", `Why: ${column.reason}`));
    if (column.role === "outcome" && seen.events.length) cell.append(event(seen));
    head.append(cell);
    body.forEach((row, k) => row.append(element("td", column.cells[k] ?? "")));
  });
  const [top, rows] = [element("thead"), element("tbody")];
  top.append(head);
  rows.append(...body);
  at("rows").replaceChildren(element("caption", "The first rows of the file"), top, rows);
  const shown = seen.columns.map((each) => each.name);
  const others = seen.names.filter((name) => !shown.includes(name));
  const last = at("shown").value;
  at("shown").replaceChildren(new Option(`one of ${others.length} more`, ""), ...others.map((name) => new Option(name)));
  if (last) at("shown").append(new Option(last, last, true, true));
  at("others").hidden = !others.length;
  const roles = seen.columns.map((each) => each.role);
  for (const label of at("fields").querySelectorAll("[data-role]")) label.hidden = !roles.includes(label.dataset.role);
  const list = element("ul");
  list.append(...seen.questions.map((text) => element("li", text)));
  at("questions").replaceChildren(element("p", "Before it can be assessed:"), list);
  at("questions").hidden = !seen.questions.length;
  if (seen.questions.some((text) => text.includes("“"))) at("more").open = at("more").open || fields.some((each) => seen.questions.join().includes(each.closest("label").querySelector("span").textContent));
  if (focused && at(focused)) at(focused).focus();
}

function event(seen) {
  const label = element("label", "The event is ", { className: "event" });
  const choice = element("select", "", { id: "event" });
  const usual = seen.events.every((value) => ["0", "1", "True", "False"].includes(value));
  choice.append(new Option(usual ? "1" : "choose one", ""));
  for (const value of seen.events) if (!usual || !["1", "True"].includes(value)) choice.append(new Option(value));
  choice.value = seen.positive;
  choice.addEventListener("change", () => {
    positive = choice.value;
    run();
  });
  label.append(choice);
  return label;
}

function choose(name, role) {
  const kind = (each) => (PREDICTIONS.includes(each) ? "prob" : each);
  for (const [other, theirs] of Object.entries(chosen)) {
    if (theirs && theirs !== "subgroup" && kind(theirs) === kind(role)) delete chosen[other];
  }
  chosen[name] = role;
  if (role === "outcome") positive = "";
  run();
}

function answer(found) {
  number += 1;
  at("result").hidden = false;
  at("result").classList.remove("old");
  at("spoken").textContent = found.headline;
  at("python").value = found.python;
  at("python-part").hidden = !dropped;
  at("save-html").href = `report.html?tab=${tab}&save`;
  at("save-json").href = `report.json?tab=${tab}&save`;
  at("report").src = `report.html?tab=${tab}&number=${number}`;
}

const grown = new ResizeObserver(() => {
  const page = at("report").contentDocument?.documentElement;
  if (page) at("report").style.height = `${page.offsetHeight + 8}px`;
});
at("report").addEventListener("load", () => {
  const page = at("report").contentDocument;
  for (const link of page.querySelectorAll("a[href^=http]")) Object.assign(link, { target: "_blank", rel: "noopener noreferrer" });
  grown.disconnect();
  grown.observe(page.documentElement);
});

// What a person does

at("file").addEventListener("change", (happened) => take(happened.target.files[0]));
for (const kind of ["dragover", "dragenter", "dragleave", "drop"]) {
  document.addEventListener(kind, (happened) => {
    happened.preventDefault();
    at("drop").classList.toggle("over", kind.startsWith("drage") || kind === "dragover");
    if (kind === "drop") take(happened.dataTransfer.files[0]);
  });
}
for (const each of [...fields, at("shown")]) each.addEventListener("change", run);
at("limit").addEventListener("input", () => {
  const limit = LIMITS[at("limit").value];
  const words = limit === null ? "none chosen" : `${+(100 * limit).toFixed(1)} points`;
  at("limit-told").textContent = words;
  at("limit").setAttribute("aria-valuetext", words);
  clearTimeout(waiting);
  waiting = setTimeout(run, 600);
});
at("thresholds").addEventListener("change", run);
at("stop").addEventListener("click", () => ask("stop", "").catch(complain));
at("save-word").addEventListener("click", async () => {
  if (running) return;
  try {
    const asked = { ...said(), limit: LIMITS[at("limit").value], thresholds: at("thresholds").value };
    const document_ = await timed("Writing the Word document", ask("word", JSON.stringify(asked)));
    const link = element("a", "", { href: URL.createObjectURL(await document_.blob()), download: "report.docx" });
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (error) {
    complain(error);
  }
});
at("copy").addEventListener("click", async () => {
  at("python").select();
  await navigator.clipboard.writeText(at("python").value);
  at("copy").textContent = "Copied";
  setTimeout(() => (at("copy").textContent = "Copy"), 1500);
});
addEventListener("pagehide", () => navigator.sendBeacon(`close?tab=${tab}`));
addEventListener("pageshow", (shown) => shown.persisted && location.reload());
run();
