// Filters, made of what the index has: one value of a kind is enough, all kinds must pass.

import { $, el, fill } from "./dom.js";
import { number, words } from "./words.js";

const GROUPS = [["phases", "Phase", true], ["statuses", "Status", true], ["study_type", "Study type", false], ["intervention_types", "Intervention type", false], ["sponsor_class", "Sponsor class", false]];
const YES_NO = [["has_results", "Results posted"], ["recruiting", "Recruiting now"], ["healthy_volunteers", "Healthy volunteers"]];

export function makeFilters(facets, changed) {
  const known = facets.filters;
  const boxes = GROUPS.filter(([name]) => known[name]?.length).map(([name, title, open]) =>
    el("details", { class: "group", open }, el("summary", {}, title), el("fieldset", {}, el("legend", { class: "hidden" }, title), known[name].map((row) => box(name, row, changed)))));
  const selects = [
    ...(known.country?.length ? [select("country", "Country", known.country.map((row) => [row.value, `${row.label} (${number(row.count)})`]), changed)] : []),
    ...(known.sex?.length ? [select("sex", "Open to", [["FEMALE", "women"], ["MALE", "men"], ["ALL", "all sexes"]], changed)] : []),
    ...YES_NO.filter(([name]) => known[name]?.length).map(([name, title]) => select(name, title, known[name].map((row) => [String(row.value), `${row.label} (${number(row.count)})`]), changed)),
  ];
  const years = facets.years.length ? [facets.years[0][0], facets.years.at(-1)[0]] : null;
  const numbers = [
    years && el("div", { class: "pair" }, numeric("started_after", "Started from", years, years[0], changed), numeric("started_before", "to", years, years[1], changed)),
    numeric("age", "May admit age (years)", [0, 120], "any", changed),
  ];
  fill($("filter-fields"), boxes, el("div", { class: "selects" }, numbers.filter(Boolean), selects));
}

function box(name, row, changed) {
  const id = `f-${name}-${row.value}`;
  return el("label", { for: id, class: "check" }, el("input", { type: "checkbox", id, "data-filter": name, value: row.value, change: changed }), el("span", {}, words(row.value)), el("span", { class: "count" }, number(row.count)));
}

function select(name, title, options, changed) {
  const id = `f-${name}`;
  return el("label", { for: id, class: "field" }, el("span", {}, title), el("select", { id, "data-filter": name, change: changed }, el("option", { value: "" }, "any"), options.map(([value, said]) => el("option", { value }, said))));
}

function numeric(name, title, [min, max], placeholder, changed) {
  const id = `f-${name}`;
  return el("label", { for: id, class: "field" }, el("span", {}, title), el("input", { type: "number", id, "data-filter": name, min, max, step: 1, placeholder, inputmode: "numeric", change: changed }));
}

const inputs = () => [...$("filter-fields").querySelectorAll("[data-filter]")];

export function showFilters(filters) {
  for (const input of inputs()) {
    const values = filters[input.dataset.filter] ?? [];
    if (input.type === "checkbox") {
      input.checked = values.includes(input.value);
      if (input.checked) input.closest("details").open = true;
    } else input.value = values[0] ?? "";
  }
  const n = Object.keys(filters).length;
  $("filter-count").textContent = n ? `${n} set` : "";
  $("clear-filters").hidden = !n;
}

export function readFilters() {
  const found = {};
  for (const input of inputs()) {
    const set = input.type === "checkbox" ? input.checked : input.value !== "" && input.checkValidity();
    if (set) (found[input.dataset.filter] ??= []).push(input.value);
  }
  return found;
}
