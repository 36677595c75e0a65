// Which config runs, and what the last attempt to change it did.

import { at, make, setText } from "./dom.js";
import { ageS, duration, plural } from "./format.js";

const CAUSE = { files: "a changed file", signal: "a signal", api: "the admin API", guard: "a guard" };
/** What is drawn, as text: the lists are made anew only when they are others. */
let drawn = "";

export function drawConfig({ config, profile, sources, listen, time }) {
  const { generation, lastReload, overlay } = config;
  setText(at("generation"), `Generation ${generation}, from ${sources.join(", ")}; listens on ${listen.host}:${listen.port}.`);
  setText(at("profile"), profileText(profile));
  setText(at("reload"), lastReload === null ? "It has not been changed since the start." : reloadText(lastReload, time));
  at("reload").className = lastReload === null || lastReload.isApplied ? "" : "bad";
  const lists = [lastReload?.isApplied === false ? lastReload.problems : (lastReload?.changes ?? []), overlay.map(overlayText)];
  if (drawn === JSON.stringify(lists)) return;
  drawn = JSON.stringify(lists);
  for (const [index, id] of ["reload-lines", "overlay-lines"].entries())
    at(id).replaceChildren(...lists[index].map((line) => make("li", "", line)));
  at("overlay").hidden = overlay.length === 0;
}

function reloadText({ at: when, cause, isApplied, changes, problems }, now) {
  const what = isApplied
    ? changes.length === 0
      ? "nothing was different"
      : plural(changes.length, "change")
    : `refused: ${plural(problems.length, "problem")}`;
  return `Last change ${duration(ageS(when, now))} ago, through ${CAUSE[cause] ?? cause}: ${what}${isApplied ? "." : ", so the config before runs on."}`;
}

function overlayText({ rewrite, isDeleted, by, since, until }) {
  const end = until === null ? "" : `, until ${until}`;
  return `rewrite ${rewrite} ${isDeleted ? "deleted" : "changed"} by ${by} at ${since}${end}`;
}

function profileText({ name, filters, scorers, picker, shadow }) {
  const filterNames = filters.map((filter) => filter.name).join(", ") || "none";
  const scorerNames = scorers.map((scorer) => `${scorer.name} × ${scorer.weight}`).join(", ") || "none";
  const text = `Profile ${name}: filters ${filterNames}; scorers ${scorerNames}; picker ${picker.name}.`;
  return shadow ? `${text} Shadow profile: ${shadow.name ?? shadow}.` : text;
}
