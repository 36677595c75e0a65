import {
  type Call,
  type Choice,
  DONE_EVENT,
  dataEvent,
  type GenerationApi,
  type Output,
  type Reply,
  type StreamScript,
} from "./call.ts";
import type { Engine, Sequence } from "./engine.ts";
import { type Exchange, randomHex } from "./exchange.ts";
import { cacheSalt, flag, type JsonObject, optionalInteger, optionalString, parseBody } from "./fields.ts";
import type { Arrival, Leg } from "./legs/leg.ts";
import { cacheKeyOf, legOf } from "./legs/leg-of.ts";
import type { MockSettings } from "./options.ts";
import { Problem, problemBody } from "./problem.ts";
import type { ReplicaState } from "./state.ts";
import { byteTokensOf, hashNumbers, hashText, madeUpTokens, tokensOf } from "./tokens.ts";

/** Responds to one request of a generation API, as a whole or as a stream. Throws a Problem before anything is sent. */
export function generateAnswer(api: GenerationApi, exchange: Exchange, state: ReplicaState): void {
  const body = parseBody(exchange.record.body);
  const reply = replyTo(api, exchange, state, body);
  const leg = legOf(exchange, state, body, reply);
  const startedMs = state.settings.clock.now();
  if (leg) return answerLeg({ api, exchange, state, reply: leg.isPrefillOnly ? cutToOne(reply) : reply, startedMs }, leg);
  const answer: Answer = { api, exchange, state, reply, startedMs };
  const script = begin(answer);
  generate(answer, script, undefined, () => finish(answer, script));
}

/** One response in progress. */
interface Answer {
  readonly api: GenerationApi;
  readonly exchange: Exchange;
  readonly state: ReplicaState;
  readonly reply: Reply;
  readonly startedMs: number;
}

/** Sends the head of a stream; undefined where the response is sent as a whole. */
function begin({ api, exchange, reply }: Answer): StreamScript | undefined {
  const script = reply.call.isStream ? api.stream(reply) : undefined;
  if (script) {
    exchange.openStream();
    exchange.events(script.opening?.() ?? []);
  }
  return script;
}

function finish({ api, exchange, reply }: Answer, script: StreamScript | undefined): void {
  if (script) exchange.endStream(script.closing());
  else exchange.json(200, api.answer(reply));
}

/** A leg of a pair: the engine starts when the leg says so, and the response ends when the leg is done. */
function answerLeg(answer: Answer, leg: Leg): void {
  const { api, exchange, reply } = answer;
  let script: StreamScript | undefined;
  const fail = (error: unknown) => failAnswer(api, exchange, script, error);
  exchange.onEnd(() => leg.end());
  const run = async () => {
    if (!(await leg.prepare())) return;
    if (!exchange.isOver) script = begin(answer);
    const arrival = await leg.arrive();
    if (exchange.isOver) return;
    generate(answer, script, arrival, () => {
      leg.depart(reply).then(() => finish(answer, script), fail);
    });
  };
  run().catch(fail);
}

/** As vLLM: what fails once the head of a stream is out is its last event, with status 200. */
function failAnswer(api: GenerationApi, exchange: Exchange, script: StreamScript | undefined, error: unknown): void {
  const problem = error instanceof Problem ? error : new Problem(500, "InternalServerError", String(error));
  if (script === undefined) return exchange.problem(problem, api.isAnthropic ?? false);
  const body = problemBody(problem, false) as object;
  const events = script.failing ? script.failing(body) : [dataEvent(body), DONE_EVENT];
  if (events) exchange.endStream(events);
  else if (!exchange.isOver) exchange.cut(false);
}

/** A server that only prefills makes one token, whatever the client wants. */
function cutToOne(reply: Reply): Reply {
  return {
    ...reply,
    choices: reply.choices.map((choice) => ({ ...choice, tokens: choice.tokens.slice(0, 1), finish: "length" })),
  };
}

/** Has the engine compute all choices, and sends the events of a stream. */
function generate(answer: Answer, script: StreamScript | undefined, arrival: Arrival | undefined, finished: () => void): void {
  const { exchange, state, reply, startedMs } = answer;
  const { settings, metrics } = state;
  let hasBegun = false;
  const sequences = reply.choices.map(
    (choice, index): Sequence => ({
      prompt: choice.prompt,
      replyTokens: choice.tokens.length,
      cacheKey: cacheKeyOf(reply),
      adapter: reply.model === settings.model ? "" : reply.model,
      // The transfer was for the first one; the others find it in the cache.
      ...(index === 0 && arrival && { received: arrival }),
      admitted(cachedTokens) {
        const isReceived = index === 0 && arrival !== undefined;
        choice.foundTokens = isReceived ? arrival.local + arrival.external : cachedTokens;
        choice.cachedTokens = isReceived ? (arrival.reported ?? choice.foundTokens) : cachedTokens;
      },
      token() {
        choice.sent += 1;
        if (choice.sent === 1) metrics.firstTokenS.add((settings.clock.now() - startedMs) / 1000);
        if (!script) return;
        if (!hasBegun) exchange.events(script.first?.(choice) ?? []);
        hasBegun = true;
        sendTokens(script, exchange, choice, settings.streamInterval);
      },
      finished() {
        metrics.finished[choice.finish] += 1;
      },
    }),
  );
  compute(exchange, state.engine, sequences, finished);
}

