// What the page shows, as the address of the page: the back button works and links can be kept.

import { SECTIONS } from "./words.js";

export const PAGE_SIZE = 10;
const LONGEST = 1500; // characters of one text in an address; a longer one stays in this tab

export function empty() {
  return { text: "", id: "", parts: {}, like: [], unlike: [], filters: {}, against: "trial", hybrid: false, page: 1, view: "", open: "", picked: [], compare: false };
}

export function read() {
  const found = empty();
  const given = new URLSearchParams(location.search);
  const kept = history.state?.draft;
  found.text = given.has("draft") ? kept?.text ?? "" : given.get("q") ?? "";
  found.id = given.get("id") ?? "";
  for (const label of Object.keys(SECTIONS)) {
    const text = given.has("draft") ? kept?.parts?.[label] ?? "" : given.get(`p.${label}`) ?? "";
    const weight = Number(given.get(`w.${label}`) ?? 1);
    if (text || weight !== 1) found.parts[label] = { text, weight: weight >= 0 && weight <= 3 ? weight : 1 };
  }
  found.like = given.getAll("like");
  found.unlike = given.getAll("unlike");
  for (const [name, value] of given) {
    if (/^f\.[a-z_]+$/.test(name) && !(name.slice(2) in {})) (found.filters[name.slice(2)] ??= []).push(value);
  }
  found.against = given.get("against") === "section" ? "section" : "trial";
  found.hybrid = given.get("hybrid") === "1";
  found.page = Math.max(1, Math.min(100, Number(given.get("page")) || 1));
  found.view = given.get("view") === "map" ? "map" : "";
  found.open = given.get("open") ?? "";
  found.picked = given.getAll("pick").slice(0, 5);
  found.compare = given.get("compare") === "1";
  found.lost = given.has("draft") && !kept;
  return found;
}

export function address(state) {
  const given = new URLSearchParams();
  const put = (name, value) => value && given.append(name, value);
  if (isLong(state)) put("draft", "1");
  else put("q", state.text);
  put("id", state.id);
  for (const [label, part] of Object.entries(state.parts)) {
    if (!isLong(state)) put(`p.${label}`, part.text);
    if (part.weight !== 1) given.append(`w.${label}`, part.weight);
  }
  state.like.forEach((id) => put("like", id));
  state.unlike.forEach((id) => put("unlike", id));
  for (const [name, values] of Object.entries(state.filters)) values.forEach((value) => put(`f.${name}`, value));
  if (state.against !== "trial") put("against", state.against);
  if (state.hybrid) put("hybrid", "1");
  if (state.page > 1) put("page", String(state.page));
  put("view", state.view);
  put("open", state.open);
  state.picked.forEach((id) => put("pick", id));
  if (state.compare) put("compare", "1");
  const text = given.toString();
  return text ? `/?${text}` : "/";
}

export function push(state, replace = false) {
  const draft = isLong(state) ? { text: state.text, parts: Object.fromEntries(Object.entries(state.parts).map(([k, v]) => [k, v.text])) } : undefined;
  const kept = draft ? { draft } : null;
  if (replace) history.replaceState(kept, "", address(state));
  else history.pushState(kept, "", address(state));
}

function isLong(state) {
  return [state.text, ...Object.values(state.parts).map((part) => part.text)].some((text) => text.length > LONGEST);
}

export function asks(state) {
  return Boolean(state.text.trim() || state.id || state.like.length || Object.values(state.parts).some((part) => part.text.trim()));
}

const YES_NO = new Set(["recruiting", "has_results", "healthy_volunteers"]);
const SINGLE = new Set(["started_after", "started_before", "age"]);

// The body of a search.
export function query(state) {
  const filters = {};
  for (const [name, values] of Object.entries(state.filters)) {
    if (YES_NO.has(name)) filters[name] = values[0] === "true";
    else filters[name] = SINGLE.has(name) ? values[0] : values;
  }
  const body = { parts: state.parts, like: state.like, unlike: state.unlike, filters, against: state.against, k: PAGE_SIZE, offset: (state.page - 1) * PAGE_SIZE };
  if (state.hybrid) body.hybrid = true;
  if (state.id) body.id = state.id;
  else body.text = state.text;
  return body;
}
