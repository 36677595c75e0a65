// The last requests, as they end: from the router's stream, or polled where they are too many to read.

import { at, Kept, keepChildren, make, makeButton, makeCell, makeHead, openable, setText } from "./dom.js";
import { explanation } from "./explanation.js";
import { clockTime, milliseconds } from "./format.js";
import { needsTokenToRead, read, say } from "./operate.js";

const KEPT = 500;
/** Rows of the table, until all of those at hand are asked for. */
const SHOWN = 8;
const ALL_SHOWN = 50;
/** With more requests a second, nobody can read the stream, and each event costs the router time. */
const MOST_STREAMED_PER_S = 20;
const REDRAW_MS = 250;
const FIELDS = ["by-text", "by-model", "by-endpoint", "by-status", "by-slow"];
const COLUMNS = [
  ["Time", ""],
  ["Model", "text"],
  ["Went to", "text"],
  ["Status", ""],
  ["TTFT", "number"],
  ["Duration", "number"],
  ["Why", "free soft"],
];

/** The latest first. */
let decisions = [];
/** The address may name a decision that has not been looked for. */
let isLinked = true;
let stream;
let hasStream = true;
let isDue = false;
let most = SHOWN;
const rows = new Kept(makeRow);
/** Keys of rows that are open. */
const open = new Set();

export function startDecisions() {
  at("decisions").append(makeHead(COLUMNS));
  at("more-decisions").addEventListener("click", (event) => {
    most = most === SHOWN ? ALL_SHOWN : SHOWN;
    setText(at("more-decisions"), most === SHOWN ? "Show more" : "Show fewer");
    draw(event);
  });
  for (const id of FIELDS) at(id).addEventListener("input", draw);
  addEventListener("hashchange", () => void showLinked().catch(() => {}));
}

/** Called with each status; `isVisible` is false while nobody looks. Rejects if the router does not respond. */
export async function followDecisions({ traffic }, isVisible) {
  const isReadable = (traffic.history.requestsPerS.at(-1) ?? 0) <= MOST_STREAMED_PER_S;
  if (!isVisible || !isReadable) stopStream();
  if (!isVisible) return;
  if (stream === undefined) await fetchLatest();
  if (isLinked) await showLinked();
  if (stream === undefined && isReadable && hasStream && !needsTokenToRead() && !at("decisions-section").hidden) startStream();
}

export function stopStream() {
  stream?.close();
  stream = undefined;
}

function startStream() {
  stream = new EventSource("api/v1/decisions/stream");
  // What ended before it listened, also after a break.
  stream.onopen = () => void fetchLatest().catch(() => {});
  stream.onmessage = ({ data }) => {
    add([JSON.parse(data)]);
    drawSoon();
  };
  stream.onerror = () => {
    // No stream, or no room for one more listener.
    if (stream?.readyState !== EventSource.CLOSED) return;
    hasStream = false;
    stopStream();
  };
}

async function fetchLatest() {
  const response = await read(`decisions?limit=${ALL_SHOWN}`);
  // The config leaves the observer out.
  at("decisions-section").hidden = response.status === 404;
  if (!response.ok) return;
  add((await response.json()).decisions);
  draw();
}

/** Opens the decision that the address names. */
async function showLinked() {
  const id = new URLSearchParams(location.hash.slice(1)).get("decision");
  const response = id && (await read(`decisions?limit=1&id=${encodeURIComponent(id)}`));
  isLinked = false;
  if (!response) return;
  const [found] = response.ok ? (await response.json()).decisions : [];
  if (!found) return say(`The router does not remember the request ${id}: it forgets the oldest ones.`, true);
  for (const field of FIELDS) at(field).value = "";
  open.add(keyOf(found));
  add([found]);
  draw({});
  document.getElementById(rowId(id))?.scrollIntoView({ block: "center" });
}

const rowId = (id) => `decision=${id}`;
const keyOf = ({ id, time }) => `${time} ${id}`;

function add(next) {
  const known = new Map([...next, ...decisions].map((decision) => [keyOf(decision), decision]));
  decisions = [...known.values()].sort((one, other) => Date.parse(other.time) - Date.parse(one.time)).slice(0, KEPT);
}

function drawSoon() {
  if (isDue) return;
  isDue = true;
  setTimeout(() => {
    isDue = false;
    draw();
  }, REDRAW_MS);
}

/** Nothing moves while a row is open, unless the filter was changed: then there is an event. */
function draw(event) {
  const table = at("decisions");
  const isHeld = event === undefined && table.querySelector("[aria-expanded=true]") !== null;
  at("held").hidden = !isHeld;
  if (isHeld) return;
  const matching = decisions.filter(filterOf());
  const shown = matching.filter((decision, index) => index < most || open.has(keyOf(decision)));
  keepChildren(table, [table.tHead, ...rows.of(shown, keyOf)]);
  at("more-decisions").hidden = matching.length <= SHOWN;
  setText(at("decision-count"), `${Math.min(most, matching.length)} of the last ${decisions.length}`);
}

function filterOf() {
  const value = (id) => at(id).value.trim().toLowerCase();
  const [text, model, endpoint, status, slow] = FIELDS.map(value);
  const slowMs = Number(slow);
  return (decision) =>
    (model === "" || `${decision.model}\n${decision.target}`.toLowerCase().includes(model)) &&
    (endpoint === "" || decision.attempts.some((attempt) => attempt.endpoint.toLowerCase().includes(endpoint))) &&
    (status === "" || outcomeOf(decision) === status || (status === "failed" && outcomeOf(decision) !== "served")) &&
    (slowMs === 0 || (decision.firstByteMs ?? decision.durationMs) >= slowMs) &&
    (text === "" || textOf(decision).includes(text));
}

/** "client" if it is the client's own fault, "router" if it is the router's or a replica's. */
function outcomeOf({ status, ending }) {
  if (ending === "client-left") return "client";
  if (ending === "complete" && status < 400) return "served";
  return ending === "complete" && status < 500 && status !== 429 ? "client" : "router";
}

function textOf({ id, api, model, target, rule, errorCode, why, attempts, principal }) {
  const tries = attempts.map(({ endpoint, result }) => `${endpoint} ${result}`);
  return [id, api, model, target, rule, errorCode, why, principal?.name, ...tries].join("\n").toLowerCase();
}

const CLASS = { served: "good", client: "wait", router: "bad" };

/** A row, and below it the explanation, made when it is first opened. */
function makeRow(decision) {
  const { model, target, rule, status, ending, errorCode, attempts } = decision;
  const ended = ending === "complete" ? errorCode : ending;
  const button = makeButton(clockTime(decision.time), () => {});
  const contents = [
    button,
    rule === "" ? model : `${model} → ${target}`,
    attempts.at(-1)?.endpoint || "–",
    make("span", CLASS[outcomeOf(decision)], `${status === 0 ? "–" : status}${ended === "" ? "" : ` ${ended}`}`),
    milliseconds(decision.firstByteMs),
    milliseconds(decision.durationMs),
    decision.why,
  ];
  const row = make("tr", "", ...COLUMNS.map(([title, className], index) => makeCell(title, className, contents[index])));
  const turned = (isOpen) => {
    // The address of the page is a link to what was opened last.
    history.replaceState(null, "", isOpen ? `#decision=${decision.id}` : "#");
    if (!isOpen) draw();
  };
  const { element, show } = openable(row, button, () => explanation(decision), open, keyOf(decision), turned);
  element.id = rowId(decision.id);
  return { element, update: show };
}