/** Has the engine compute all of it, as long as the client waits for it; then calls `finished`. */
export function compute(exchange: Exchange, engine: Engine, sequences: readonly Sequence[], finished: () => void): void {
  let open = sequences.length;
  const cancels = sequences.map((sequence) =>
    engine.submit({
      ...sequence,
      finished() {
        sequence.finished?.();
        open -= 1;
        if (open === 0) finished();
      },
    }),
  );
  exchange.onEnd(() => {
    for (const cancel of cancels) cancel();
  });
}

/** Sends the first token at once, then every `interval` of them together, and what is left with the last one. */
function sendTokens(script: StreamScript, exchange: Exchange, choice: Choice, interval: number): void {
  const { tokens, sent } = choice;
  const isLast = sent === tokens.length;
  const held = (sent - 1) % interval;
  if (held > 0 && !isLast) return;
  const count = sent === 1 ? 1 : held || interval;
  exchange.events(script.tokens(choice, tokens.slice(sent - count, sent), isLast));
}

function replyTo(api: GenerationApi, exchange: Exchange, state: ReplicaState, body: JsonObject): Reply {
  const { settings } = state;
  const call: Call = {
    samples: 1,
    maxTokens: undefined,
    limitName: undefined,
    defaultMaxTokens: undefined,
    hasUsage: true,
    hasRunningUsage: false,
    dictated: undefined,
    body,
    ...api.read(body),
    isStream: flag(body, "stream"),
    cacheSalt: cacheSalt(body),
  };
  const model = state.adapters.resolve(optionalString(body, "model"));
  checkLimit(call, settings.maxModelTokens);
  checkPrompts(call.prompts, settings.maxModelTokens);
  const choices: Choice[] = [];
  for (const prompt of call.prompts) {
    const room = settings.maxModelTokens - prompt.length;
    for (let sample = 0; sample < call.samples; sample++) {
      const output = settings.isEcho
        ? echoOutput(api, exchange, room)
        : (dictatedOutput(call, room) ?? madeUpOutput(call, settings, model, prompt, sample));
      choices.push({ index: choices.length, prompt, ...output, sent: 0, cachedTokens: 0, foundTokens: 0 });
    }
  }
  return {
    id: exchange.clientId ?? randomHex(16),
    itemId: randomHex(16),
    createdS: Math.floor(settings.clock.wall() / 1000),
    model,
    blockTokens: settings.blockTokens,
    call,
    choices,
    transferParams: null,
  };
}

function checkLimit({ maxTokens, limitName }: Call, maxModelTokens: number): void {
  if (limitName === undefined || maxTokens === undefined || maxTokens <= maxModelTokens) return;
  const message = `${limitName}=${maxTokens} cannot be greater than max_model_len=${maxModelTokens}. Please request fewer output tokens.`;
  throw new Problem(400, "BadRequestError", `${message} (parameter=${limitName}, value=${maxTokens})`, { param: limitName });
}

/** Refuses prompts that are too long for the model; such a prompt would block the engine forever. */
export function checkPrompts(prompts: readonly (readonly number[])[], maxModelTokens: number): void {
  if (prompts.every((prompt) => prompt.length < maxModelTokens)) return;
  const message =
    `This model's maximum context length is ${maxModelTokens} tokens. However, your prompt contains at least ` +
    `${maxModelTokens + 1} input tokens, which exceeds this limit even without any output tokens. ` +
    `Please reduce the length of the input prompt. (parameter=input_tokens, value=${maxModelTokens + 1})`;
  throw new Problem(400, "BadRequestError", message, { param: "input_tokens" });
}

/** Undefined where the request prescribes no form. */
function dictatedOutput({ dictated, maxTokens, defaultMaxTokens }: Call, room: number): Output | undefined {
  if (dictated === undefined) return undefined;
  const tokens = tokensOf(dictated.text);
  const most = Math.min(maxTokens ?? defaultMaxTokens ?? room, room);
  return { tokens: tokens.slice(0, most), finish: tokens.length > most ? "length" : "stop", tool: dictated.tool };
}

/** The complete output, known from the start. The same request to the same model gets the same output. */
function madeUpOutput(call: Call, settings: MockSettings, model: string, prompt: readonly number[], sample: number): Output {
  const room = settings.maxModelTokens - prompt.length;
  const most = Math.min(call.maxTokens ?? call.defaultMaxTokens ?? room, room);
  const natural = Math.max(settings.replyTokens, optionalInteger(call.body, "min_tokens") ?? 0);
  const count = call.body["ignore_eos"] === true ? most : Math.min(most, natural);
  const seed = hashNumbers(prompt, hashText(`${model}\n${optionalInteger(call.body, "seed") ?? 0}\n${sample}`, 0x811c9dc5));
  return { tokens: madeUpTokens(seed, count), finish: count === most ? "length" : "stop", tool: "" };
}

/** The request as JSON, so that a test sees what a proxy has sent. */
function echoOutput(api: GenerationApi, { record }: Exchange, room: number): Output {
  const { method, path, headers, body } = record;
  const text = JSON.stringify({ method, path, headers, body: body.toString("utf8") });
  const tokens = api.hasTokenIdsOnly ? byteTokensOf(text) : tokensOf(text);
  return { tokens: tokens.slice(0, room), finish: tokens.length > room ? "length" : "stop", tool: "" };
}
