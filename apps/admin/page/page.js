// Asks the router for its status every two seconds and draws what is different.

import { drawCharts, historyOf, startCharts } from "./charts.js";
import { drawConfig } from "./config.js";
import { followDecisions, startDecisions, stopStream } from "./decisions.js";
import { at, setText } from "./dom.js";
import { clockTime, duration } from "./format.js";
import { askPermission, onChange, readJson } from "./operate.js";
import { drawOverview } from "./overview.js";
import { drawReplicas, startReplicas } from "./replicas.js";
import { drawRollouts } from "./rollouts.js";
import { drawSessions } from "./sessions.js";

const PERIOD_MS = 2000;

let seenAtMs = Number.NaN;
let isAsking = false;
let isDue = false;

async function draw() {
  const status = await readJson("status");
  drawCharts(await historyOf(status), status);
  drawOverview(status);
  drawReplicas(status);
  drawRollouts(status);
  drawSessions(status);
  drawConfig(status);
  at("main").hidden = false;
  seenAtMs = performance.now();
  setText(at("updated"), `as of ${clockTime(status.time)}`);
  await followDecisions(status, !document.hidden);
}

/** One at a time; what is asked for meanwhile comes right after. */
async function refresh() {
  isDue = isAsking;
  if (isAsking) return;
  isAsking = true;
  await draw().then(
    () => showLost(undefined),
    (error) => showLost(error),
  );
  isAsking = false;
  if (isDue) await refresh();
}

function showLost(error) {
  document.body.classList.toggle("lost", error !== undefined);
  at("lost").hidden = error === undefined;
  if (error === undefined) return;
  const age = Number.isNaN(seenAtMs)
    ? "nothing was read yet"
    : `what is shown is ${duration((performance.now() - seenAtMs) / 1000)} old`;
  setText(at("lost"), `The router does not respond (${error.message}); ${age}.`);
}

async function keepDrawing() {
  if (!document.hidden) await refresh();
  setTimeout(keepDrawing, PERIOD_MS);
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) stopStream();
  else void refresh();
});
startCharts(refresh);
startReplicas();
startDecisions();
onChange(refresh);
await askPermission();
void keepDrawing();
