import type { Call, Choice, GenerationApi, Reply, StreamScript } from "./call.ts";
import type { Exchange } from "./exchange.ts";
import { randomHex } from "./exchange.ts";
import { optionalInteger, optionalString, parseBody } from "./fields.ts";
import type { MockSettings } from "./options.ts";
import { Problem } from "./problem.ts";
import type { ReplicaState } from "./state.ts";
import { byteTokensOf, hashNumbers, hashText, madeUpTokens, tokensOf } from "./tokens.ts";

type Output = Pick<Choice, "tokens" | "finish">;

/** Responds to one request of a generation API, as a whole or as a stream. Throws a Problem before anything is sent. */
export function generateAnswer(api: GenerationApi, exchange: Exchange, state: ReplicaState): void {
  const reply = replyTo(api, exchange, state);
  const script = reply.call.isStream ? api.stream(reply) : undefined;
  if (script) {
    exchange.openStream();
    exchange.events(script.opening());
  }
  let open = reply.choices.length;
  const startedMs = state.settings.clock.now();
  const cancels = reply.choices.map((choice) =>
    state.engine.submit({
      prompt: choice.prompt,
      replyTokens: choice.tokens.length,
      cacheKey: `${reply.model}\n${reply.call.cacheSalt}`,
      adapter: reply.model === state.settings.model ? "" : reply.model,
      admitted(cachedTokens) {
        choice.cachedTokens = cachedTokens;
      },
      token() {
        choice.sent += 1;
        if (choice.sent === 1) state.metrics.firstToken(state.settings.clock.now() - startedMs);
        if (script) sendTokens(script, exchange, choice, state.settings.streamInterval);
      },
      finished() {
        state.metrics.finished(choice.finish);
        open -= 1;
        if (open > 0) return;
        if (script) exchange.endStream(script.closing());
        else exchange.json(200, api.answer(reply));
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

function replyTo(api: GenerationApi, exchange: Exchange, state: ReplicaState): Reply {
  const { settings } = state;
  const body = parseBody(exchange.record.body);
  const call = api.read(body);
  const model = state.adapters.resolve(optionalString(body, "model"));
  checkLimit(call, settings.maxModelTokens);
  checkPrompts(call.prompts, settings.maxModelTokens);
  const choices: Choice[] = [];
  for (const prompt of call.prompts) {
    for (let sample = 0; sample < call.samples; sample++) {
      const output = settings.isEcho
        ? echoOutput(api, exchange, settings.maxModelTokens - prompt.length)
        : madeUpOutput(call, settings, model, prompt, sample);
      choices.push({ index: choices.length, prompt, ...output, sent: 0, cachedTokens: 0 });
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

/** The complete output, known from the start. The same request to the same model gets the same output. */
function madeUpOutput(call: Call, settings: MockSettings, model: string, prompt: readonly number[], sample: number): Output {
  const room = settings.maxModelTokens - prompt.length;
  const most = Math.min(call.maxTokens ?? call.defaultMaxTokens ?? room, room);
  const natural = Math.max(settings.replyTokens, optionalInteger(call.body, "min_tokens") ?? 0);
  const count = call.body["ignore_eos"] === true ? most : Math.min(most, natural);
  const seed = hashNumbers(prompt, hashText(`${model}\n${optionalInteger(call.body, "seed") ?? 0}\n${sample}`, 0x811c9dc5));
  return { tokens: madeUpTokens(seed, count), finish: count === most ? "length" : "stop" };
}

/** The request as JSON, so that a test sees what a proxy has sent. */
function echoOutput(api: GenerationApi, { record }: Exchange, room: number): Output {
  const { method, path, headers, body } = record;
  const text = JSON.stringify({ method, path, headers, body: body.toString("utf8") });
  const tokens = api.hasTokenIdsOnly ? byteTokensOf(text) : tokensOf(text);
  return { tokens: tokens.slice(0, room), finish: tokens.length > room ? "length" : "stop" };
}
