// Rewrite rules: the targets' shares, what became of their requests, guards, mirrors, and weights where they may be changed.

import { at, Kept, keepChildren, make, makeButton, makeCell, makeHead, makeMeter, setText } from "./dom.js";
import { milliseconds, number, percent, whole } from "./format.js";
import { change, mayChange } from "./operate.js";

const HEADS = [
  ["Target", "text"],
  ["Weight", "number"],
  ["Share", "bar"],
  ["Replicas", "number"],
  ["Requests", "number"],
  ["Errors", "number"],
  ["TTFT p50", "number"],
  ["TTFT p95", "number"],
  ["Tokens/s", "number"],
  ["Cached", "number"],
  ["Ended by", "free"],
];
/** "namespace/name/index", where the namespace may be left out. */
const RULE = /^(?:(.+)\/)?([^/]+)\/(\d+)$/;

let generation = 0;
const rules = new Kept(makeRule);

export function drawRollouts({ rewrites, config }) {
  ({ generation } = config);
  at("rewrites-section").hidden = rewrites.length === 0;
  keepChildren(
    at("rewrites"),
    rules.of(rewrites, ({ name, targets }) => JSON.stringify([name, targets.map((each) => each.name)])),
  );
}

function makeRule(first) {
  const [title, notes, mirrors, body] = [make("h3"), make("p", "soft"), make("p", "soft lines"), make("tbody")];
  const table = make("div", "wide", make("table", "cards", makeHead(HEADS), body));
  const targets = first.targets.map(makeTarget);
  body.append(...targets.flatMap(({ row, guardRow }) => [row, guardRow]));
  const weights = makeWeights(targets);
  return {
    element: make("section", "rule", title, notes, table, weights.element, mirrors),
    update(rule) {
      setText(title, rule.models.join(", ") || "every model");
      setText(notes, noteText(rule));
      setText(mirrors, (rule.mirrors ?? []).map(mirrorText).join("\n"));
      table.className = rule.targets.some(({ figures }) => figures) ? "wide" : "wide no-figures";
      for (const [index, target] of rule.targets.entries()) targets[index].update(target);
      weights.update(rule);
    },
  };
}

function noteText({ name, onUnavailable }) {
  return `rule ${name}${onUnavailable === "refuse" ? "" : "; another target takes over where one is not available"}`;
}

function makeTarget() {
  const input = Object.assign(make("input"), { type: "number", min: "0", max: "1000000", step: "1" });
  const weight = make("span");
  const cells = HEADS.map(([label, className]) => makeCell(label, className));
  cells[1].append(weight, input);
  const drawShare = makeMeter(cells[2]);
  const guard = make("td");
  guard.colSpan = HEADS.length;
  const guardRow = make("tr", "guard", guard);
  return {
    input,
    guardRow,
    row: make("tr", "", ...cells),
    update(target) {
      setText(cells[0], target.name);
      setText(weight, whole(target.weight));
      weight.hidden = mayChange();
      input.hidden = !mayChange();
      input.setAttribute("aria-label", `Weight of ${target.name}`);
      drawShare(target.share, percent(target.share));
      const texts = [whole(target.readyEndpoints), ...figureTexts(target.figures)];
      for (const [place, text] of texts.entries()) setText(cells[place + 3], text);
      const isUnserved = target.readyEndpoints + target.onDemandEndpoints === 0;
      cells[3].className = isUnserved && target.weight > 0 ? "number bad" : "number";
      cells[3].title =
        target.onDemandEndpoints === 0 ? "" : `${whole(target.onDemandEndpoints)} more may load it when they are asked`;
      cells[4].title = target.figures
        ? `Since ${target.figures.since}; ${whole(target.figures.unjudged)} of them say nothing of it`
        : "";
      guardRow.hidden = !target.guard;
      if (target.guard) drawGuard(guard, target.guard);
    },
  };
}

/** Empty while there are no figures. */
function figureTexts(figures) {
  if (!figures) return Array(7).fill("");
  const { requests, errorRate, ttftMs, tokensPerSecond, cachedShare, finishReasons } = figures;
  const reasons = Object.entries(finishReasons).map(([reason, count]) => `${reason || "unknown"} ${whole(count)}`);
  return [
    whole(requests),
    interval(errorRate, percent),
    interval(ttftMs?.p50 ?? null, milliseconds),
    interval(ttftMs?.p95 ?? null, milliseconds),
    interval(tokensPerSecond?.mean ?? null, number),
    percent(cachedShare),
    reasons.join(", "),
  ];
}

/** A number, and below it the interval in which the true one is. */
function interval(estimate, text) {
  if (estimate === null) return "–";
  const { value, low, high } = estimate;
  return low === null || high === null ? text(value) : `${text(value)}\n${text(low)} to ${text(high)}`;
}

function drawGuard(cell, { state, text, against }) {
  cell.className = state === "stopped" || state === "blocked" ? "bad" : "soft";
  setText(cell, `Guard against ${against}, ${state}: ${text}`);
}

/** Answers of copies are thrown away; `results` are their statuses or how they ended. */
function mirrorText({ target, percent: share, inFlight, sent, results, skipped, meanFirstByteMs, originalMeanFirstByteMs }) {
  const counts = (record) => Object.entries(record).map(([name, count]) => `${whole(count)} ${name}`);
  return [
    `Mirror: ${share} % of its requests also go to ${target}; ${whole(sent)} sent, ${whole(inFlight)} under way`,
    ...counts(results),
    ...counts(skipped).map((text) => `not sent: ${text}`),
    ...(meanFirstByteMs === null
      ? []
      : [`mean TTFT ${milliseconds(meanFirstByteMs)} against ${milliseconds(originalMeanFirstByteMs)} of their originals`]),
  ].join(", ");
}

/** The button that sends new weights; fields that were edited keep what was entered. */
function makeWeights(targets) {
  let rule;
  let isEdited = false;
  const show = () => {
    element.hidden = !mayChange() || !isEdited;
    if (isEdited) return;
    for (const [index, { input }] of targets.entries()) input.value = String(rule.targets[index].weight);
  };
  const edited = (now) => {
    isEdited = now;
    show();
  };
  const send = async () => edited(!(await sendWeights(rule, targets)));
  const element = make(
    "p",
    "",
    makeButton("Apply weights", send),
    " ",
    makeButton("Reset", () => edited(false)),
  );
  for (const { input } of targets) input.addEventListener("input", () => edited(true));
  return {
    element,
    update(next) {
      rule = next;
      show();
    },
  };
}

async function sendWeights({ name, targets }, rows) {
  const [, namespace, resource, index] = RULE.exec(name) ?? [];
  const body = {
    rule: Number(index),
    targets: targets.map((target, place) => ({ modelRewrite: target.name, weight: rows[place].input.valueAsNumber })),
  };
  const query = namespace === undefined ? "" : `?namespace=${encodeURIComponent(namespace)}`;
  const done = `The weights of ${name} are changed, beside the files.`;
  return change("PATCH", `rewrites/${encodeURIComponent(resource)}${query}`, body, done, { "if-match": `"${generation}"` });
}
