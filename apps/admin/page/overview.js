// The top of the page: whether all is well, warnings, and the pool as a whole.

import { at, Kept, keepChildren, make, setText, textLines } from "./dom.js";
import { duration, milliseconds, number, percent, whole } from "./format.js";

const drawWarnings = textLines(at("warnings"));
const figures = new Kept(figurePart);

export function drawOverview(status) {
  const { traffic } = status;
  setText(at("pool"), status.pool);
  at("health").className = status.isWell ? "health well" : "health unwell";
  setText(at("health-word"), status.isWell ? "Well" : "Needs attention");
  setText(at("summary"), status.summary);
  document.title = `${status.isWell ? "" : "▲ "}${status.pool} – Signalbox`;
  drawWarnings(status.warnings);
  at("warnings").hidden = status.warnings.length === 0;
  orderSections(status.isWell);
  keepChildren(
    at("figures"),
    figures.of(figuresOf(status), ({ name }) => name),
  );
  setText(at("window"), duration(traffic.windowS));
}

/** Replicas come before decisions while something is wrong. Nothing moves while a row of either is open or has the focus. */
function orderSections(isWell) {
  const parts = [at("decisions-section"), at("replicas-section")];
  if (parts.some((part) => part.matches(":focus-within") || part.querySelector("[aria-expanded=true]"))) return;
  const [first, second] = isWell ? parts : parts.toReversed();
  if (first.nextElementSibling !== second) second.before(first);
}

function figuresOf({ endpoints, traffic, clientConnections, uptimeS, admission, pools = [] }) {
  const inFlight = endpoints.reduce((sum, endpoint) => sum + endpoint.inFlight, 0);
  const serving = endpoints.filter(({ isAvailable }) => isAvailable).length;
  const { routerErrors, replicaErrors, clientErrors, clientsLeft, isFailing } = traffic;
  return [
    { name: "replicas serving", value: `${serving} of ${endpoints.length}`, isBad: serving === 0 },
    ...pools.map(poolFigure),
    { name: "in flight", value: whole(inFlight) },
    ...lineFigures(admission),
    { name: "requests", value: whole(traffic.requests) },
    {
      name: "failed in router",
      value: whole(routerErrors),
      hint: "The router had no replica for the request, or failed itself",
      isBad: isFailing && routerErrors > 0,
    },
    {
      name: "failed in replicas",
      value: whole(replicaErrors),
      hint: "Replicas gave 5xx, 429, no response or a broken one, and no other replica could serve",
      isBad: isFailing && replicaErrors > 0,
    },
    {
      name: "clients' errors",
      value: whole(clientErrors),
      hint: `Requests that could not succeed (4xx), and clients that left before the end (${whole(clientsLeft)})`,
    },
    { name: "TTFT p50", value: milliseconds(traffic.ttftP50Ms) },
    { name: "TTFT p95", value: milliseconds(traffic.ttftP95Ms) },
    { name: "cache hit rate", value: percent(traffic.hitRate) },
    { name: "tokens/s", value: number(traffic.outputTokensPerS) },
    { name: "client connections", value: whole(clientConnections) },
    { name: "up", value: duration(uptimeS) },
  ];
}

/** A pool beside the router's own. */
function poolFigure({ name, ready, endpoints, requests, failed, leftForOthers }) {
  return {
    name: `of pool ${name}`,
    value: `${ready} of ${endpoints}`,
    hint: `Its replicas that serve; ${whole(requests)} requests, ${whole(failed)} failed, ${whole(leftForOthers)} left for other pools`,
    isBad: endpoints > 0 && ready === 0,
  };
}

/** Who waits at the router for room in the pool; nothing where nobody has to. */
function lineFigures(admission) {
  if (!admission) return [];
  const { waiting, longestMs, drainPerS, byPriority } = admission;
  const parts = byPriority.map((each) => `${each.waiting} of priority ${each.priority}`).join(", ");
  const hint = `Requests that wait for room in the pool${parts === "" ? "" : `: ${parts}`}; ${drainPerS} a second go on`;
  return [
    { name: "waiting", value: whole(waiting), hint },
    { name: "longest wait", value: milliseconds(longestMs), hint },
  ];
}

function figurePart() {
  const [name, value] = [make("dt"), make("dd")];
  return {
    element: make("div", "", name, value),
    update(figure) {
      setText(name, figure.name);
      setText(value, figure.value);
      value.className = figure.isBad ? "bad" : "";
      name.title = figure.hint ?? "";
    },
  };
}
