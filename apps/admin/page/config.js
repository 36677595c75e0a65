// Which config runs, and what the last attempt to change it did.

import { at, textLines } from "./dom.js";
import { milliseconds, percent, plural } from "./format.js";

const drawLines = textLines(at("config-lines"));

export function drawConfig({ configText, shadow }) {
  drawLines(shadow ? [...configText, shadowText(shadow)] : configText);
}

/** What a second profile would have done with the same requests. */
function shadowText({ name, percent: share, decisions, disagreementShare, meanDifferenceMs }) {
  const text = `Shadow profile ${name} on ${share} %: ${plural(decisions, "decision")}`;
  if (disagreementShare === null) return `${text}.`;
  const later =
    meanDifferenceMs === null
      ? ""
      : `; expected TTFT ${milliseconds(Math.abs(meanDifferenceMs))} ${meanDifferenceMs > 0 ? "longer" : "shorter"}`;
  return `${text}, ${percent(disagreementShare)} of them different${later}.`;
}
