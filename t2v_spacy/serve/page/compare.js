// Two to five trials side by side: the first is compared with each other one.

import { call } from "./api.js";
import { $, el, fill, marked } from "./dom.js";
import { openDialog } from "./record.js";
import { capital } from "./words.js";

export async function showComparison(ids, { close, open, signal }) {
  const box = openDialog($("comparison"), `${ids.length} trials compared`, close);
  try {
    fill(box, body(await call("/compare", { ids }, signal), open));
  } catch (err) {
    if (err.name !== "AbortError") fill(box, el("p", { class: "error", role: "alert" }, err.message));
  }
}

function body(found, open) {
  const columns = el("tr", {}, el("th", { scope: "col" }, el("span", { class: "hidden" }, "Fact")), found.trials.map((trial) =>
    el("th", { scope: "col" }, el("button", { type: "button", class: "plain id", click: () => open(trial.nct_id) }, trial.name), el("span", { class: "name" }, trial.title || "No title"))));
  const reasons = found.reasons.length ? [row("In common with the first", [null, ...found.reasons.map((one) => one.line || "Nothing named")])] : [];
  const facts = found.facts.map((fact) => row(capital(fact.name), fact.values, fact.agree));
  const concepts = found.reasons.some((one) => one.concepts.length) ? [row("Shared concepts", [null, ...found.reasons.map((one) => one.concepts.map((match) => match.relation === "same" ? match.name : `${match.hit.name} (${match.relation})`).join("; "))])] : [];
  return [
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Comparison" },
      el("table", { class: "compare" }, el("thead", {}, columns), el("tbody", {}, reasons, concepts, facts),
        found.criteria.length ? el("tbody", {}, el("tr", {}, el("th", { scope: "rowgroup", colspan: found.trials.length + 1, class: "part-head" }, "Criteria, alike ones in one row")), found.criteria.map(criterion)) : null)),
    el("p", { class: "quiet" }, "Marked: what differs from the first trial."),
  ];
}

function row(name, values, agree = []) {
  return el("tr", {}, el("th", { scope: "row" }, name), values.map((value, i) => el("td", { class: agree[i] === false ? "differs" : agree[i] ? "agrees" : null }, value ?? "")));
}

function criterion(line) {
  return el("tr", {}, el("th", { scope: "row" }, capital(line.kind)), line.cells.map((cell) => el("td", {}, cell ? marked(cell.text, cell.differences) : "")));
}
