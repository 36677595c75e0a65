import type { Clock } from "../contract/clock.ts";
import { RouterError } from "../contract/errors.ts";
import type { Feature } from "../contract/feature.ts";
import type { Outcome } from "../contract/outcome.ts";
import type { Definition } from "../contract/plugin.ts";
import type { Answer } from "../contract/slots/answer.ts";
import type { RequestHead, RequestRun } from "../contract/slots/request-run.ts";
import type { TappedResponse } from "../contract/slots/tap.ts";
import { createPlugin, makeHeaders, makeRequest } from "../contract/test-kit.ts";
import { isolatedFeature } from "../control/isolation/isolated-feature.ts";
import { Outside } from "../control/isolation/outside.ts";
import { ReadOnlyViews } from "../control/isolation/read-only-views.ts";
import { makeOutcome } from "./records.ts";

/** What of a request a test says; the rest is a usual chat request. */
interface AskedRun extends Partial<Omit<RequestRun, "head" | "body">> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  /** The body's text. */
  readonly text?: string;
}

/** A chat request on its way, as features see it: its head, its body and what was parsed. */
export function makeRun({ headers = {}, method = "POST", text = '{"model":"base"}', ...others }: AskedRun = {}): RequestRun {
  const ticket = others.ticket ?? makeOutcome({ method });
  const head: RequestHead = { method, target: ticket.path, ...makeHeaders(headers) };
  const bytes = new TextEncoder().encode(text);
  const parsed = makeRequest({ headers: head, body: bytes });
  return {
    ticket,
    head,
    query: "",
    peer: "127.0.0.1",
    dialect: "openai",
    body: { bytes, span: () => undefined },
    parsed,
    ...others,
  };
}

/** What a replica responds in a test. */
export interface PlayedResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, as it passes. */
  readonly chunks?: readonly string[];
  /** False: it breaks off. */
  readonly isWhole?: boolean;
}

/** What came of a request. */
export interface Played {
  /** The error that the client gets; undefined if no slot refuses the request. */
  readonly refusal: RouterError | undefined;
  /** Whether it has to wait. */
  readonly waits: boolean;
  /** The feature's own answer; undefined: the replica's response passed. */
  readonly answer: Answer | undefined;
  readonly lines: string;
  readonly notes: readonly string[];
  /** What the router would report of the feature: thrown values that are no RouterErrors, promises and values that no slot takes. */
  readonly faults: readonly string[];
}

/** Nothing falls due in a test. */
const CLOCK: Clock = { now: () => 0, wall: () => 0, after: () => () => {}, every: () => () => {} };

/**
 * Plays one request through a feature's slots in their order, with the isolation that the router puts around features of one's own.
 *
 * @example
 * const { refusal } = await playFeature(createPlugin(plugin, { mostTokens: 5 }), makeRun());
 */
export async function playFeature(feature: Feature, run: RequestRun, response: PlayedResponse = {}): Promise<Played> {
  const faults: string[] = [];
  const report = (_name: string, fault: string) => void faults.push(fault);
  const outside = new Outside({
    name: "feature",
    file: "",
    views: new ReadOnlyViews(),
    clock: CLOCK,
    faults: { report },
    waitMs: 0,
  });
  const plugin = isolatedFeature(feature, outside);
  const way = { waits: false, answer: undefined as Answer | undefined };
  let refusal: RouterError | undefined;
  try {
    await plugin.enter?.(run);
    way.waits = plugin.admit?.(run, { admitted() {}, failed() {} }) !== undefined;
    way.answer = await plugin.answer?.(run);
  } catch (thrown) {
    if (!(thrown instanceof RouterError)) throw thrown;
    refusal = thrown;
    if (thrown.fault !== undefined) faults.push(thrown.fault.text);
  }
  const lines = plugin.lines?.(run) ?? "";
  if (refusal === undefined && way.answer === undefined) pass(plugin, run, response);
  const outcome = endedOf(run, way.answer, refusal, response);
  plugin.settled?.(outcome);
  const notes = plugin.explain?.(outcome) ?? [];
  return { refusal, ...way, lines, notes, faults };
}

/** The response passes, and the feature may look. */
function pass(
  plugin: Feature,
  run: RequestRun,
  { status = 200, headers = {}, chunks = [], isWhole = true }: PlayedResponse,
): void {
  const isEventStream = headers["content-type"] === "text/event-stream";
  const seen: TappedResponse = {
    status,
    headers: makeHeaders(headers),
    length: -1,
    isEventStream,
    isBetweenEvents: true,
    insert: () => true,
  };
  const tap = plugin.tap?.(run, seen);
  for (const chunk of chunks) {
    const bytes = new TextEncoder().encode(chunk);
    tap?.read(bytes, [0, bytes.length], 1);
  }
  tap?.end(isWhole);
}

function endedOf(
  { ticket }: RequestRun,
  answer: Answer | undefined,
  refusal: RouterError | undefined,
  { status = 200 }: PlayedResponse,
): Outcome {
  const times = { ...ticket.times, ...((answer ?? refusal) && { dispatchedMs: Number.NaN }) };
  const error = refusal && { code: refusal.code, message: refusal.message };
  return { ...ticket, times, status: refusal?.status ?? answer?.status ?? status, error };
}

/** Requests and responses of all kinds that a feature may meet. */
const PLAYS: readonly (readonly [name: string, run: AskedRun, response: PlayedResponse])[] = [
  ["a chat request", {}, { headers: { "content-type": "application/json" }, chunks: ['{"choices":', "[]}"] }],
  ["a stream", {}, { headers: { "content-type": "text/event-stream" }, chunks: ["data: 1\n\n", "data: [DONE]\n\n"] }],
  ["a response that breaks off", {}, { chunks: ["data"], isWhole: false }],
  ["an error of the replica", {}, { status: 500, chunks: ["{}"] }],
  ["a request without a body", { method: "GET", body: undefined, parsed: undefined } as AskedRun, { status: 404 }],
  ["headers that may be anything", { headers: { "x-cache": "\u0000", authorization: "x".repeat(9_000) } }, {}],
  [
    "a request that was not understood",
    { parsed: undefined, ticket: makeOutcome({ request: undefined, decision: undefined, status: 400 }) },
    {},
  ],
];

/**
 * Checks what each feature promises, with requests of all kinds: it throws nothing but RouterErrors, returns what its slots take, writes
 * nothing into what it is given, and says of itself what people can be shown. Rejects with an Error that says where it is broken.
 *
 * @example
 * test("keeps its contract", () => checkFeature(plugin));
 */
export async function checkFeature(definition: Definition<"feature">, parameters: unknown = {}): Promise<void> {
  const feature = createPlugin(definition, parameters);
  for (const [name, asked, response] of PLAYS) {
    const { faults } = await playFeature(feature, { ...makeRun(asked), ...("body" in asked && { body: undefined }) }, response);
    if (faults[0] !== undefined) throw new Error(`The feature "${definition.type}", with ${name}: ${faults[0]}`);
  }
  JSON.stringify(feature.status?.(undefined, undefined));
}
