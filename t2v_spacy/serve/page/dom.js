// Nodes of plain text: nothing here reads a text as HTML, since records come from strangers.

export const $ = (id) => document.getElementById(id);

export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function fill(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter(Boolean));
  return node;
}

// A link that leaves the page, of http and https only; else its text.
export function outside(url, words) {
  if (!/^https?:\/\//i.test(url ?? "")) return document.createTextNode(words);
  return el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, words);
}

// The text with some spans of its characters (code points) marked.
export function marked(text, spans) {
  const signs = [...(text ?? "")];
  const parts = [];
  let at = 0;
  for (const [start, end] of [...spans].sort((a, b) => a[0] - b[0])) {
    if (start < at || start >= signs.length) continue;
    parts.push(signs.slice(at, start).join(""), el("mark", {}, signs.slice(start, end).join("")));
    at = end;
  }
  return [...parts, signs.slice(at).join("")].filter((part) => part !== "");
}

// A share from 0 to 1 as a small bar beside its name.
export function bar(name, value) {
  const shown = Math.max(0, Math.min(1, value));
  const inner = el("span", { class: "bar-in" });
  inner.style.setProperty("--share", shown);
  return el("span", { class: "bar" }, el("span", { class: "bar-name" }, name), el("span", { class: "bar-out", "aria-hidden": "true" }, inner), el("span", { class: "bar-value" }, value.toFixed(2)));
}

export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
