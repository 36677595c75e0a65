// What the pool's requests met over the last minutes or hours, and how many wait for room.

import { at, make, setText } from "./dom.js";
import { duration, milliseconds, number, percent, roundUp } from "./format.js";
import { readJson } from "./operate.js";

const SVG = "http://www.w3.org/2000/svg";
/** Where the scale has numbers. */
const SHARES = [1, 0.5, 0];
const HEIGHT = 100;

const charts = [
  [
    "Requests a second",
    number,
    ["requestsPerS", "ended"],
    ["errorsPerS", "failed in router or replicas", "bad"],
    ["clientErrorsPerS", "clients' errors", "wait"],
  ],
  ["TTFT", milliseconds, ["ttftP50Ms", "p50"], ["ttftP95Ms", "p95", "wait"]],
  ["Cache hit rate", percent, ["hitRate", "of the prompt tokens"]],
  ["Replicas serving", number, ["leastServing", "at least"]],
].map(makeChart);
const waits = makeChart(["Requests that wait for room", number, ["waiting", ""]]);

export function startCharts(redraw) {
  at("charts").append(...[...charts, waits].map(({ element }) => element));
  at("span").addEventListener("input", redraw);
}

/** Of the span that is chosen; the shortest one is in the status. */
export function historyOf({ traffic }) {
  const span = at("span").value;
  return span === "10m" ? traffic.history : readJson(`api/v1/traffic?span=${span}`);
}

export function drawCharts(history, { admission }) {
  const { stepS, requestsPerS } = history;
  for (const chart of charts) chart.draw(history);
  waits.draw({ stepS: 1, waiting: admission?.history ?? [] });
  setText(at("young"), requestsPerS.length < 2 ? `drawn when two steps of ${duration(stepS)} are over` : "");
}

/** Lines over a grid, with their scale. A line is [series, label, class]. Hidden while nothing is known. */
function makeChart([title, text, ...lines]) {
  const [svg, ...paths] = ["svg", ...lines.map(() => "path")].map((tag) => document.createElementNS(SVG, tag));
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  svg.append(...paths);
  const scale = SHARES.map(() => make("span", "soft"));
  const latest = lines.map(() => make("strong"));
  const keys = lines.map(([, label, className = "good"], index) => {
    paths[index].setAttribute("class", className);
    return make("span", "", make("span", `key ${className}`), " ", latest[index], ` ${label}`);
  });
  const from = make("span");
  const element = make(
    "div",
    "",
    make("p", "legend", title, ...keys),
    make("div", "plot", make("div", "scale", ...scale), svg),
    make("p", "times soft", from, make("span", "", "now")),
  );
  return {
    element,
    draw(history) {
      const series = lines.map(([name]) => history[name]);
      element.hidden = series[0].length < 2 || series[0].every((value) => value === null);
      if (element.hidden) return;
      const top = roundUp(Math.max(1, ...series.flat()));
      svg.setAttribute("viewBox", `0 0 ${series[0].length - 1} ${HEIGHT}`);
      for (const [index, values] of series.entries()) {
        paths[index].setAttribute("d", pathOf(values, top));
        setText(latest[index], text(values.at(-1)));
      }
      for (const [index, share] of SHARES.entries()) setText(scale[index], text(share * top));
      setText(from, `${duration(series[0].length * history.stepS)} ago`);
    },
  };
}

/** What is not known is a gap; what stands alone between gaps is a point. */
function pathOf(values, top) {
  const parts = values.map((value, index) => {
    const place = `${index},${(HEIGHT * (1 - value / top)).toFixed(1)}`;
    if (value === null) return "";
    return (values[index - 1] ?? null) === null ? `M${place}h0` : `L${place}`;
  });
  return parts.join("");
}
