// Why one request went where it went: what `signalbox explain` says, as a part of the page.

import { make, makeHead } from "./dom.js";
import { listed, milliseconds, number, percent, plural, whole } from "./format.js";

const CANDIDATES_SHOWN = 12;
const DROPPED_SHOWN = 8;

/** The facts of the request, its tries, and every candidate with its scores. */
export function explanation(decision) {
  const box = make("div", "explanation", make("p", "why", decision.why));
  box.append(factList(decision));
  for (const { filter, endpoints, reasons } of decision.dropped) {
    const names = endpoints.map((name) => (reasons[name] ? `${name} (${reasons[name]})` : name));
    box.append(make("p", "", `Dropped by the filter ${filter}: ${listed(names, DROPPED_SHOWN)}.`));
  }
  for (const { plugin, message } of decision.faults) box.append(make("p", "bad", `The plugin ${plugin} was ignored: ${message}`));
  for (const note of decision.notes ?? []) box.append(make("p", "", note));
  for (const mirror of decision.mirrors ?? []) box.append(make("p", "", mirrorText(mirror)));
  if (decision.shadow) box.append(make("p", "", shadowText(decision.shadow)));
  if (decision.candidates.length > 0) box.append(candidateTable(decision));
  return box;
}

function factList({ id, api, promptTokens, cache, attempts, rule, model, target, isStream, errorCode, principal, session }) {
  const tried = attempts.map(({ endpoint, result }) => `${endpoint || "nowhere"} (${result})`).join(", then ");
  const facts = [
    ["request", id],
    ["asked by", principal?.name ?? ""],
    [
      "session",
      session
        ? `turn ${session.turn} of ${session.name}${session.endpoint === "" ? "" : `; the last one was on ${session.endpoint}`}`
        : "",
    ],
    ["API", `${api}${isStream ? ", streamed" : ""}`],
    ["model", rule === "" ? model : `${model}, which the rule ${rule} turned into ${target}`],
    ["prompt", `about ${plural(promptTokens, "token")}${cacheText(cache)}`],
    ["tries", tried || "none"],
    ["error", errorCode],
  ];
  const parts = facts
    .filter(([, value]) => value !== "")
    .map(([name, value]) => make("div", "", make("dt", "", name), make("dd", "", value)));
  return make("dl", "facts", ...parts);
}

function cacheText(cache) {
  if (cache === null || cache === undefined) return "";
  const { predictedTokens, reportedTokens, reportedPromptTokens } = cache;
  const of = reportedPromptTokens === null ? "" : ` of ${whole(reportedPromptTokens)}`;
  return `; cached there: ${whole(predictedTokens)} expected, ${whole(reportedTokens)}${of} reported`;
}

function mirrorText({ rule, target, skipped, endpoint, status, ending, firstByteMs }) {
  if (skipped !== "") return `No copy for ${target} (${rule}): ${skipped}.`;
  return `A copy for ${target} (${rule}) went to ${endpoint}: ${status || ending || "under way"}, TTFT ${milliseconds(firstByteMs)}.`;
}

function shadowText({ profile, endpoint, refusal, isSame, differenceMs }) {
  if (isSame) return `The shadow profile ${profile} agrees.`;
  if (endpoint === "") return `The shadow profile ${profile} would have refused it: ${refusal}.`;
  const known = typeof differenceMs === "number" && differenceMs !== 0;
  const difference = known ? `, ${milliseconds(Math.abs(differenceMs))} ${differenceMs > 0 ? "later" : "earlier"} expected` : "";
  return `The shadow profile ${profile} would have sent it to ${endpoint}${difference}.`;
}

/** Columns of expectations are shown where the router tells them. */
function candidateTable({ scorers, candidates }) {
  const shown = candidates.slice(0, CANDIDATES_SHOWN);
  const expected = [
    ["cached tokens", "cachedTokens", whole],
    ["tokens to compute", "uncachedTokens", whole],
    ["tokens ahead", "waitingTokens", whole],
    ["first token expected", "firstTokenMs", milliseconds],
  ].filter(([, key]) => shown.some((candidate) => typeof candidate[key] === "number"));
  const titles = [
    "candidate",
    ...expected.map(([title]) => title),
    ...scorers.map(({ name, weight }) => `${name} × ${weight}`),
    "total",
  ];
  const head = makeHead(titles.map((title, index) => [title, index === 0 ? "" : "number"]));
  const rows = shown.map((candidate, place) => candidateRow(candidate, place, expected));
  const table = make("div", "wide", make("table", "", head, make("tbody", "", ...rows)));
  const more = candidates.length - shown.length;
  return make("div", "", table, more > 0 ? make("p", "soft", `and ${plural(more, "more candidate")}`) : "");
}

/** `place` is the candidate's place in the order of tries. A score's weight was multiplied by its confidence. */
function candidateRow(candidate, place, expected) {
  const { endpoint, scores, confidences = [], total } = candidate;
  const score = (value, index) => {
    if (value === null) return "–";
    const confidence = confidences[index] ?? 1;
    return confidence === 1 ? value.toFixed(3) : `${value.toFixed(3)} (${percent(confidence)} sure)`;
  };
  const numbers = [
    ...expected.map(([, key, text]) => text(candidate[key] ?? null)),
    ...scores.map(score),
    number(Math.round(total * 1000) / 1000),
  ];
  return make("tr", place === 0 ? "pick" : "", make("td", "", endpoint), ...numbers.map((text) => make("td", "number", text)));
}
