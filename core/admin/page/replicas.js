// The table of replicas, and what an operator can do with each.

import { at, make, makeButton, makeMeter, setText } from "./dom.js";
import { ageS, duration, listed, milliseconds, number, percent, plural, roundUp, whole } from "./format.js";
import { change, mayChange, reason } from "./operate.js";
import { SortedTable } from "./table.js";

/** The worst comes first when sorted by state. */
const SEVERITY = { "not-ready": 5, ejected: 4, starting: 3, asleep: 2, cordoned: 2, draining: 2, ready: 0 };
const CLASS = { ready: "good", "not-ready": "bad", ejected: "bad" };
const MODELS_SHOWN = 3;

/** A column of one of the figures of the last minutes. */
function figure(id, title, hint, sortKey, text, titleOf = () => "") {
  const makeCell = (cell) => (endpoint) => {
    setText(cell, text(sortKey(endpoint)));
    cell.title = titleOf(endpoint);
  };
  return { id, title, hint, className: "number", sortKey, makeCell };
}

const COLUMNS = [
  { id: "name", title: "Replica", className: "name", sortKey: ({ name }) => name, makeCell: makeNameCell },
  {
    id: "state",
    title: "State",
    className: "state",
    hint: "Since when, why, and when it is probed",
    sortKey: ({ phase, isAvailable, why }) => (SEVERITY[phase] ?? 9) + (isAvailable ? 0 : 0.5) + (why === "" ? 0 : 0.1),
    makeCell: makeStateCell,
  },
  {
    id: "inFlight",
    title: "In flight",
    className: "number",
    hint: "Requests of this router there; below, what the replica itself reports",
    sortKey: ({ inFlight }) => inFlight,
    makeCell: makeLoadCell,
  },
  {
    id: "prefill",
    title: "Prompt tokens ahead",
    className: "bar",
    hint: "Prompt tokens sent whose response has not begun, minus those expected in the cache",
    sortKey: ({ prefillTokens }) => prefillTokens,
    makeCell(cell) {
      const update = makeMeter(cell);
      return ({ prefillTokens }, { mostTokens }) => update(prefillTokens / mostTokens, whole(prefillTokens));
    },
  },
  {
    id: "kv",
    title: "KV cache",
    className: "bar",
    hint: "Used share of the replica's KV cache, as it reports",
    sortKey: ({ kvUsage }) => kvUsage,
    makeCell(cell) {
      const update = makeMeter(cell);
      return ({ kvUsage }) => update(kvUsage, percent(kvUsage));
    },
  },
  figure("requests", "Requests", "Requests that ended there", ({ figures }) => figures.requests, whole),
  {
    id: "errors",
    title: "Its errors",
    className: "number",
    hint: "Tries that ended with 5xx, without a response or with a broken one; below, tries refused with 503 or 429",
    sortKey: ({ figures }) => figures.replicaErrors + figures.overloads / 1e6,
    makeCell: makeErrorCell,
  },
  figure(
    "clientErrors",
    "Clients' errors",
    "Requests that could not succeed (4xx), and those whose client left",
    ({ figures }) => figures.clientErrors,
    whole,
    ({ figures }) => `${plural(figures.clientsLeft, "client")} left before the end`,
  ),
  figure("p50", "TTFT p50", "Time to the first token, median", ({ figures }) => figures.ttftP50Ms, milliseconds),
  figure("p95", "TTFT p95", "Time to the first token, 95th percentile", ({ figures }) => figures.ttftP95Ms, milliseconds),
  figure(
    "hits",
    "Hit rate",
    "Share of the prompt tokens that its cache held, as it reports",
    ({ figures }) => figures.hitRate,
    percent,
  ),
  figure(
    "tokens",
    "Tokens/s",
    "Generated tokens a second, all requests together",
    ({ figures }) => figures.outputTokensPerS,
    number,
    ({ figures }) => `${number(figures.streamTokensPerS)} a second in one stream`,
  ),
  { id: "actions", title: "", className: "actions", makeCell: makeActionCell },
];

let table;
let endpoints = [];

export function startReplicas() {
  table = new SortedTable(at("endpoints"), COLUMNS, { id: "state", isDown: true }, at("endpoint-sort"));
  for (const field of ["endpoint-text", "endpoint-state"]) at(field).addEventListener("input", applyFilter);
}

export function drawReplicas(status) {
  ({ endpoints } = status);
  const mostTokens = roundUp(Math.max(100, ...endpoints.map(({ prefillTokens }) => prefillTokens)));
  const note = (id) => (id === "prefill" ? `full: ${whole(mostTokens)}` : id === "kv" ? "full: 100 %" : "");
  table.draw(endpoints, ({ name }) => name, { mostTokens, now: status.time }, note);
  applyFilter();
}

