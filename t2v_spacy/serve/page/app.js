// The page: one state, written in the address; every change goes through `go`.

import { call, file } from "./api.js";
import { card, explain, plainClick } from "./cards.js";
import { showComparison } from "./compare.js";
import { $, el, fill, save } from "./dom.js";
import { makeFilters, readFilters, showFilters } from "./filters.js";
import { makeParts, readForm, showForm } from "./form.js";
import { showMap } from "./map.js";
import { risk, showRecord } from "./record.js";
import { PAGE_SIZE, address, asks, empty, push, query, read } from "./state.js";
import { number } from "./words.js";

const MOST = 1000; // results that pages reach
const MOST_SAVED = 10000;
let state = empty();
let can = { text: true, risk: false };
let found = null; // the last answer
let shownQuery = null; // the search that is on the screen or on its way
let searching = new AbortController();
let opening = new AbortController();
let opener = null; // what had the focus before a dialog

function go(change, replace = false) {
  state = { ...state, ...change };
  push(state, replace);
  render();
}

function render() {
  showForm(state, (kind, id) => go(kind === "id" ? { id: "", page: 1 } : { [kind]: state[kind].filter((one) => one !== id), page: 1 }));
  showFilters(state.filters);
  const onMap = state.view === "map";
  $("search-view").hidden = onMap;
  $("map-view").hidden = !onMap;
  $("to-search").setAttribute("aria-current", onMap ? "false" : "page");
  $("to-map").setAttribute("aria-current", onMap ? "page" : "false");
  $("to-search").href = address({ ...state, view: "", open: "", compare: false });
  $("to-map").href = address({ ...state, view: "map", open: "", compare: false });
  showTray();
  search();
  drawMap();
  showDialogs();
}

// With the results of the search, if there was one.
function drawMap() {
  if (state.view === "map") showMap({ open: openRecord }, (found?.hits ?? []).map((hit) => hit.nct_id));
}

async function search() {
  const key = asks(state) ? JSON.stringify(query(state)) : "";
  if (key === shownQuery) {
    showPicked();
    return;
  }
  searching.abort();
  searching = new AbortController();
  const { signal } = searching;
  shownQuery = key;
  if (!key) {
    showNothing();
    return;
  }
  $("results").setAttribute("aria-busy", "true");
  $("said").className = "";
  $("said").textContent = "Searching…";
  try {
    found = await call("/search", { ...query(state), reasons: false }, signal);
    showHits();
    drawMap();
  } catch (err) {
    if (err.name !== "AbortError") showFailure(err);
    return;
  }
  await addReasons(signal);
  if (!signal.aborted) $("results").removeAttribute("aria-busy");
}

// Reasons take longer than the results, which are of use without them.
async function addReasons(signal) {
  try {
    if (!found.hits.length) return;
    const before = found.hits.map((hit) => hit.nct_id).join();
    found = await call("/search", query(state), signal);
    // The index was updated in between: the cards are of other trials.
    if (found.hits.map((hit) => hit.nct_id).join() !== before) return showHits();
    const items = $("hits").children;
    found.hits.forEach((hit, i) => explain(items[i], hit));
  } catch (err) {
    if (err.name !== "AbortError") fill($("notes"), el("p", { class: "quiet" }, `There are no reasons for these results: ${err.message}`));
  }
}

function showNothing() {
  found = null;
  $("results").removeAttribute("aria-busy");
  fill($("hits"));
  fill($("notes"));
  $("tools").hidden = $("pages").hidden = true;
  $("said").className = "";
  $("said").textContent = state.lost ? "The draft of this address is kept in the tab it was pasted in only; paste it again." : "Nothing asked yet. A sentence, a whole protocol or the id of a trial will do.";
}

function showFailure(err) {
  showNothing();
  shownQuery = "failed";
  $("said").className = "error";
  fill($("said"), err.message, " ", el("button", { type: "button", click: () => { shownQuery = null; search(); } }, "Try again"));
}

function showHits() {
  const { total, offset, hits, notes } = found;
  fill($("hits"), hits.map((hit) => card(hit, state, { address: (id) => address({ ...state, open: id }), open: openRecord, more, pick, like: (id) => add("like", id), unlike: (id) => add("unlike", id) })));
  fill($("notes"), notes.map((note) => el("p", { class: "quiet" }, note)));
  $("said").className = "";
  $("said").textContent = hits.length ? `${number(offset + 1)}–${number(offset + hits.length)} of ${number(total)} trials, the most alike first.` : state.page > 1 ? "There are no more results." : "No trial passes all filters.";
  $("tools").hidden = !hits.length;
  showPages(Math.ceil(Math.min(total, MOST) / PAGE_SIZE));
}

function showPicked() {
  for (const box of $("hits").querySelectorAll(".pick")) box.checked = state.picked.includes(box.value);
}

function showPages(last) {
  const { page } = state;
  $("pages").hidden = last < 2;
  const turn = (to, name) => el("button", { type: "button", disabled: to < 1 || to > last, click: () => { go({ page: to }); $("results").focus(); window.scrollTo(0, 0); } }, name);
  fill($("pages"), turn(page - 1, "Previous"), el("span", {}, `Page ${page} of ${last}`), turn(page + 1, "Next"));
}

function more(id) {
  go({ ...empty(), id, filters: state.filters, against: state.against, hybrid: state.hybrid, picked: state.picked });
  $("results").focus();
  window.scrollTo(0, 0);
}

