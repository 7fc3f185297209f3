// One record in a dialog.

import { call } from "./api.js";
import { $, el, fill, outside } from "./dom.js";
import { keyFacts } from "./cards.js";
import { capital, number, words } from "./words.js";

export async function showRecord(id, { can, close, more, pick, signal }) {
  const box = openDialog($("record"), id, close);
  try {
    const found = await call(`/records/${encodeURIComponent(id)}`, undefined, signal);
    const title = found.title || found.official_title || id;
    $("record-title").textContent = title;
    fill(box, body(found, title, more, pick));
    if (can.risk) showRisk(id, signal);
  } catch (err) {
    if (err.name !== "AbortError") fill(box, el("p", { class: "error", role: "alert" }, err.message));
  }
}

// A dialog that says it is loading; returns the box to fill. Its head, with the button
// that has the focus, stays.
export function openDialog(dialog, title, close) {
  const box = el("div", {}, el("p", { role: "status" }, "Loading…"));
  fill(dialog, el("div", { class: "dialog-head" }, el("h2", { id: `${dialog.id}-title` }, title), el("button", { type: "button", class: "x", "aria-label": "Close", click: close }, "×")), box);
  if (dialog.open) dialog.querySelector(".x").focus();
  else dialog.showModal();
  dialog.scrollTop = 0;
  return box;
}

function body(found, title, more, pick) {
  const whole = el("div");
  return [
    keyFacts(found.nct_id, found),
    el("div", { class: "actions" },
      el("button", { type: "button", class: "main", click: () => more(found.nct_id) }, "More like this"),
      el("button", { type: "button", click: () => pick(found.nct_id) }, "Compare"),
      el("span", {}, outside(found.url, "Open in the registry"))),
    el("div", { id: "risk", role: "status" }),
    found.official_title && found.official_title !== title ? section("Official title", el("p", {}, found.official_title)) : null,
    section("Conditions", list(found.conditions)),
    section("Interventions", list(found.interventions?.map((one) => [one.type ? `${words(one.type)}: ${one.name}` : one.name, one.description]))),
    section("Summary", prose(found.brief_summary)),
    section("Design", facts(found)),
    section("Inclusion criteria", list(found.criteria.inclusion)),
    section("Exclusion criteria", list(found.criteria.exclusion)),
    section("Criteria", list(found.criteria.unspecified)),
    section("Outcomes", list(found.outcomes?.map((one) => [`${capital(one.role)}: ${one.measure}`, one.time_frame]))),
    section("Arms", list(found.arms?.map((one) => [one.label, one.description]))),
    found.detailed_description ? el("details", {}, el("summary", {}, "Detailed description"), prose(found.detailed_description)) : null,
    el("details", { toggle: (event) => event.target.open && showWhole(found.nct_id, whole) }, el("summary", {}, "All fields of the record"), whole),
  ].filter(Boolean);
}

function section(title, content) {
  return content ? el("section", {}, el("h3", {}, title), content) : null;
}

function prose(text) {
  return text ? el("div", { class: "prose" }, text.split(/\n{2,}/).map((part) => el("p", {}, part))) : null;
}

function list(items) {
  if (!items?.length) return null;
  return el("ul", {}, items.map((item) => {
    const [text, more] = Array.isArray(item) ? item : [item, ""];
    return el("li", {}, text, more ? el("span", { class: "quiet" }, ` ${more}`) : null);
  }));
}

function facts(found) {
  const { design = {} } = found;
  const ages = found.min_age === undefined && found.max_age === undefined ? "" : `${years(found.min_age) || "no lower limit"} to ${years(found.max_age) || "no upper limit"}`;
  const rows = {
    "Study type": words(found.study_type), Allocation: words(design.allocation), Model: words(design.intervention_model ?? design.observational_model),
    Masking: words(design.masking), Purpose: words(design.primary_purpose), Sex: words(found.sex), Ages: ages,
    "Healthy volunteers": found.healthy_volunteers === undefined ? "" : found.healthy_volunteers ? "Yes" : "No",
    Completed: found.completion_date?.value ?? "", "Why stopped": found.why_stopped ?? "",
    "Sponsor class": words(found.sponsor_class), Collaborators: (found.collaborators ?? []).join("; "),
    Countries: found.countries.length ? `${found.countries.join(", ")} (${number(found.n_locations)} places)` : "",
    Results: found.has_results === undefined ? "" : found.has_results ? "Posted" : "Not posted",
    Keywords: (found.keywords ?? []).join("; "), "Other ids": [...(found.aliases ?? []), found.org_study_id].filter(Boolean).join(", "),
  };
  const given = Object.entries(rows).filter(([, value]) => value);
  return given.length ? el("dl", {}, given.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])) : null;
}

function years(age) {
  if (age === undefined) return "";
  return age < 2 ? `${Math.round(age * 12)} months` : `${Math.round(age * 10) / 10} years`;
}

async function showWhole(id, box) {
  try {
    const found = await call(`/records/${encodeURIComponent(id)}?whole=true`);
    fill(box, el("pre", { tabindex: 0 }, JSON.stringify(found, null, 2)));
  } catch (err) {
    fill(box, el("p", { class: "error", role: "alert" }, err.message));
  }
}

async function showRisk(id, signal) {
  const box = $("risk");
  fill(box, el("p", { class: "quiet" }, "Termination risk: computing…"));
  try {
    fill(box, risk(await call("/risk", { id }, signal)));
  } catch (err) {
    if (err.name !== "AbortError") fill(box, el("p", { class: "error" }, err.message));
  }
}

export function risk(found) {
  const percent = (share) => `${Math.round(share * 100)}\u00a0%`;
  const high = found.decision === "TERMINATED";
  const near = found.neighbours;
  const moves = Object.entries(found.sections).slice(0, 5);
  return el("div", { class: "risk" },
    el("p", {}, el("b", {}, `Risk of early termination: ${percent(found.probability)}`), ` (${found.decision === null ? "nothing to read" : high ? "above" : "below"} the model's threshold of ${percent(found.threshold)}). From what is known at registration; no statement about this trial's conduct.`),
    near?.labelled ? el("p", {}, `Of the ${near.k} nearest trials ${near.labelled} have ended, ${near.terminated} of them early.`) : null,
    moves.length ? el("details", {}, el("summary", {}, "What moves it"), el("ul", {}, moves.map(([name, value]) => el("li", {}, `${capital(name)}: ${value > 0 ? "+" : "−"}${Math.round(Math.abs(value) * 100)} points`)))) : null);
}
