import { Prompt, type Trace, type TraceRequest } from "../../apps/lab/simulate/trace.ts";
import { seededRandom } from "../../core/contract/test-kit.ts";
import { ALPHABET, type ConversationShape, type Message, pieceOf } from "./conversation-load.ts";

/** As startVllm sets it. */
export const BLOCK_TOKENS = 32;
/** Ids of blocks are conversation and place in one number; no prompt is that many blocks long. */
const MOST_BLOCKS = 1_000;
const SEED = 1;

export interface TraceShape extends ConversationShape {
  /** Between turns a person thinks for a time between 0 and twice this. */
  readonly thinkMs: number;
}

/** The place of a trace's request: its conversation and turn, both from 0. */
export function placeOf({ line }: TraceRequest, { turns }: ConversationShape) {
  return { conversation: Math.floor((line - 1) / turns), turn: (line - 1) % turns };
}

/** The prompt of that turn after these answers. */
export function messagesOf(text: string, answers: readonly string[], shape: ConversationShape): readonly Message[] {
  const said = (turn: number): Message => ({ role: "user", content: pieceOf(text, turn, shape) });
  return [...answers.flatMap((content, turn): Message[] => [said(turn), { role: "assistant", content }]), said(answers.length)];
}

/**
 * The conversations as the simulator reads them: a session each, in an engine's own blocks. All answers have the same length, so
 * prompts are as long with any other of it.
 */
export async function traceOf(
  texts: readonly string[],
  shape: TraceShape,
  tokensOf: (messages: readonly Message[]) => Promise<number>,
): Promise<Trace> {
  const random = seededRandom(SEED);
  const answer = ALPHABET.repeat(Math.ceil(shape.answerTokens / ALPHABET.length)).slice(0, shape.answerTokens);
  const requests: TraceRequest[] = [];
  for (const [conversation, text] of texts.entries()) {
    let atMs = 0;
    for (let turn = 0; turn < shape.turns; turn++) {
      atMs += 2 * shape.thinkMs * random();
      const tokens = await tokensOf(messagesOf(text, Array<string>(turn).fill(answer), shape));
      requests.push({
        line: requests.length + 1,
        atMs,
        prompt: promptOf(conversation, turn, tokens, shape.turns),
        outputTokens: shape.answerTokens,
        model: "tiny",
        turn: { session: `conversation-${conversation}`, tookMs: 0 },
      });
    }
  }
  return { name: "conversations", requests: requests.sort((a, b) => a.atMs - b.atMs), hasPrefixes: true, skippedLines: 0 };
}

/** The same with each pause longer by this. */
export function withPauses(trace: Trace, shape: ConversationShape, ms: number): Trace {
  const requests = trace.requests.map((request) => ({ ...request, atMs: request.atMs + ms * placeOf(request, shape).turn }));
  return { ...trace, requests: requests.sort((a, b) => a.atMs - b.atMs) };
}

/** Whole blocks are those of the conversation; what is behind the last one, no other turn has. */
function promptOf(conversation: number, turn: number, tokens: number, turns: number): Prompt {
  const first = 1 + conversation * (MOST_BLOCKS + turns);
  const whole = Math.floor(tokens / BLOCK_TOKENS);
  const blocks = Array.from({ length: whole }, (_, index) => first + index);
  if (tokens % BLOCK_TOKENS > 0) blocks.push(first + MOST_BLOCKS + turn);
  return new Prompt(tokens, Int32Array.from(blocks), (block) => block * BLOCK_TOKENS);
}
