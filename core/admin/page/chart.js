// Requests and errors a second over the last minutes.

import { at, make, setText } from "./dom.js";
import { number, roundUp } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";
const LINES = [
  ["requestsPerS", "all"],
  ["clientErrorsPerS", "clients"],
  ["errorsPerS", "failed"],
];
const GRID = [0, 0.5, 1];
const HEIGHT = 100;

/** Drawn once; the lines change. */
const svg = document.createElementNS(SVG, "svg");
const lines = LINES.map(([, className]) => shape("polyline", className));
const area = shape("polygon", "area");
svg.setAttribute("preserveAspectRatio", "none");
svg.setAttribute("aria-hidden", "true");
svg.append(area, ...GRID.map(gridLine), ...lines);
const scale = GRID.map(() => make("span", "soft"));

export function startChart() {
  at("chart").append(make("div", "scale", ...scale.toReversed()), svg);
}

export function drawChart({ history }) {
  const { stepS, requestsPerS, errorsPerS, clientErrorsPerS } = history;
  const steps = requestsPerS.length;
  at("chart-section").hidden = steps < 2;
  if (steps < 2) return;
  const top = roundUp(Math.max(1, ...requestsPerS));
  svg.setAttribute("viewBox", `0 0 ${steps - 1} ${HEIGHT}`);
  for (const [index, [name]] of LINES.entries()) lines[index].setAttribute("points", points(history[name], top));
  area.setAttribute("points", `0,${HEIGHT} ${points(requestsPerS, top)} ${steps - 1},${HEIGHT}`);
  for (const [index, share] of GRID.entries()) setText(scale[index], number(share * top));
  const minutes = (steps * stepS) / 60;
  setText(at("chart-from"), minutes < 2 ? `${steps * stepS} s ago` : `${Math.round(minutes)} min ago`);
  const last = (values) => number(values.at(-1));
  setText(at("rate-all"), last(requestsPerS));
  setText(at("rate-failed"), last(errorsPerS));
  setText(at("rate-clients"), last(clientErrorsPerS));
}

function points(values, top) {
  return values.map((value, index) => `${index},${(HEIGHT * (1 - value / top)).toFixed(2)}`).join(" ");
}

function shape(tag, className) {
  const element = document.createElementNS(SVG, tag);
  element.setAttribute("class", className);
  element.setAttribute("vector-effect", "non-scaling-stroke");
  return element;
}

function gridLine(share) {
  const line = shape("line", "grid");
  line.setAttribute("x2", "100%");
  for (const name of ["y1", "y2"]) line.setAttribute(name, String(HEIGHT * (1 - share)));
  return line;
}
