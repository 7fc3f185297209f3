// Results as cards: what a trial is, how near it is, and why.

import { bar, el, fill, marked } from "./dom.js";
import { capital, enrolment, phases, statusClass, words } from "./words.js";

const BARS = 6;
const RELATIONS = { same: "same", narrower: "narrower", broader: "broader", sibling: "related" };

// act: open, more, like, unlike (each with an id), pick (id, whether).
export function card(hit, state, act) {
  const picked = state.picked.includes(hit.nct_id);
  const title = hit.title || "No title";
  return el("li", { value: hit.rank },
    el("article", { class: "card", "aria-label": title },
      el("div", { class: "card-head" },
        el("input", { type: "checkbox", class: "pick", value: hit.nct_id, checked: picked, "aria-label": `Compare ${hit.nct_id}`, title: "Compare", change: (event) => act.pick(hit.nct_id, event.target) }),
        el("h3", {}, el("a", { href: act.address(hit.nct_id), class: "title", click: plainClick(() => act.open(hit.nct_id)) }, title)),
        el("span", { class: "score", title: "Cosine of the trial vectors, at most 1" }, hit.score?.toFixed(2) ?? "–")),
      keyFacts(hit.nct_id, hit.facts),
      el("div", { class: "found" }, what(hit)),
      el("div", { class: "actions" },
        action("More like this", () => act.more(hit.nct_id)),
        action("Add as like", () => act.like(hit.nct_id)),
        action("Add as unlike", () => act.unlike(hit.nct_id)))));
}

// Add the reasons to a card that is on the screen; what has the focus stays as it is.
export function explain(item, hit) {
  fill(item.querySelector(".title"), marked(hit.title || "No title", spans(hit.reasons, "title")));
  fill(item.querySelector(".found"), what(hit));
}

function what({ facts, reasons, sections }) {
  return [
    says(reasons) ? el("p", { class: "why" }, capital(reasons.line)) : null,
    facts.summary ? el("p", { class: "excerpt" }, marked(facts.summary, spans(reasons, "summary"))) : null,
    bars(sections),
    concepts(reasons),
    criteria(reasons),
  ].filter(Boolean);
}

function spans(reasons, field) {
  const places = (reasons?.terms ?? []).flatMap((term) => term.places);
  return places.filter((place) => place.field === field).map((place) => [place.start, place.end]);
}

export function keyFacts(id, facts) {
  const start = facts.start_date?.value ?? facts.start_date;
  const said = [phases(facts.phases), enrolment(facts.enrollment), start ? `Started ${start}` : "", facts.sponsor ?? ""];
  return el("p", { class: "facts" },
    el("span", { class: "id" }, id),
    facts.status ? el("span", { class: `status ${statusClass(facts.status)}` }, words(facts.status)) : null,
    said.filter(Boolean).map((text) => el("span", {}, text)));
}

// More than the likeness of a section, which the bars show.
function says(reasons) {
  return reasons && (reasons.concepts.length || reasons.criteria.pairs.length || reasons.terms.length) && reasons.line;
}

function bars(sections) {
  const rows = Object.entries(sections).sort((a, b) => b[1] - a[1]).slice(0, BARS);
  return rows.length ? el("div", { class: "bars", role: "group", "aria-label": "Likeness by section" }, rows.map(([name, value]) => bar(capital(name), value))) : null;
}

function concepts(reasons) {
  const found = reasons?.concepts ?? [];
  if (!found.length) return null;
  return el("ul", { class: "chips", "aria-label": "Shared concepts" }, found.slice(0, 8).map((one) =>
    el("li", { class: `chip ${one.relation}`, title: `Query: ${one.query.text}. This trial: ${one.hit.text}. ${one.id ?? ""}` }, `${RELATIONS[one.relation]} ${one.section}: `, el("b", {}, one.relation === "same" ? one.name : one.hit.name))));
}

function criteria(reasons) {
  const pairs = reasons?.criteria?.pairs ?? [];
  if (!pairs.length) return null;
  return el("details", { class: "pairs" }, el("summary", {}, `${pairs.length} ${pairs.length > 1 ? "criteria" : "criterion"} alike`),
    el("table", {}, el("thead", {}, el("tr", {}, ["Kind", "Query", "This trial"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, pairs.map((pair) => el("tr", { class: pair.differs ? "differs" : null },
        el("td", { "data-name": "Kind" }, capital(pair.kind)),
        el("td", { "data-name": "Query" }, marked(pair.query, pair.query_differences)),
        el("td", { "data-name": "This trial" }, marked(pair.hit, pair.hit_differences)))))));
}

const action = (name, done) => el("button", { type: "button", class: "plain", click: done }, name);

// A click that stays on the page; with a modifier key the browser opens the link elsewhere.
export function plainClick(done) {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    done();
  };
}
