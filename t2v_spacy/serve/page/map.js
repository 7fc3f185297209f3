// The map of trials on a canvas: move, zoom, point, open.

import { call } from "./api.js";
import { $, el, fill } from "./dom.js";
import { number } from "./words.js";

const COLOURS = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#b07aa1", "#edc948", "#9c755f", "#d37295", "#499894", "#8cd17d", "#b6992d"];
const OTHER = "#9aa0a6";
const NEAREST = 12;
const AGAIN = 1500; // milliseconds until a map in the making is asked for again

const view = { x: 0, y: 0, zoom: 1 };
let data = null;
let off = new Set(); // groups that are not shown
let marked = new Set(); // ids of the last results
let act = null;
let asked = null;
let timer = 0;

export async function showMap(actions, found) {
  act = actions;
  marked = new Set(found);
  if (data) return draw();
  asked?.abort();
  asked = new AbortController();
  clearTimeout(timer);
  $("map-said").textContent = "Loading the map…";
  try {
    const got = await call("/map", undefined, asked.signal);
    if (got.status === "computing") {
      $("map-said").textContent = "The map is being computed; this takes up to a minute the first time.";
      timer = setTimeout(() => $("map-view").hidden || showMap(actions, found), AGAIN);
    } else if (got.status === "ready") ready(got);
    else $("map-said").textContent = `There is no map: ${got.reason}.`;
  } catch (err) {
    if (err.name !== "AbortError") $("map-said").textContent = err.message;
  }
  return undefined;
}

function ready(got) {
  data = got;
  const n = got.points.length;
  $("map-said").textContent = `${n < got.total ? `${number(n)} of ${number(got.total)} trials, drawn at random` : `${number(n)} trials`}, by ${got.method}.`;
  document.querySelector(".map").hidden = false;
  const sizes = got.groups.map((_, i) => got.points.filter((point) => point[2] === i).length);
  fill($("legend"), got.groups.map((name, i) => {
    const swatch = el("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.setProperty("--colour", colour(i));
    return el("li", {}, el("label", { class: "check" }, el("input", { type: "checkbox", checked: true, change: (event) => toggle(i, event.target.checked) }), swatch, el("span", {}, name), el("span", { class: "count" }, number(sizes[i]))));
  }));
  listen();
  draw();
}

function toggle(group, on) {
  if (on) off.delete(group);
  else off.add(group);
  draw();
}

const colour = (group) => (data.groups[group] === "Other" ? OTHER : COLOURS[group % COLOURS.length]);
const shown = () => data.points.filter((point) => !off.has(point[2]));

// Pixels of one unit of the map: it fills the canvas, as its axes mean nothing.
function units() {
  const { width, height } = $("canvas").getBoundingClientRect();
  return { width, height, x: (width / 2.15) * view.zoom, y: (height / 2.15) * view.zoom };
}

// Where a point is on the canvas, in CSS pixels.
function place(point, unit = units()) {
  return [unit.width / 2 + (point[0] - view.x) * unit.x, unit.height / 2 - (point[1] - view.y) * unit.y];
}

const within = (value) => Math.max(-1.2, Math.min(1.2, value));

function move(dx, dy) {
  const unit = units();
  view.x = within(view.x - dx / unit.x);
  view.y = within(view.y + dy / unit.y);
  draw();
}

// Zoom by a factor, the spot (in pixels from the middle) staying where it is.
function zoom(factor, dx = 0, dy = 0) {
  const before = units();
  view.zoom = Math.max(1, Math.min(60, view.zoom * factor));
  const after = units();
  view.x += dx / before.x - dx / after.x;
  view.y -= dy / before.y - dy / after.y;
  if (view.zoom === 1) Object.assign(view, { x: 0, y: 0 });
  draw();
}

function draw() {
  const canvas = $("canvas");
  const unit = units();
  const { width, height } = unit;
  if (!width || !data) return;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const size = Math.min(7, (data.points.length < 1000 ? 4 : 2.5) + Math.log2(view.zoom) / 2);
  const ink = getComputedStyle(document.body).color;
  for (const point of shown()) {
    const [x, y] = place(point, unit);
    if (x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
    pen.globalAlpha = 0.75;
    pen.fillStyle = colour(point[2]);
    pen.beginPath();
    pen.arc(x, y, size, 0, 2 * Math.PI);
    pen.fill();
    if (marked.has(point[3])) {
      pen.globalAlpha = 1;
      pen.strokeStyle = ink;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(x, y, size + 3, 0, 2 * Math.PI);
      pen.stroke();
    }
  }
  const centre = shown().map((point) => [Math.hypot(point[0] - view.x, point[1] - view.y), point]).sort((a, b) => a[0] - b[0]).slice(0, NEAREST);
  fill($("centre"), centre.map(([, point]) => el("li", {}, el("button", { type: "button", class: "plain", click: () => act.open(point[3]) }, point[4] || point[3]))));
}

function nearest(x, y) {
  let best = null;
  let least = 14;
  const unit = units();
  for (const point of shown()) {
    const [px, py] = place(point, unit);
    const far = Math.hypot(px - x, py - y);
    if (far < least) [least, best] = [far, point];
  }
  return best;
}

function tip(point) {
  const box = $("tip");
  box.hidden = !point;
  if (!point) return;
  const unit = units();
  const [x, y] = place(point, unit);
  fill(box, el("b", {}, point[3]), ` ${point[4]}`, el("span", { class: "quiet" }, ` ${data.groups[point[2]]}`));
  box.style.left = `${Math.max(4, Math.min(unit.width - 264, x + 12))}px`;
  box.style.top = `${y + 14}px`;
}

function listen() {
  const canvas = $("canvas");
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top, box];
  };
  let held = null;
  let moved = false;
  canvas.addEventListener("pointerdown", (event) => {
    [held, moved] = [[event.clientX, event.clientY], false];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (!held) return tip(nearest(x, y));
    const [dx, dy] = [event.clientX - held[0], event.clientY - held[1]];
    if (!moved && Math.hypot(dx, dy) < 4) return undefined;
    [held, moved] = [[event.clientX, event.clientY], true];
    tip(null);
    return move(dx, dy);
  });
  canvas.addEventListener("pointerup", (event) => {
    const [x, y] = at(event);
    const point = held && !moved ? nearest(x, y) : null;
    held = null;
    if (point) act.open(point[3]);
  });
  canvas.addEventListener("pointercancel", () => (held = null));
  canvas.addEventListener("pointerleave", () => tip(null));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [x, y, box] = at(event);
    zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, x - box.width / 2, y - box.height / 2);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const done = {
      ArrowLeft: () => move(40, 0), ArrowRight: () => move(-40, 0), ArrowUp: () => move(0, 40), ArrowDown: () => move(0, -40),
      "+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: () => zoom(0),
    }[event.key];
    if (!done) return;
    event.preventDefault();
    done();
  });
  $("zoom-in").addEventListener("click", () => zoom(1.4));
  $("zoom-out").addEventListener("click", () => zoom(1 / 1.4));
  $("zoom-all").addEventListener("click", () => zoom(0));
  window.addEventListener("resize", draw);
}
