import type { Feature } from "../../contract/feature.ts";
import { printable } from "../../contract/printable.ts";
import type { InferenceRequest } from "../../contract/request.ts";
import { ignoresPromise } from "../../contract/returned-promise.ts";
import type { CompareSlot } from "../../contract/slots/compare.ts";
import type { PlanSlot } from "../../contract/slots/plan.ts";
import { checkedFamilies } from "./checked-families.ts";
import { checkedAnswer, checkedHeader, checkedRoutes, MOST_LINES_BYTES } from "./isolated-answer.ts";
import { admitting } from "./isolated-place.ts";
import { isolatedTap } from "./isolated-tap.ts";
import type { Outside } from "./outside.ts";

/**
 * A feature of one's own as the router calls it. It sees views of a request that it can't write, and none of the router's parts. What it
 * throws while it decides about a request (enter, admit, answer) fails that request by its name, unless it is a RouterError; everywhere
 * else it is reported, and changes nothing. Throws TypeError for paths that can't be answered.
 */
export function isolatedFeature(feature: Feature, outside: Outside): Feature {
  const { views } = outside;
  const { enter, answer, plan, mayAnswer, compare, copy, tap, lines, settled, explain } = feature;
  return {
    ...(enter && {
      enter: (run) =>
        outside.awaited(
          "enter",
          () => enter.call(feature, outside.run(run)),
          () => undefined,
        ),
    }),
    ...admitting(feature, outside),
    ...(answer && { answer: (run) => outside.awaited("answer", () => answer.call(feature, outside.run(run)), checkedAnswer) }),
    ...(feature.routes && { routes: checkedRoutes(feature.routes, outside) }),
    ...(plan && { plan: planning(plan.bind(feature), outside) }),
    ...(mayAnswer && {
      mayAnswer: (endpoint) => outside.told("mayAnswer", () => mayAnswer.call(feature, views.of(endpoint)), true) !== false,
    }),
    ...(compare && { compare: comparing(compare.bind(feature), outside) }),
    ...(copy && {
      copy(run, request, choose) {
        let isCalled = true;
        const chosen = (wanted: InferenceRequest) => {
          if (!isCalled) throw new TypeError("choose was called later: a copy is decided about while copy runs");
          return views.of(choose(views.real(wanted)));
        };
        outside.told("copy", () => copy.call(feature, outside.run(run), views.of(request), chosen), undefined);
        isCalled = false;
      },
    }),
    ...(tap && { tap: (run, response) => isolatedTap(tap.bind(feature), run, response, outside) }),
    ...(lines && { lines: (run) => outside.told("lines", () => headerLines(lines.call(feature, outside.run(run))), "") }),
    ...(settled && { settled: (outcome) => outside.told("settled", () => settled.call(feature, views.of(outcome)), undefined) }),
    ...(explain && { explain: (outcome) => sentences("explain", () => explain.call(feature, views.of(outcome)), outside) }),
    ...shownOf(feature, outside),
    ...lifeOf(feature, outside),
  };
}

/** Legs that the router has decided, in the feature's order; the decision is otherwise that of the first one. */
function planning(plan: NonNullable<PlanSlot["plan"]>, outside: Outside): NonNullable<PlanSlot["plan"]> {
  const { views } = outside;
  return (planned) => {
    const made: ReturnType<typeof plan>[] = [];
    const given: typeof planned = {
      request: views.of(planned.request),
      load: views.of(planned.load),
      profile: views.of(planned.profile),
      decide(wanted, peer) {
        made.push(planned.decide(views.real(wanted), peer && views.real(peer)));
        return views.of(made.at(-1)!);
      },
    };
    return outside.asked("plan", () => {
      const returned = plan(Object.freeze(given));
      if (ignoresPromise(returned)) throw new TypeError("plan returned a promise, and nothing waits for one there");
      const real = returned.legs.map((leg) => made.flatMap((each) => each.legs).find((each) => each === views.real(leg)));
      const first = made.find((each) => each.legs[0] === real[0]);
      if (first === undefined || real.includes(undefined)) throw new TypeError("plan must return legs of what decide returned");
      return { ...first, legs: real as (typeof first)["legs"] };
    });
  };
}