function add(kind, id) {
  const other = kind === "like" ? "unlike" : "like";
  if (state[kind].includes(id)) return;
  go({ [kind]: [...state[kind], id], [other]: state[other].filter((one) => one !== id), page: 1 });
}

function pick(id, box) {
  const there = state.picked.includes(id);
  if (!there && state.picked.length === 5) {
    if (box) box.checked = false;
    $("said").textContent = "Five trials at most can be compared.";
    return;
  }
  const picked = there ? state.picked.filter((one) => one !== id) : [...state.picked, id];
  go({ picked, open: box ? state.open : "" }, true);
}

function showTray() {
  const { picked } = state;
  $("tray").hidden = !picked.length;
  fill($("tray"), el("ul", { class: "chips" }, picked.map((id) => el("li", { class: "chip" }, `${id} `, el("button", { type: "button", class: "x", "aria-label": `Do not compare ${id}`, click: () => pick(id, {}) }, "×")))),
    el("button", { type: "button", class: "main", id: "compare", disabled: picked.length < 2, click: () => go({ compare: true }) }, picked.length < 2 ? "Tick one more to compare" : `Compare ${picked.length}`));
}

function openRecord(id) {
  opener = document.activeElement;
  go({ open: id });
}

let shownDialogs = "";
function showDialogs() {
  const key = JSON.stringify([state.open, state.compare && state.picked]);
  if (key === shownDialogs) return;
  shownDialogs = key;
  opening.abort();
  opening = new AbortController();
  const { signal } = opening;
  const comparing = state.compare && state.picked.length > 1;
  if (!state.open && $("record").open) $("record").close();
  if (!comparing && $("comparison").open) $("comparison").close();
  if (comparing) showComparison(state.picked, { close: () => $("comparison").close(), open: openRecord, signal });
  if (state.open) showRecord(state.open, { can, close: () => $("record").close(), more: (id) => more(id), pick, signal });
}

// Esc closes a dialog without asking us: the address follows.
function closed(change) {
  return () => {
    if (Object.entries(change).some(([name, value]) => state[name] !== value)) go(change);
    opener?.isConnected ? opener.focus() : null;
    opener = null;
  };
}

async function draftRisk() {
  const text = $("text").value;
  fill($("draft-risk-answer"), "Computing…");
  try {
    fill($("draft-risk-answer"), risk(await call("/risk", { text })));
  } catch (err) {
    fill($("draft-risk-answer"), el("span", { class: "error" }, err.message));
  }
}

async function saveResults() {
  const format = $("format").value;
  const { k, offset, reasons, ...body } = query(state);
  const more = found.total > MOST_SAVED;
  $("said").textContent = "Saving…";
  try {
    save(await file("/export", { ...body, k: MOST_SAVED, format }), `trials.${format}`);
    $("said").textContent = `Saved: ${more ? `the first ${number(MOST_SAVED)}` : "all"} results.`;
  } catch (err) {
    $("said").textContent = err.message;
  }
}

function keys(event) {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "checkbox";
  if (event.key === "/" && !typing && !document.querySelector("dialog[open]") && !$("search-view").hidden) {
    event.preventDefault();
    $("text").focus();
  }
  const item = event.target.closest?.("#hits > li");
  const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
  if (item && step && !typing) {
    event.preventDefault();
    (item[step] ?? item).querySelector(".title").focus();
  } else if (event.target === $("results") && event.key === "ArrowDown") {
    event.preventDefault();
    document.querySelector("#hits .title")?.focus();
  }
}

function listen() {
  $("form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (shownQuery === "failed") shownQuery = null;
    go(readForm(state));
  });
  $("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("form").requestSubmit();
  });
  $("against").addEventListener("change", () => go(readForm(state)));
  $("hybrid").addEventListener("change", () => go(readForm(state)));
  $("clear").addEventListener("click", () => { go({ ...empty(), picked: state.picked }); $("text").focus(); });
  $("clear-filters").addEventListener("click", () => go({ filters: {}, page: 1 }));
  $("export").addEventListener("click", saveResults);
  $("draft-risk").addEventListener("click", draftRisk);
  $("to-search").addEventListener("click", plainClick(() => go({ view: "", open: "", compare: false })));
  $("to-map").addEventListener("click", plainClick(() => go({ view: "map", open: "", compare: false })));
  $("record").addEventListener("close", closed({ open: "" }));
  $("comparison").addEventListener("close", closed({ compare: false }));
  document.addEventListener("keydown", keys);
  window.addEventListener("popstate", () => { state = read(); render(); });
}

async function start() {
  makeParts();
  listen();
  $("filters").open = window.matchMedia("(min-width: 60rem)").matches;
  try {
    const [health, facets] = await Promise.all([call("/health"), call("/facets")]);
    can = health.can;
    const { index } = health;
    const from = index.source ? ` from ${index.source}` : "";
    $("about").textContent = `${number(index.n_items)} trials${from}, indexed ${index.created}`;
    $("draft-risk").hidden = !can.risk;
    $("hybrid-label").hidden = !can.hybrid;
    if (!can.text) $("text").placeholder = "This server has no model: give the id of a trial.";
    makeFilters(facets, () => go({ ...readForm(state), filters: readFilters() }));
  } catch (err) {
    $("about").textContent = err.message;
  }
  state = read();
  render();
  if (!asks(state) && !state.view) $("text").focus();
}

start();
