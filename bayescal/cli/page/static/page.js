"use strict";

const at = (id) => document.getElementById(id);
const form = at("options");
const digits = new Uint8Array(16);
crypto.getRandomValues(digits);
const tab = Array.from(digits, (digit) => digit.toString(16).padStart(2, "0")).join("");
let number = 0; // of the report that is shown
let waiting = null; // for the user to finish typing
let polling = null;
let uploads = 0;
let wantsWord = false; // the document is saved as soon as it is written

async function ask(path, body, query = "") {
  const answer = await fetch(`${path}?tab=${tab}${query}`, body === undefined ? {} : { method: "POST", body });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

function complain(message) {
  at("answer").hidden = false;
  at("error").textContent = message;
  at("error").hidden = !message;
}

function guarded(work) {
  return async (...given) => {
    try {
      await work(...given);
    } catch (error) {
      const lost = error instanceof TypeError;
      complain(lost ? "The server does not answer. Start bayescal app again, and open its new address." : error.message);
    }
  };
}

const take = guarded(async (file) => {
  if (!file) return;
  const mine = ++uploads;
  form.hidden = true;
  at("result").hidden = true;
  complain("");
  at("answer").hidden = true;
  at("file-told").textContent = `Reading ${file.name} ...`;
  const state = await ask("file", file, `&name=${encodeURIComponent(file.name)}`);
  if (mine === uploads) follow(state);
});

function choices(columns) {
  for (const select of form.querySelectorAll("select[data-columns]")) {
    select.replaceChildren(...(select.multiple ? [] : [new Option(select.dataset.columns, "")]));
    for (const name of columns.names) select.append(new Option(name, name));
  }
  form.elements.outcome.value = columns.outcome ?? "";
  form.elements.prob.value = columns.prob ?? "";
  for (const name of ["positive", "thresholds", "seed"]) form.elements[name].value = "";
}

function options() {
  const given = {};
  for (const field of form.elements) {
    if (field.multiple) given[field.name] = Array.from(field.selectedOptions, (option) => option.value);
    else if (field.name) given[field.name] = field.type === "checkbox" ? field.checked : field.value.trim();
  }
  given.thresholds = given.thresholds.split(/[\s,;]+/).filter(Boolean);
  return given;
}

const assess = guarded(async () => {
  clearTimeout(waiting);
  complain("");
  if (!form.reportValidity()) return;
  at("result").classList.add("old");
  wantsWord = false;
  follow(await ask("assess", JSON.stringify(options())));
});

function follow(state) {
  clearTimeout(polling);
  show(state);
  if (state.phase === "reading" || state.phase === "working") {
    polling = setTimeout(guarded(async () => follow(await ask("state"))), 200);
  }
}

function show(state) {
  const busy = state.phase === "reading" || state.phase === "working";
  at("stop").hidden = !busy;
  at("doing").textContent = busy ? `${state.doing} ... ${state.seconds.toFixed(0)} s` : state.phase === "stopped" ? "Stopped." : "";
  if (busy) at("answer").hidden = state.phase === "reading" && state.seconds < 1;
  if (state.phase === "ready") {
    choices(state.columns);
    at("file-told").textContent = `${state.file}: ${state.columns.rows.toLocaleString("en")} rows.`;
    form.hidden = false;
    if (state.columns.question) complain(state.columns.question);
    else assess();
  }
  if (state.phase === "failed") {
    if (form.hidden) at("file-told").textContent = "";
    complain(state.error);
    if (/--(encoding|sheet)/.test(state.error)) form.hidden = false;
  }
  if (state.phase === "done" && wantsWord && state.word) {
    wantsWord = false;
    at("save-word").click();
  } else if (state.phase === "done") answer(state.result);
}

function answer(result) {
  number += 1;
  at("answer").hidden = false;
  at("result").hidden = false;
  at("result").classList.remove("old");
  at("headline").textContent = result.headline;
  at("command").value = result.command;
  form.elements.seed.value = result.seed;
  at("save-html").href = `report.html?tab=${tab}&save`;
  at("save-word").href = `report.docx?tab=${tab}`;
  at("save-json").href = `report.json?tab=${tab}&save`;
  at("report").src = `report.html?tab=${tab}&number=${number}`;
}

at("file").addEventListener("change", (event) => take(event.target.files[0]));
for (const kind of ["dragover", "dragenter"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    at("drop").classList.add("over");
  });
}
document.addEventListener("dragleave", () => at("drop").classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  at("drop").classList.remove("over");
  take(event.dataTransfer.files[0]);
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(assess, 500);
});
at("stop").addEventListener("click", guarded(async () => follow(await ask("stop", ""))));
at("write-word").addEventListener("click", guarded(async () => {
  complain("");
  wantsWord = true;
  follow(await ask("word", ""));
}));
at("copy").addEventListener("click", async () => {
  at("command").select();
  await navigator.clipboard.writeText(at("command").value);
  at("copy").textContent = "Copied";
  setTimeout(() => (at("copy").textContent = "Copy"), 1500);
});
addEventListener("pagehide", () => navigator.sendBeacon(`close?tab=${tab}`));