/** The decision is the router's, whatever the feature returns. */
function comparing(compare: NonNullable<CompareSlot["compare"]>, outside: Outside): NonNullable<CompareSlot["compare"]> {
  const { views } = outside;
  return (run, compared) => {
    const { profile, random } = compared;
    let decision: ReturnType<typeof compare> | undefined;
    let isCalled = true;
    const decide: typeof compared.decide = (wanted, chance) => {
      if (!isCalled) throw new TypeError("decide was called later: profiles are compared while compare runs");
      if (views.real(wanted) !== profile) throw new TypeError("decide was called with a profile that it was not given");
      const made = compared.decide(profile, chance);
      decision ??= made;
      return views.of(made);
    };
    const given = {
      request: views.of(compared.request),
      load: views.of(compared.load),
      profile: views.of(profile),
      random,
      decide,
    };
    outside.told("compare", () => views.real<unknown>(compare(outside.run(run), Object.freeze(given))), undefined);
    isCalled = false;
    return decision ?? compared.decide(profile, random);
  };
}

/** What people see. */
function shownOf(feature: Feature, outside: Outside): Feature {
  const { views, name } = outside;
  const { status, warnings, metrics, notes } = feature;
  return {
    ...(status && {
      status(rule, target) {
        // Written as JSON here, because it will be JSON in the status: a value that has no JSON must not break the rest of the status.
        const text = outside.told("status", () => documentText(status.call(feature, rule, target)), "{}");
        return text === "{}" ? {} : { features: { [name]: JSON.parse(text) } };
      },
    }),
    ...(warnings && { warnings: (view) => sentences("warnings", () => warnings.call(feature, views.of(view)), outside) }),
    ...(notes && { notes: (rule) => sentences("notes", () => notes.call(feature, rule), outside) }),
    ...(metrics && {
      metrics: (view) => outside.told("metrics", () => checkedFamilies(metrics.call(feature, views.of(view))), []),
    }),
  };
}

function documentText(document: unknown): string {
  if (ignoresPromise(document) || typeof document !== "object" || document === null || Array.isArray(document))
    throw new TypeError("status must return an object, {} for nothing");
  const text: unknown = JSON.stringify(document);
  if (typeof text === "string" && text.startsWith("{")) return text;
  throw new TypeError("status must return an object that is one as JSON too, and its toJSON returned something else");
}

/** What becomes of the router and its replicas. */
function lifeOf(feature: Feature, outside: Outside): Feature {
  const { views } = outside;
  const { lost, freesBody, replicaGone } = feature;
  return {
    ...(lost && {
      lost: (run, endpoint, sentAtMs) =>
        outside.told("lost", () => lost.call(feature, outside.run(run), views.of(endpoint), sentAtMs), undefined),
    }),
    ...(freesBody && {
      freesBody: (run) => outside.told("freesBody", () => freesBody.call(feature, outside.run(run)), undefined),
    }),
    ...(replicaGone && {
      replicaGone: (endpoint) => outside.told("replicaGone", () => replicaGone.call(feature, views.of(endpoint)), undefined),
    }),
    configured: ({ pool }) => outside.told("configured", () => feature.configured?.(Object.freeze({ pool })), undefined),
    endpointsChanged: (endpoints) =>
      outside.told("endpointsChanged", () => feature.endpointsChanged?.(views.of(endpoints)), undefined),
    stopAnnounced: () => outside.told("stopAnnounced", () => feature.stopAnnounced?.(), undefined),
    closed: () => outside.told("closed", () => feature.closed?.(), undefined),
  };
}

const MOST_SENTENCES = 20;
const LONGEST_SENTENCE = 500;

function sentences(method: string, call: () => readonly string[], outside: Outside): readonly string[] {
  return outside.told(method, () => {
    const said: unknown = call();
    if (!Array.isArray(said) || said.some((each) => typeof each !== "string")) {
      ignoresPromise(said);
      throw new TypeError(`${method} must return a list of sentences`);
    }
    return said.slice(0, MOST_SENTENCES).map((each: string) => printable(each.slice(0, LONGEST_SENTENCE)));
  }, []);
}

/** Throws TypeError unless these are complete lines: a part of a line would run into the next one, or end the head. */
function headerLines(lines: unknown): string {
  ignoresPromise(lines);
  if (lines === "" || lines === undefined) return "";
  if (typeof lines !== "string" || !lines.endsWith("\r\n"))
    throw new TypeError("lines must return complete lines, each with \\r\\n");
  if (lines.length > MOST_LINES_BYTES) throw new TypeError(`lines must return ${MOST_LINES_BYTES} bytes at most`);
  for (const line of lines.slice(0, -2).split("\r\n")) {
    const nameEnd = line.indexOf(":");
    checkedHeader(line.slice(0, Math.max(0, nameEnd)), line.slice(nameEnd + 1));
  }
  return lines;
}
