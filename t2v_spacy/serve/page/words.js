// Constants of the registry as people read them.

const CAPITALS = new Set(["NIH"]);

export function words(constant) {
  if (!constant) return "";
  if (constant === "NA") return "Not applicable";
  if (!/^[A-Z0-9_]+$/.test(constant) || CAPITALS.has(constant)) return constant;
  return capital(constant.toLowerCase().replace(/_/g, " ").replace(/phase(\d)/, "phase $1"));
}

export function phases(list) {
  const known = (list ?? []).filter((phase) => phase !== "NA");
  if (!known.length) return list?.length ? "No phase" : "";
  const numbers = known.map((phase) => phase.replace("EARLY_PHASE1", "early 1").replace("PHASE", ""));
  return `Phase ${numbers.join("/")}`;
}

export function enrolment(given) {
  if (!given) return "";
  const planned = given.actual === false ? " planned" : "";
  return `${number(given.count)} participants${planned}`;
}

export const capital = (text) => (text ? text[0].toUpperCase() + text.slice(1) : "");

export const number = (n) => n.toLocaleString("en");

export const SECTIONS = { title: "Title", condition: "Condition", intervention: "Intervention", eligibility: "Criteria" };

// Colour of a status badge: what goes on, what ended well, what ended early.
export function statusClass(status) {
  if (["RECRUITING", "ENROLLING_BY_INVITATION", "NOT_YET_RECRUITING", "AVAILABLE", "ACTIVE_NOT_RECRUITING"].includes(status)) return "open";
  if (["TERMINATED", "WITHDRAWN", "SUSPENDED"].includes(status)) return "stopped";
  return status === "COMPLETED" ? "done" : "other";
}
