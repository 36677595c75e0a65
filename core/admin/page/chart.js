// Requests and errors a second over the last minutes.

import { at, make, setText } from "./dom.js";
import { duration, number, roundUp } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";
const LINES = [
  ["requestsPerS", "all"],
  ["clientErrorsPerS", "clients"],
  ["errorsPerS", "failed"],
];
const GRID = [0, 0.5, 1];
const HEIGHT = 100;

const svg = document.createElementNS(SVG, "svg");
const lines = LINES.map(([, className]) => shape("polyline", className));
svg.setAttribute("preserveAspectRatio", "none");
svg.setAttribute("aria-hidden", "true");
svg.append(...GRID.map(gridLine), ...lines);
const scale = GRID.map(() => make("span", "soft"));

export function startChart() {
  at("chart").append(make("div", "scale", ...scale.toReversed()), svg);
}

export function drawChart({ history }) {
  const { stepS, requestsPerS } = history;
  const steps = requestsPerS.length;
  at("chart-section").hidden = steps < 2;
  if (steps < 2) return;
  const top = roundUp(Math.max(1, ...requestsPerS));
  svg.setAttribute("viewBox", `0 0 ${steps - 1} ${HEIGHT}`);
  for (const [index, [name, className]] of LINES.entries()) {
    lines[index].setAttribute("points", points(history[name], top));
    setText(at(`rate-${className}`), number(history[name].at(-1)));
  }
  for (const [index, share] of GRID.entries()) setText(scale[index], number(share * top));
  setText(at("chart-from"), `${duration(steps * stepS)} ago`);
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
