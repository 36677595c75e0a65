import { ENGINE_TIMES, type EngineTimes } from "../../apps/lab/engine/engine-times.ts";
import type { SessionLoop } from "../../apps/lab/simulate/session-arrivals.ts";
import { Simulation } from "../../apps/lab/simulate/simulation.ts";
import type { Trace } from "../../apps/lab/simulate/trace.ts";
import { loadSpec } from "../apps/lab/simulate/load-spec.ts";
import { playSessions } from "../support/closed-loop.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";
import { alphabetTokens, ask, type ConversationShape } from "./conversation-load.ts";
import { BLOCK_TOKENS, messagesOf, placeOf } from "./session-trace.ts";

/** Of the turns whose first token came after the warm-up. */
export interface LoopFigures {
  readonly hitRatio: number;
  readonly turnsPerHour: number;
}

/** On real servers. */
export interface Played extends LoopFigures {
  /** Hits in what the engine had generated itself, which the simulator's engines do not keep. */
  readonly generatedRatio: number;
  /** The mean time of a whole turn, as its client saw it. */
  readonly turnMs: number;
}

export interface Loop extends SessionLoop {
  readonly trace: Trace;
  readonly seed: number;
}

/** On real servers, through a router with this spec; the engines' own counts. Throws where a prompt is not as long as in the trace. */
export async function playOnServers(
  urls: readonly string[],
  { trace, seed, ...loop }: Loop,
  { name, spec }: { readonly name: string; readonly spec: string },
  { texts, shape }: { readonly texts: readonly string[]; readonly shape: ConversationShape },
): Promise<Played> {
  const allowed = await alphabetTokens(urls[0]!);
  const router = await startTestRouter(urls, { spec });
  const answers = new Map<string, string[]>();
  const sums = { prompt: 0, cached: 0, generated: 0 };
  const lengths = new Map(trace.requests.map(({ line, prompt }) => [line, prompt.tokens]));
  try {
    await waitUntil(() => router.router.pool.prefixStats !== undefined);
    const played = await playSessions(
      { trace, replicas: urls.length, timeScale: 1, model: ENGINE_TIMES, seed, loop },
      async ({ request, signal, firstToken }) => {
        const session = request.headers!["x-session-id"]!;
        const { conversation, turn } = placeOf(request, shape);
        const said = answers.get(session) ?? [];
        answers.set(session, said);
        let isCounted = false;
        try {
          const turnOf = await ask({
            ...{ url: router.url, messages: messagesOf(texts[conversation]!, said, shape), answerTokens: shape.answerTokens },
            ...{ salt: `${name} ${session}`, allowed, headers: { "x-session-id": session }, signal },
            firstToken: () => {
              isCounted = firstToken();
            },
          });
          said.push(turnOf.answer);
          if (turnOf.promptTokens !== request.prompt.tokens)
            throw new Error(`A prompt has ${turnOf.promptTokens} tokens, and ${request.prompt.tokens} in the trace`);
          if (!isCounted) return "";
          const known = turn === 0 ? 0 : lengths.get(request.line - 1)!;
          sums.prompt += turnOf.promptTokens;
          sums.cached += turnOf.cachedTokens;
          sums.generated += Math.max(0, turnOf.cachedTokens - (known - (known % BLOCK_TOKENS)));
          return "";
        } catch (thrown) {
          return String(thrown);
        }
      },
    );
    if (played.failures.length > 0) throw new Error(`${played.failures.length} turns failed: ${played.failures[0]}`);
    return {
      hitRatio: sums.cached / sums.prompt,
      generatedRatio: sums.generated / sums.prompt,
      turnsPerHour: played.figures.turnsPerHour,
      turnMs: 1000 * played.figures.turnSeconds.mean,
    };
  } finally {
    await router.close();
  }
}

/** The same in the simulator. */
export async function playSimulated(
  replicas: number,
  { trace, seed, ...sessions }: Loop,
  spec: string,
  model: EngineTimes,
): Promise<LoopFigures> {
  const settings = { replicas, model, seed, sessions, speeds: [], timeScale: 1, tokenError: 0, faults: [], reportsCached: true };
  const { hitRatio, turnsPerHour = 0 } = new Simulation(trace, await loadSpec(spec), settings).run();
  return { hitRatio, turnsPerHour };
}
