// Rewrite rules: the targets' shares, what became of their requests, guards, mirrors, and weights where they may be changed.

import { at, Kept, keepChildren, make, setClass, setText, setTitle } from "./dom.js";
import { milliseconds, number, percent, plural, whole } from "./format.js";
import { change, mayChange } from "./operate.js";

const HEADS = [
  ["Target", ""],
  ["Weight", "number"],
  ["Share", "number"],
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
  const changes = new Map(config.overlay.map((each) => [each.rewrite, each]));
  keepChildren(
    at("rewrites"),
    rules.of(rewrites, ({ name, targets }) => JSON.stringify([name, targets.map((each) => each.name)]), changes),
  );
}

function makeRule(first) {
  const [title, notes, shares, body, foot] = [
    make("h3"),
    make("p", "soft"),
    make("div", "shares"),
    make("tbody"),
    make("div", "foot"),
  ];
  shares.setAttribute("aria-hidden", "true");
  const head = make("tr", "", ...HEADS.map(([name, className]) => Object.assign(make("th", className, name), { scope: "col" })));
  const table = make("div", "wide", make("table", "cards", make("thead", "", head), body));
  const targets = first.targets.map((_, index) => makeTarget(index));
  shares.append(...targets.map(({ part }) => part));
  body.append(...targets.flatMap(({ row, guardRow }) => [row, guardRow]));
  const weights = makeWeights(targets);
  const mirror = make("p", "soft");
  foot.append(weights.element, mirror);
  return {
    element: make("section", "rule", title, notes, shares, table, foot),
    update(rule, changes) {
      setText(title, rule.models.join(", ") || "every model");
      setText(notes, noteText(rule, changes));
      setText(mirror, rule.mirror ? mirrorText(rule.mirror) : "");
      for (const [index, target] of rule.targets.entries()) targets[index].update(target);
      weights.update(rule);
    },
  };
}

function noteText({ name, stickyHeader, onUnavailable }, changes) {
  const { by, until } = changes.get(RULE.exec(name)?.[2]) ?? {};
  return [
    `rule ${name}`,
    stickyHeader ? `sticky by ${stickyHeader}` : "",
    onUnavailable === "refuse" ? "" : "another target takes over where one is not available",
    by === undefined ? "" : `changed beside the files by ${by}${until === null ? "" : `, until ${until}`}`,
  ]
    .filter(Boolean)
    .join("; ");
}

function makeTarget(index) {
  const part = make("span", `share key-${index % 3}`);
  const input = Object.assign(make("input"), { type: "number", min: "0", max: "1000000", step: "1" });
  const weight = make("span");
  const cells = HEADS.map(([label, className]) => {
    const cell = make("td", className);
    cell.dataset.label = label;
    return cell;
  });
  const name = make("span", `dot key-${index % 3}`);
  cells[0].append(name);
  cells[1].append(weight, input);
  const guard = make("td");
  guard.colSpan = HEADS.length;
  const guardRow = make("tr", "guard", guard);
  return {
    part,
    input,
    guardRow,
    row: make("tr", "", ...cells),
    update(target) {
      part.style.flexGrow = String(target.share);
      part.hidden = target.share === 0;
      setText(name, target.name);
      setText(weight, whole(target.weight));
      weight.hidden = mayChange();
      input.hidden = !mayChange();
      input.setAttribute("aria-label", `Weight of ${target.name}`);
      const texts = [percent(target.share), whole(target.readyEndpoints), ...figureTexts(target.figures)];
      for (const [place, text] of texts.entries()) setText(cells[place + 2], text);
      setClass(cells[3], target.readyEndpoints === 0 && target.weight > 0 ? "number bad" : "number");
      setTitle(
        cells[4],
        target.figures ? `Since ${target.figures.since}; ${whole(target.figures.unjudged)} of them say nothing of it` : "",
      );
      guardRow.hidden = !target.guard;
      if (target.guard) drawGuard(guard, target.guard);
    },
  };
}

/** Empty while there are no figures. */
function figureTexts(figures) {
  if (!figures) return ["", "", "", "", "", "", ""];
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

/** A number with the interval in which the true one is. */
function interval(estimate, text) {
  if (estimate === null) return "–";
  const { value, low, high } = estimate;
  return low === null || high === null ? text(value) : `${text(value)} (${text(low)} to ${text(high)})`;
}

function drawGuard(cell, { state, text, against, requests, minRequests, confidence }) {
  setClass(cell, state === "stopped" || state === "blocked" ? "bad" : "soft");
  setText(cell, `Guard against ${against}, ${state}: ${text}`);
  setTitle(
    cell,
    `${plural(requests, "request")} judged, at least ${whole(minRequests)} needed; confidence ${percent(confidence)}`,
  );
}

function mirrorText({ target, share, percent: percents, sent }) {
  const part = share === undefined ? `${percents} %` : percent(share);
  return `Mirror: ${part} of its requests also go to ${target}${sent === undefined ? "" : `; ${plural(sent, "copy")} sent`}.`;
}

/** The button that sends new weights; fields that were edited keep what was entered. */
function makeWeights(targets) {
  const apply = Object.assign(make("button", "", "Apply weights"), { type: "button" });
  const reset = Object.assign(make("button", "", "Reset"), { type: "button" });
  let rule;
  const isEdited = () => targets.some(({ input }, index) => input.value !== String(rule.targets[index].weight));
  const mark = () => {
    const isChanged = isEdited();
    for (const button of [apply, reset]) button.hidden = !mayChange() || !isChanged;
    for (const { input } of targets) input.dataset.edited = String(isChanged);
  };
  const restore = () => {
    for (const [index, { input }] of targets.entries()) input.value = String(rule.targets[index].weight);
    mark();
  };
  for (const { input } of targets) input.addEventListener("input", mark);
  reset.addEventListener("click", restore);
  apply.addEventListener("click", async () => {
    apply.disabled = true;
    if (await sendWeights(rule, targets)) for (const { input } of targets) input.dataset.edited = "false";
    apply.disabled = false;
  });
  return {
    element: make("p", "", apply, " ", reset),
    update(next) {
      rule = next;
      if (targets.every(({ input }) => input.dataset.edited !== "true")) restore();
      else mark();
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
