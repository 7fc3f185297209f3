// The search form: text, parts with weights, trials to start from.

import { $, el, fill } from "./dom.js";
import { SECTIONS } from "./words.js";

const HINTS = { title: "Words of the title", condition: "Type 2 diabetes; obesity", intervention: "Semaglutide", eligibility: "Adults with BMI over 30" };

export function makeParts() {
  fill($("part-rows"), Object.entries(SECTIONS).map(([label, name]) => {
    const shown = el("output", { for: `w-${label}` }, "1");
    const weight = el("input", { type: "range", id: `w-${label}`, min: 0, max: 3, step: 0.5, value: 1, "aria-label": `Weight of ${name.toLowerCase()}` });
    weight.addEventListener("input", () => (shown.textContent = weight.value));
    const tag = label === "eligibility" ? "textarea" : "input";
    const text = el(tag, { id: `p-${label}`, placeholder: HINTS[label], maxlength: 100000, ...(tag === "input" ? { type: "text" } : { rows: 2 }) });
    return el("div", { class: "part" }, el("label", { for: `p-${label}` }, name), text, el("span", { class: "weight" }, el("span", { class: "quiet", "aria-hidden": "true" }, "weight"), weight, shown));
  }));
}

export function showForm(state, remove) {
  $("text").value = state.text;
  for (const label of Object.keys(SECTIONS)) {
    const part = state.parts[label] ?? { text: "", weight: 1 };
    $(`p-${label}`).value = part.text;
    $(`w-${label}`).value = part.weight;
    $(`w-${label}`).nextElementSibling.textContent = String(part.weight);
  }
  if (Object.keys(state.parts).length) $("parts").open = true;
  $("against").value = state.against;
  $("hybrid").checked = state.hybrid;
  const chips = [
    ...(state.id ? [["id", state.id, "Like"]] : []),
    ...state.like.map((id) => ["like", id, "Like"]),
    ...state.unlike.map((id) => ["unlike", id, "Not like"]),
  ];
  $("anchors").hidden = !chips.length;
  fill($("anchors"), chips.map(([kind, id, said]) => el("li", { class: `chip ${kind}` }, `${said} ${id} `, el("button", { type: "button", class: "x", "aria-label": `Remove ${said.toLowerCase()} ${id}`, click: () => remove(kind, id) }, "×"))));
}

// What the form says, laid over a state; the first page of it.
export function readForm(state) {
  const parts = {};
  for (const label of Object.keys(SECTIONS)) {
    const text = $(`p-${label}`).value;
    const weight = Number($(`w-${label}`).value);
    if (text.trim() || weight !== 1) parts[label] = { text, weight };
  }
  const found = { ...state, text: $("text").value, parts, against: $("against").value, hybrid: $("hybrid").checked, page: 1 };
  if (found.id && found.text.trim()) {
    found.like = [found.id, ...found.like.filter((id) => id !== found.id)];
    found.id = "";
  }
  return found;
}
