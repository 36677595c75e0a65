import type { PromptWriter } from "../../lab/simulate/prompt-bytes.ts";
import type { TraceRequest } from "../../lab/simulate/trace.ts";

const COMPLETIONS = "/v1/completions";

/** What stands before and behind the prompt in the body of each API; the prompt is between quotes. */
interface Shape {
  readonly front: string;
  readonly back: string;
  /** Further fields, for so many tokens. */
  fields(outputTokens: number): string;
}

/** Engines that know `ignore_eos` answer with as many tokens as were recorded. */
const exactly = (tokens: number) => `"max_tokens":${tokens},"ignore_eos":true`;
const MESSAGES = { front: '"messages":[{"role":"user","content":', back: "}]" };

const SHAPES: Readonly<Record<string, Shape>> = {
  [COMPLETIONS]: { front: '"prompt":', back: "", fields: exactly },
  "/v1/chat/completions": { ...MESSAGES, fields: exactly },
  "/v1/messages": { ...MESSAGES, fields: (tokens) => `"max_tokens":${tokens}` },
  "/v1/responses": { front: '"input":', back: "", fields: (tokens) => `"max_output_tokens":${tokens}` },
  "/v1/embeddings": { front: '"input":', back: "", fields: () => "" },
};

/** The recorded API, if a body can be made for it; completions else. */
export function pathOf({ served }: TraceRequest): string {
  return served !== undefined && Object.hasOwn(SHAPES, served.path) ? served.path : COMPLETIONS;
}

/**
 * A body of the recorded length: prompts begin alike where the recorded ones did. Letters, digits, "-" and "_" stand for themselves in JSON,
 * so the prompt's bytes are put between quotes as they are.
 */
export function bodyOf(traced: TraceRequest, writer: PromptWriter, model = traced.model): Buffer {
  const path = pathOf(traced);
  const { front, back, fields } = SHAPES[path]!;
  const isStream = (traced.served?.isStream ?? true) && path !== "/v1/embeddings";
  const usage = isStream && /completions$/.test(path) ? ',"stream_options":{"include_usage":true}' : "";
  const more = [isStream ? `"stream":true${usage}` : "", fields(traced.outputTokens)].filter((part) => part !== "");
  const head = Buffer.from(`{"model":${JSON.stringify(model)},${more.map((part) => `${part},`).join("")}${front}"`);
  return Buffer.concat([head, writer.write(traced), Buffer.from(`"${back}}`)]);
}
