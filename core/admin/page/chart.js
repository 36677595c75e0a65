// Requests and errors a second over the last minutes, and how many wait for room.

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

const rates = makeChart(LINES.map(([, className]) => className));
const waits = makeChart(["all"]);

export function startChart() {
  at("chart").append(...rates.parts);
  at("wait-chart").append(...waits.parts);
}

export function drawChart({ traffic, admission }) {
  const { history } = traffic;
  at("chart-section").hidden = history.requestsPerS.length < 2;
  if (history.requestsPerS.length >= 2) drawRates(history);
  const waiting = admission?.history ?? [];
  at("wait-section").hidden = waiting.length < 2;
  if (waiting.length < 2) return;
  waits.draw([waiting]);
  setText(at("wait-from"), `${duration(waiting.length)} ago`);
}

function drawRates(history) {
  const { stepS, requestsPerS } = history;
  rates.draw(LINES.map(([name]) => history[name]));
  for (const [name, className] of LINES) setText(at(`rate-${className}`), number(history[name].at(-1)));
  setText(at("chart-from"), `${duration(requestsPerS.length * stepS)} ago`);
}

/** Lines over a grid, with their scale; the first line is the highest. */
function makeChart(classNames) {
  const svg = document.createElementNS(SVG, "svg");
  const lines = classNames.map((className) => shape("polyline", className));
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  svg.append(...GRID.map(gridLine), ...lines);
  const scale = GRID.map(() => make("span", "soft"));
  return {
    parts: [make("div", "scale", ...scale.toReversed()), svg],
    draw(series) {
      const top = roundUp(Math.max(1, ...series[0]));
      svg.setAttribute("viewBox", `0 0 ${series[0].length - 1} ${HEIGHT}`);
      for (const [index, values] of series.entries()) lines[index].setAttribute("points", points(values, top));
      for (const [index, share] of GRID.entries()) setText(scale[index], number(share * top));
    },
  };
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
