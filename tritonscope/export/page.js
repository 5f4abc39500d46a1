"use strict";
// Everything that comes out of the capture is put on the page by textContent, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const CHUNK = 200; // lines that are highlighted at once, when they come into sight
const LONGEST = 2000; // a longer line is left plain

function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "onclick" || name === "oninput" || name === "onchange") element[name] = value;
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

// ---- highlighting: a line at a time, each kind by its own rules; classes are called as in Pygments

const MLIR = [
  ["c", /\/\/.*/], ["s", /"(?:[^"\\]|\\.)*"/], ["nv", /%[\w$.-]+(?:[:#]\d+)?/], ["nf", /@(?:[\w$.-]+|"[^"]*")/],
  ["nl", /\^[\w$.-]+/], ["nd", /#[A-Za-z_][\w$.]*/], ["m", /\d+(?=x)/], ["", /x(?=\d+x|[su]?i\d|f\d|bf16|tf32|[?!%])/],
  ["kt", /![A-Za-z_][\w$.]*|\b(?:[su]?i\d+|bf16|tf32|f\d+(?:E\d+M\d+\w*)?|index|tensor|vector|memref)\b/],
  ["nb", /[A-Za-z_][\w$]*(?:\.[\w$]+)+/], ["k", /\b(?:true|false|attributes|public|private|iter_args|to|step|else|do)\b/],
  ["", /[A-Za-z_][\w$]*/], ["m", /-?(?:0x[\dA-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)/],
];
const LLVM = [
  ["c", /;.*/], ["s", /c?"(?:[^"\\]|\\.)*"/], ["nv", /%(?:[\w$.-]+|"[^"]*")/], ["nf", /@(?:[\w$.-]+|"[^"]*")/],
  ["nl", /^[\w$.-]+:/], ["nd", /[#!][\w.]*/], ["kt", /\b(?:i\d+|half|bfloat|float|double|void|ptr|label|metadata|token)\b/],
  ["nb", /\b(?:define|declare|ret|br|switch|call|tail|load|store|phi|select|getelementptr|insertvalue|extractvalue|insertelement|extractelement|shufflevector|[su]?[fi]?(?:add|sub|mul|div|rem|cmp)|neg|fneg|shl|lshr|ashr|and|or|xor|trunc|zext|sext|fptrunc|fpext|bitcast|inttoptr|ptrtoint|addrspacecast|alloca|fence|atomicrmw|unreachable)\b/],
  ["", /[A-Za-z_$][\w$.]*/], ["m", /-?(?:0x[\dA-Fa-fHKLMR]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)/],
];
const PTX = [
  ["c", /\/\/.*/], ["s", /"[^"]*"/], ["nv", /%[\w$.]+/], ["nl", /^\s*\$?[\w$]+:|\$L\w+/], ["k", /@!?/],
  ["nb", /^\s*[a-z][a-z0-9]+(?:\.[\w:]+)*|\b[a-z][a-z0-9]+(?:(?:\.|::)\w+)+/], ["kt", /\.[a-z]\w*/],
  ["", /[A-Za-z_$][\w$]*/], ["m", /-?0[xfd][\dA-Fa-f]+|-?\d+(?:\.\d+)?/],
];
const SASS = [
  ["c", /\/\*.*?\*\/|\/\/.*/], ["s", /"[^"]*"/], ["nl", /^\s*\.L\w+:|^[.$\w]+:|`\([^)]*\)/], ["k", /@!?U?P(?:\d+|T)\b/],
  ["nv", /\bU?R(?:\d+|Z)\b(?:\.\w+)*|!?\bU?P(?:\d+|T)\b|\bSR_[\w.]+/], ["kt", /\b(?:g?desc|cx?)(?=\[)|^\s*\.[a-z]\w*/],
  ["m", /-?0x[\dA-Fa-f]+/], ["nb", /\b[A-Z][A-Z0-9_]+(?:\.[\w]+)*/], ["", /[A-Za-z_$.][\w$.]*/], ["m", /-?\d+(?:\.\d+)?/],
];
const GCN = [
  ["c", /;.*|\/\/.*/], ["s", /"(?:[^"\\]|\\.)*"/], ["nl", /^[.$\w]+:|\.L\w+/], ["kt", /\.[A-Za-z_][\w.]*/],
  ["nv", /\b(?:[sva]|ttmp)(?:\[\d+(?::\d+)?\]|\d+\b)|\b(?:vcc|exec|m0|scc)(?:_lo|_hi)?\b/],
  ["nb", /\b(?:s|v|ds|buffer|global|flat|scratch)_[a-z]\w*/], ["", /[A-Za-z_$@][\w$.@]*/], ["m", /-?0x[\dA-Fa-f]+|-?\d+(?:\.\d+)?/],
];
const PYTHON = [
  ["c", /#.*/], ["s", /[rbf]?"""(?:[^"\\]|\\.)*"""|[rbf]?"(?:[^"\\]|\\.)*"|[rbf]?'(?:[^'\\]|\\.)*'/], ["nd", /^\s*@[\w.]+/],
  ["k", /\b(?:False|None|True|and|as|assert|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)\b/],
  ["nb", /\b(?:range|min|max|len|abs|print|isinstance|tl|gl)\b/], ["", /[A-Za-z_]\w*/], ["m", /\b\d[\w.]*/],
];
const RULES = { mlir: MLIR, llir: LLVM, mir: LLVM, ptx: PTX, sass: SASS, amdgcn: GCN, python: PYTHON };
const patterns = {};
for (const [kind, rules] of Object.entries(RULES)) {
  patterns[kind] = new RegExp(rules.map(([, rule]) => `(${rule.source})`).join("|"), "g");
}

// [start, end, class] of what is coloured in a line.
function spans(line, kind) {
  const found = [];
  if (!patterns[kind] || line.length > LONGEST) return found;
  for (const match of line.matchAll(patterns[kind])) {
    const name = RULES[kind][match.slice(1).findIndex((group) => group !== undefined)][0];
    if (name && match[0]) found.push([match.index, match.index + match[0].length, name]);
  }
  return found;
}

// A line as nodes: its colours, and marks over them. `marks` is a flat list of starts and ends.
function drawn(line, kind, marks) {
  const colours = spans(line, kind);
  const cuts = new Set([0, line.length, ...marks]);
  for (const [start, end] of colours) cuts.add(start).add(end);
  const at = [...cuts].filter((cut) => cut <= line.length).sort((a, b) => a - b);
  const nodes = [];
  let colour = 0;
  for (let i = 0; i + 1 < at.length; i++) {
    const [start, end] = [at[i], at[i + 1]];
    while (colour < colours.length && colours[colour][1] <= start) colour++;
    const name = colour < colours.length && colours[colour][0] <= start ? colours[colour][2] : "";
    let marked = false;
    for (let m = 0; m < marks.length; m += 2) marked = marked || (marks[m] <= start && end <= marks[m + 1]);
    const text = line.slice(start, end);
    nodes.push(marked ? h("mark", { class: name || null }, text) : name ? h("span", { class: name }, text) : text);
  }
  return nodes;
}

async function unpacked(blob) {
  const bytes = Uint8Array.from(atob(data.blobs[blob]), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

// ---- long texts: plain at first, a chunk is highlighted when it comes near

function chunked(count, plain, draw) {
  const box = h("pre", { class: "text" });
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      observer.unobserve(entry.target);
      const first = Number(entry.target.dataset.first);
      entry.target.replaceChildren(...Array.from({ length: Math.min(CHUNK, count - first) }, (_, i) => draw(first + i)));
    }
  }, { rootMargin: "600px" });
  for (let first = 0; first < count; first += CHUNK) {
    const chunk = h("div", { "data-first": first });
    for (let i = first; i < Math.min(first + CHUNK, count); i++) chunk.append(h("div", { class: "row" }, plain(i)));
    observer.observe(chunk);
    box.append(chunk);
  }
  return box;
}

async function textView(key) {
  const text = data.texts[key];
  if (!text) return h("p", { class: "said-so dim" }, "This was not kept.");
  if (text.why) return h("p", { class: "said-so dim" }, text.why);
  const lines = (await unpacked(text.blob)).split("\n");
  const row = (i) => h("div", { class: "row" }, h("span", { class: "number" }, String(i + 1)), h("span", {}, drawn(lines[i], text.kind, [])));
  return chunked(lines.length, (i) => [h("span", { class: "number" }, String(i + 1)), lines[i]], row);
}

const CLASSES = { "-": "gone", "+": "new", "-~": "layout gone", "+~": "layout new", "->": "gone", "+>": "new" };
const SIGNS = { "-~": "~-", "+~": "~+", "->": "<-", "+>": "->" };

async function diffView(step) {
  const diff = step.diff;
  if (!diff) return h("p", { class: "said-so dim" }, "This pass changed nothing.");
  if (diff.why) return h("p", { class: "said-so dim" }, diff.why);
  const rows = JSON.parse(await unpacked(diff.blob));
  const kind = (data.texts[step.after] || {}).kind;
  const number = (value) => h("span", { class: "number" }, value === null ? "" : String(value));
  const draw = (i) => {
    const [sign, left, right, text, marks] = rows[i];
    if (sign === "@") return h("div", { class: "row head" }, `before: line ${left}   after: line ${right}`);
    return h("div", { class: `row ${CLASSES[sign] || ""}` }, number(left), number(right),
      h("span", { class: "sign" }, SIGNS[sign] || sign), h("span", {}, drawn(text, kind, marks)));
  };
  const view = rows.length ? chunked(rows.length, (i) => rows[i][3], draw)
    : h("p", { class: "said-so dim" }, "Nothing but names changed.");
  return diff.cut ? [h("p", { class: "said-so dim" }, "The diff is longer; this is its beginning."), view] : view;
}

function statWords(stat) {
  const parts = ["changed", "layout", "added", "removed", "moved"].filter((name) => stat[name]).map((name) => `${stat[name]} ${name}`);
  const names = stat.renamed ? `${stat.renamed} lines differ in names alone` : "";
  return [parts.join(", "), names].filter(Boolean).join("; ") || "nothing to show";
}

// ---- the first page: what there is to know at a glance

function table(heads, rows, numbers) {
  const cell = (tag) => (value, i) => h(tag, { class: numbers.includes(i) ? "number" : null }, value);
  return h("div", { class: "scroll" }, h("table", {}, h("tr", {}, heads.map(cell("th"))), rows.map((row) => h("tr", {}, row.map(cell("td"))))));
}

const thousands = (value) => (typeof value === "number" ? value.toLocaleString("en") : "");
const seconds = (value) => (typeof value === "number" ? `${(value * 1000).toFixed(1)} ms` : "");
const named = (values) => Object.entries(values).map(([name, value]) => `${name}=${value}`).join(" ");

function overview() {
  const box = h("div", { class: "prose" });
  const failure = data.failure;
  if (failure) {
    const where = [failure.stage, failure.pass && `pass ${failure.pass}`, failure.step && `step ${failure.step}`,
      failure.file && failure.line && `${failure.file}:${failure.line}`].filter(Boolean).join(", ");
    box.append(h("h2", { class: "bad" }, failure.message), h("p", {}, where));
    if (failure.source_line) box.append(h("pre", { class: "said" }, failure.source_line));
    if (failure.diagnostics) box.append(h("pre", { class: "said" }, failure.diagnostics.slice(0, 20000)));
  }
  const resources = Object.entries(data.resources).filter(([name, value]) => typeof value === "number" && (value || name === "spills"));
  if (resources.length) {
    box.append(h("div", { class: "cards" }, resources.map(([name, value]) =>
      h("div", { class: "card" }, h("b", { class: name === "spills" && value ? "bad" : null }, thousands(value)), name.replaceAll("_", " ")))));
  }
  if (data.runs.length) box.append(h("h2", {}, "Runs"), runsTable());
  const slow = data.passes.filter((step) => typeof step.ms === "number" && !step.step.includes(".")).sort((a, b) => b.ms - a.ms).slice(0, 8);
  if (slow.length) {
    const bar = (ms) => { const element = h("span", { class: "bar" }); element.style.width = `${(12 * ms) / slow[0].ms}rem`; return element; };
    box.append(h("h2", {}, "Slowest steps"), table(["step", "pass", "ms", ""],
      slow.map((step) => [step.step, step.name, step.ms.toFixed(1), bar(step.ms)]), [2]));
  }
  box.append(h("h2", {}, "Stages"), table(["stage", "lines", "bytes", "time"],
    data.stages.map((stage) => [stage.stage, thousands(stage.lines), thousands(stage.bytes), seconds(stage.seconds)]), [1, 2, 3]));
  box.append(h("h2", {}, "How it was made"), table(["", ""], [
    ["command", h("code", {}, data.command.join(" "))],
    ["signature", h("code", {}, data.signature)],
    ["options", h("code", {}, named(data.options))],
    ...Object.entries(data.versions),
    ["made", data.created],
  ].filter(([, value]) => value && value.textContent !== ""), []));
  if (data.notes.length) box.append(h("h2", {}, "Notes"), ...data.notes.map((note) => h("p", {}, note)));
  return box;
}

function runsTable() {
  const figure = (value, digits) => (typeof value === "number" ? value.toPrecision(digits) : "");
  const verdict = (run) => run.fault ? h("span", { class: "bad" }, "FAULT") : run.correct === true ? h("span", { class: "good" }, "correct")
    : run.correct === false ? h("span", { class: "bad" }, "WRONG") : "unchecked";
  return table(["size", "", "ms", "TFLOP/s", "GB/s", "beside", "device"], data.runs.map((run) => [
    named(run.size || {}), verdict(run), figure((run.ms || {}).median, 4), figure(run.tflops, 4), figure(run.gbps, 4),
    Object.entries(run.baselines || {}).map(([name, each]) => `${figure(each && each.ratio, 3)} x ${name}`).join(", "),
    String((run.device || {}).name || ""),
  ]), [2, 3, 4]);
}

// ---- the list, and what is chosen in it

const items = [{ id: "", kind: "overview", label: "overview" }];
for (const stage of data.stages) if (stage.text) items.push({ id: `stage=${stage.stage}`, kind: "stage", stage });
for (const step of data.passes) items.push({ id: `pass=${step.step}`, kind: "pass", step });

const list = h("div", { class: "list" });
const main = h("main", { tabindex: "-1" });
const search = h("input", { type: "search", placeholder: "filter", "aria-label": "filter passes", oninput: () => filtered() });
const only = h("input", { type: "checkbox", onchange: () => filtered() });
let current = items[0];
let tab = "diff";
let drawing = 0;

function entry(item) {
  const { stage, step } = item;
  const narrow = () => getComputedStyle(document.body).display === "block"; // then the list is above, not beside
  const click = { onclick: () => { choose(item); if (narrow()) main.scrollIntoView(); } };
  if (item.kind === "overview") return h("button", { ...click, class: "flat" }, h("span", { class: "name" }, "Overview"));
  if (stage) {
    return h("button", { ...click, class: "flat" }, h("span", { class: "name" }, stage.stage), h("span", { class: "figures" }, thousands(stage.lines)));
  }
  const failed = Boolean(data.failure && data.failure.step === step.step);
  const changed = failed ? "failed" : step.changed ? "changed" : "same";
  const ops = typeof step.ops_after === "number" && step.ops_before !== step.ops_after ? `${step.ops_before}→${step.ops_after}` : "";
  const ms = typeof step.ms === "number" ? `${step.ms.toFixed(1)} ms` : "";
  return h("button", { ...click, class: step.step.includes(".") ? `${changed} inner` : changed, title: step.name },
    h("span", { class: "step" }, `${failed ? "✗" : step.changed ? "●" : " "} ${step.step}`), h("span", { class: "name" }, step.name),
    h("span", { class: "figures" }, [ops, ms].filter(Boolean).join("  ")));
}

function buildList() {
  let heading = "";
  for (const item of items) {
    const title = item.stage ? "Stages" : item.step ? `Passes: ${item.step.stage}` : "";
    if (title !== heading) {
      item.heading = h("h3", {}, title);
      list.append(item.heading);
      heading = title;
    }
    item.button = entry(item);
    list.append(item.button);
  }
}

function filtered() {
  const words = search.value.toLowerCase();
  let heading = null;
  let shown = 0;
  const close = () => { if (heading) heading.hidden = !shown; };
  for (const item of items) {
    if (item.heading) { close(); heading = item.heading; shown = 0; }
    const name = item.step ? `${item.step.step} ${item.step.name}` : item.stage ? item.stage.stage : "overview";
    item.button.hidden = !name.toLowerCase().includes(words) || Boolean(only.checked && item.step && !item.step.changed);
    shown += !item.button.hidden;
  }
  close();
}

function tabs(names) {
  return h("div", { class: "tabs", role: "tablist" }, names.map((name) =>
    h("button", { role: "tab", "aria-selected": String(name === tab), onclick: () => { tab = name; show(); } }, name)));
}

async function show() {
  const turn = ++drawing;
  const { stage, step } = current;
  let top, view;
  if (stage) {
    top = h("div", { class: "top" }, h("h2", {}, stage.stage), h("span", { class: "dim" }, `${thousands(stage.lines)} lines, ${thousands(stage.bytes)} bytes`));
    view = await textView(stage.text);
  } else if (step) {
    const failed = data.failure && data.failure.step === step.step;
    const stat = failed ? "failed" : step.diff && step.diff.stat ? statWords(step.diff.stat) : step.changed ? "changed" : "changed nothing";
    const ops = typeof step.ops_after === "number" ? `operations ${step.ops_before} → ${step.ops_after}` : "";
    const ms = typeof step.ms === "number" ? `${step.ms.toFixed(2)} ms` : "";
    const about = data.explained[step.name];
    top = h("div", { class: "top" }, h("h2", {}, `${step.step}  ${step.name}`),
      h("span", { class: "dim" }, [step.stage, stat, ops, ms].filter(Boolean).join(" · ")),
      about ? h("p", {}, about) : "", step.options ? h("p", { class: "dim" }, h("code", {}, step.options)) : "",
      step.changed ? tabs(["diff", "before", "after"]) : "");
    const which = step.changed ? tab : "after";
    view = which === "diff" ? await diffView(step) : await textView(step[which]);
  } else {
    top = "";
    view = overview();
  }
  if (turn !== drawing) return; // another was chosen meanwhile
  main.replaceChildren(...[top, view].flat().filter(Boolean));
  main.scrollTop = 0;
}

function choose(item) {
  current.button.removeAttribute("aria-current");
  current = item;
  item.button.setAttribute("aria-current", "true");
  item.button.scrollIntoView({ block: "nearest" });
  if (location.hash.slice(1) !== item.id) history.replaceState(null, "", `#${item.id}`);
  show();
}

function step(by, wanted) {
  for (let at = items.indexOf(current) + by; at >= 0 && at < items.length; at += by) {
    if (!items[at].button.hidden && wanted(items[at])) return choose(items[at]);
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === search) {
    if (event.key === "Escape" || event.key === "Enter") search.blur();
    return;
  }
  const actions = {
    j: () => step(1, () => true), k: () => step(-1, () => true),
    "}": () => step(1, (item) => item.step && item.step.changed), "{": () => step(-1, (item) => item.step && item.step.changed),
    d: () => { tab = "diff"; show(); }, b: () => { tab = "before"; show(); }, a: () => { tab = "after"; show(); },
    c: () => { only.checked = !only.checked; filtered(); }, "/": () => search.focus(), o: () => choose(items[0]),
  };
  const stages = items.filter((item) => item.stage);
  if (/^[1-9]$/.test(event.key) && stages[event.key - 1]) choose(stages[event.key - 1]);
  else if (actions[event.key]) actions[event.key]();
  else return;
  event.preventDefault();
});

window.addEventListener("hashchange", () => choose(items.find((item) => item.id === location.hash.slice(1)) || items[0]));

const key = (...names) => names.map((name) => h("kbd", {}, name));
document.body.append(
  h("header", {}, h("h1", {}, data.kernel), h("span", {}, data.target),
    h("span", { class: data.status === "ok" ? "good" : "bad" }, data.status),
    h("span", { class: "dim" }, `Triton ${data.versions.triton || "?"}`), h("span", { class: "dim" }, data.capture)),
  h("nav", {}, h("div", { class: "filter" }, search, h("label", {}, only, " changed")), list,
    h("footer", {}, key("j", "k"), " step ", key("{", "}"), " changed ", key("d", "b", "a"), " views ", key("/"), " filter")),
  main,
);
buildList();
choose(items.find((item) => item.id === location.hash.slice(1)) || items[0]);
