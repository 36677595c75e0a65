// Which config runs, and what the last attempt to change it did.

import { at, Kept, keepChildren, setText, textPart } from "./dom.js";
import { ageS, duration, milliseconds, percent, plural } from "./format.js";

const lines = new Kept(() => textPart("li", ""));
const changes = new Kept(() => textPart("li", ""));

export function drawConfig({ config, profile, shadow, sources, listen, time }) {
  const { generation, lastReload, overlay } = config;
  setText(at("generation"), `Generation ${generation}, from ${sources.join(", ")}; listens on ${listen.host}:${listen.port}.`);
  setText(at("profile"), `${profileText(profile)}${shadow ? shadowText(shadow) : ""}`);
  setText(at("reload"), lastReload === null ? "It has not been changed since the start." : reloadText(lastReload, time));
  at("reload").className = lastReload === null || lastReload.isApplied ? "" : "bad";
  const reloaded = lastReload?.isApplied === false ? lastReload.problems : (lastReload?.changes ?? []);
  keepChildren(at("reload-lines"), lines.of(reloaded, String));
  keepChildren(at("overlay-lines"), changes.of(overlay.map(overlayText), String));
  at("overlay").hidden = overlay.length === 0;
}

function reloadText({ at: when, cause, isApplied, changes, problems }, now) {
  const what = isApplied
    ? changes.length === 0
      ? "nothing was different"
      : plural(changes.length, "change")
    : `refused: ${plural(problems.length, "problem")}`;
  return `Last change ${duration(ageS(when, now))} ago (by ${cause}): ${what}${isApplied ? "." : ", so the config before runs on."}`;
}

function overlayText({ rewrite, isDeleted, by, since, until }) {
  const end = until === null ? "" : `, until ${until}`;
  return `rewrite ${rewrite} ${isDeleted ? "deleted" : "changed"} by ${by} at ${since}${end}`;
}

function profileText({ name, filters, scorers, picker }) {
  const filterNames = filters.map((filter) => filter.name).join(", ") || "none";
  const scorerNames = scorers.map((scorer) => `${scorer.name} × ${scorer.weight}`).join(", ") || "none";
  return `Profile ${name}: filters ${filterNames}; scorers ${scorerNames}; picker ${picker.name}.`;
}

/** What a second profile would have done with the same requests. */
function shadowText({ name, percent: share, decisions, disagreementShare, meanDifferenceMs }) {
  const text = ` Shadow profile ${name} on ${share} %: ${plural(decisions, "decision")}`;
  if (disagreementShare === null) return `${text}.`;
  const later =
    meanDifferenceMs === null
      ? ""
      : `; expected TTFT ${milliseconds(Math.abs(meanDifferenceMs))} ${meanDifferenceMs > 0 ? "longer" : "shorter"}`;
  return `${text}, ${percent(disagreementShare)} of them different${later}.`;
}