function applyFilter() {
  const words = at("endpoint-text").value.toLowerCase().split(/\s+/).filter(Boolean);
  const state = at("endpoint-state").value;
  const shown = table.filter((endpoint) => isInState(endpoint, state) && words.every((word) => textOf(endpoint).includes(word)));
  setText(
    at("endpoint-count"),
    shown === endpoints.length ? plural(shown, "replica") : `${shown} of ${plural(endpoints.length, "replica")}`,
  );
}

function isInState({ isAvailable, figures }, state) {
  return state === "" || (state === "out" ? !isAvailable : figures.replicaErrors > 0);
}

function textOf({ name, url, phase, why, labels, models }) {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return [name, url, phase, why, ...pairs, ...models].join("\n").toLowerCase();
}

function makeNameCell(cell) {
  const [name, url, labels, models] = [make("strong"), make("div", "soft"), make("div", "soft"), make("div", "soft")];
  cell.append(name, url, labels, models);
  return (endpoint) => {
    const pairs = Object.entries(endpoint.labels).map(([key, value]) => `${key}=${value}`);
    setText(name, endpoint.name);
    setText(url, endpoint.url.replace(/^http:[/]{2}/, ""));
    setText(labels, pairs.join(" "));
    setText(models, listed(endpoint.models, MODELS_SHOWN));
    models.title = endpoint.models.join("\n");
  };
}

function makeStateCell(cell) {
  const [dot, since, why, checks] = [make("span"), make("span", "soft"), make("div"), make("div", "soft line")];
  cell.append(make("div", "", dot, " ", since), why, checks);
  return (endpoint, { now }) => {
    dot.className = `dot ${CLASS[endpoint.phase] ?? "wait"}`;
    setText(dot, endpoint.phase);
    setText(since, endpoint.since === null ? "" : `for ${duration(ageS(endpoint.since, now))}`);
    setText(why, endpoint.why);
    why.className = CLASS[endpoint.phase] ?? "wait";
    setText(checks, checkText(endpoint));
  };
}

function checkText({ lastCheckAgoMs, nextCheckInMs }) {
  const last = lastCheckAgoMs === null ? "not checked yet" : `checked ${tenths(lastCheckAgoMs)} ago`;
  if (nextCheckInMs === null) return last;
  return nextCheckInMs === 0 ? `${last}, next now` : `${last}, next in ${tenths(nextCheckInMs)}`;
}

const tenths = (ms) => (ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms / 1000));

function makeLoadCell(cell) {
  const [own, reported] = [make("div"), make("div", "soft")];
  cell.append(own, reported);
  return ({ inFlight, running, waiting, scrapedAgoMs }) => {
    setText(own, whole(inFlight));
    setText(reported, running === null && waiting === null ? "" : `${whole(running)} run, ${whole(waiting)} wait`);
    reported.title = scrapedAgoMs === null ? "" : `read from its metrics ${tenths(scrapedAgoMs)} ago`;
  };
}

function makeErrorCell(cell) {
  const [failed, refused] = [make("div"), make("div", "soft")];
  cell.append(failed, refused);
  return ({ figures }) => {
    setText(failed, whole(figures.replicaErrors));
    failed.className = figures.replicaErrors > 0 ? "bad" : "";
    setText(refused, figures.overloads > 0 ? `${whole(figures.overloads)} refused` : "");
  };
}

function makeActionCell(cell) {
  let endpoint;
  const buttons = ["Drain", "Cordon", "Undrain"].map((word) => makeButton(word, () => act(endpoint, word.toLowerCase())));
  const [drain, cordon, undrain] = buttons;
  cell.append(...buttons);
  return (next) => {
    endpoint = next;
    const { name, intent } = next;
    drain.hidden = !mayChange() || intent?.kind === "drain";
    cordon.hidden = !mayChange() || intent !== null;
    undrain.hidden = !mayChange() || intent === null;
    for (const button of buttons) button.ariaLabel = `${button.textContent} ${name}`;
  };
}

const DONE = { drain: "is drained: no new requests go there", cordon: "is cordoned", undrain: "serves again" };

async function act({ name, isAvailable }, action) {
  const isLast = action !== "undrain" && isAvailable && endpoints.filter((each) => each.isAvailable).length === 1;
  if (isLast && !confirm(`${name} is the last replica that serves: without it, requests get 503. Go on?`)) return;
  const body = action === "undrain" || reason() === "" ? {} : { reason: reason() };
  await change("POST", `endpoints/${encodeURIComponent(name)}/${action}`, body, `${name} ${DONE[action]}.`);
}
