// The table of replicas: one line each, which opens into its details.

import { at, makeMeter, setText } from "./dom.js";
import { labelTexts, milliseconds, number, percent, plural, whole } from "./format.js";
import { makeDetails, stateClass } from "./replica-details.js";
import { SortedTable } from "./table.js";

/** The worst comes first when sorted by state. */
const SEVERITY = { "not-ready": 5, ejected: 4, starting: 3, asleep: 2, cordoned: 2, draining: 2, ready: 0 };

/** A column of a number; narrow screens leave out those of the class "more", so the details have them too. */
function figure(id, title, hint, text, className = "number more") {
  const sortKey = (endpoint) => endpoint[id] ?? endpoint.figures[id] ?? null;
  const makeCell = (cell) => (endpoint) => setText(cell, text(sortKey(endpoint)));
  return { id, title, hint, className, sortKey, text, makeCell };
}

/** The same with bars: `full(context)` fills one. */
function bar(id, title, hint, text, full) {
  const column = figure(id, title, hint, text, "bar more");
  const makeCell = (cell) => {
    const update = makeMeter(cell);
    return (endpoint, context) => {
      const value = column.sortKey(endpoint);
      update(value === null ? null : value / full(context), text(value));
    };
  };
  return { ...column, makeCell };
}

const COLUMNS = [
  {
    id: "name",
    title: "Replica",
    className: "name",
    sortKey: ({ name }) => name,
    makeCell: (opener) => (endpoint) => {
      setText(opener, endpoint.name);
      opener.title = endpoint.pool === undefined ? endpoint.name : `${endpoint.name}, of the pool ${endpoint.pool}`;
    },
  },
  {
    id: "state",
    title: "State",
    className: "state",
    hint: "And why; the details say since when, and when it is probed",
    sortKey: ({ phase, isAvailable, why }) => (SEVERITY[phase] ?? 9) + (isAvailable ? 0 : 0.5) + (why === "" ? 0 : 0.1),
    makeCell: (cell) => (endpoint) => {
      cell.className = `state dot ${stateClass(endpoint)}`;
      setText(cell, endpoint.state);
      cell.title = endpoint.state;
    },
  },
  figure("inFlight", "In flight", "Requests of this router there", whole, "number"),
  bar(
    "prefillTokens",
    "Prompt tokens ahead",
    "Prompt tokens sent whose response has not begun, minus those expected in the cache",
    whole,
    ({ mostTokens }) => mostTokens,
  ),
  bar("kvUsage", "KV cache", "Used share of the replica's KV cache, as it reports", percent, () => 1),
  figure("requests", "Requests", "Requests that ended there", whole),
  {
    ...figure("replicaErrors", "Its errors", "Tries that ended with 5xx, without a response or with a broken one", whole),
    className: "number",
    makeCell: (cell) => (endpoint) => {
      const { replicaErrors, isFailing } = endpoint.figures;
      setText(cell, whole(replicaErrors));
      cell.className = isFailing ? "number bad" : "number";
    },
  },
  figure("overloads", "Refused", "Tries that it refused with 503 or 429", whole),
  figure("clientErrors", "Clients' errors", "Requests that could not succeed (4xx), and those whose client left", whole),
  figure("ttftP50Ms", "TTFT p50", "Time to the first token, median", milliseconds),
  figure("ttftP95Ms", "TTFT p95", "Time to the first token, 95th percentile", milliseconds),
  figure("hitRate", "Hit rate", "Share of the prompt tokens that its cache held, as it reports", percent),
  figure("outputTokensPerS", "Tokens/s", "Generated tokens a second, all requests together", number),
];

const moreFigures = (endpoint) =>
  COLUMNS.filter(({ className }) => className.endsWith("more")).map(({ title, sortKey, text }) => [
    title,
    text(sortKey(endpoint)),
  ]);

let table;
let endpoints = [];

export function startReplicas() {
  const details = () => makeDetails(moreFigures, () => endpoints);
  const sort = { id: "state", isDown: true };
  table = new SortedTable(at("endpoints"), at("endpoint-pages"), COLUMNS, ({ name }) => name, details, sort);
  for (const field of ["endpoint-text", "endpoint-state"]) at(field).addEventListener("input", applyFilter);
  applyFilter();
}

export function drawReplicas(status) {
  ({ endpoints } = status);
  const mostTokens = endpoints.reduce((most, { prefillTokens }) => Math.max(most, prefillTokens), 100);
  showCount(table.draw(endpoints, { mostTokens, now: status.time }));
}

function applyFilter() {
  const words = at("endpoint-text").value.toLowerCase().split(/\s+/).filter(Boolean);
  const state = at("endpoint-state").value;
  showCount(table.filter((endpoint) => isInState(endpoint, state) && isAbout(endpoint, words)));
}

function showCount(shown) {
  const all = plural(endpoints.length, "replica");
  setText(at("endpoint-count"), shown === endpoints.length ? all : `${whole(shown)} of ${all}`);
}

function isInState({ isAvailable, figures }, state) {
  return state === "" || (state === "out" ? !isAvailable : figures.replicaErrors + figures.overloads > 0);
}

function isAbout(endpoint, words) {
  if (words.length === 0) return true;
  const { name, url, phase, why, models } = endpoint;
  const text = [name, url, phase, why, ...labelTexts(endpoint), ...models].join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}
