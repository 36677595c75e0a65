import type { Prompt, Trace, TraceRequest } from "./trace.ts";

/** The turns of one client, as they were recorded. */
export interface TraceSession {
  readonly name: string;
  /** When its first turn came, on the trace's clock. */
  readonly startMs: number;
  readonly turns: readonly SessionTurn[];
  /** Positions of the turns that come some time after the beginning, after the first turn, after the second, and so on. */
  readonly followers: readonly (readonly number[])[];
}

export interface SessionTurn {
  readonly request: TraceRequest;
  /** From the end of the turn that it follows, or from the session's beginning. */
  readonly thinkMs: number;
  /** Tokens in the leading blocks of its prompt that an earlier turn of the session had. */
  readonly knownTokens: number;
}

/** The sessions of a trace, by the time at which they begin. */
export function sessionsOf({ requests }: Trace): readonly TraceSession[] {
  const bySession = new Map<string, TraceRequest[]>();
  for (const request of requests) {
    if (request.turn === undefined) continue;
    const turns = bySession.get(request.turn.session);
    if (turns === undefined) bySession.set(request.turn.session, [request]);
    else turns.push(request);
  }
  return Array.from(bySession, ([name, turns]) => ({ name, startMs: turns[0]!.atMs, ...linked(turns) }));
}

/** A turn follows the one that ended last before it came. Turns that came together are sub-agents' and follow the same one. */
function linked(requests: readonly TraceRequest[]) {
  const endOf = ({ atMs, turn }: TraceRequest) => atMs + turn!.tookMs;
  const byEnd = requests.map((request, at) => ({ at, endMs: endOf(request) })).sort((a, b) => a.endMs - b.endMs || a.at - b.at);
  const followers: number[][] = [[], ...requests.map(() => [])];
  const seen = new Set<number>();
  let last = { at: -1, endMs: requests[0]!.atMs };
  let ended = 0;
  const turns = requests.map((request, at) => {
    for (; ended < byEnd.length && byEnd[ended]!.endMs <= request.atMs && byEnd[ended]!.at < at; ended++) last = byEnd[ended]!;
    followers[last.at + 1]!.push(at);
    return { request, thinkMs: request.atMs - last.endMs, knownTokens: learn(request.prompt, seen) };
  });
  return { turns, followers };
}

/** Adds the prompt's blocks to those seen, and returns the tokens of its leading ones that had been seen before. */
function learn(prompt: Prompt, seen: Set<number>): number {
  let tokens = 0;
  let at = 0;
  for (; at < prompt.blocks.length && seen.has(prompt.blocks[at]!); at++) tokens += prompt.tokensIn(at);
  for (; at < prompt.blocks.length; at++) seen.add(prompt.blocks[at]!);
  return tokens;
}

/** Gives sessions that run again blocks of their own. What several sessions of the trace share, their copies share as well. */
export class SessionCopies {
  readonly #shared = new Set<number>();
  #last = 0;

  constructor(sessions: readonly TraceSession[]) {
    const ownerOf = new Map<number, number>();
    for (const [owner, { turns }] of sessions.entries()) {
      for (const { request } of turns) {
        for (const block of request.prompt.blocks) {
          const first = ownerOf.get(block);
          if (first === undefined) ownerOf.set(block, owner);
          else if (first !== owner) this.#shared.add(block);
          if (block > this.#last) this.#last = block;
        }
      }
    }
  }

  /** Renames the blocks of one run of a session: the same block always gets the same name. Throws a RangeError if there are no more names. */
  renaming(mostBlocks: number): (prompt: Prompt) => Prompt {
    const names = new Map<number, number>();
    const nameOf = (block: number): number => {
      if (this.#shared.has(block)) return block;
      const known = names.get(block);
      if (known !== undefined) return known;
      this.#last += 1;
      if (this.#last >= mostBlocks) throw new RangeError("The sessions run too often for one simulation; give it fewer --hours.");
      names.set(block, this.#last);
      return this.#last;
    };
    return (prompt) => prompt.withBlocks(prompt.blocks.map(nameOf));
  }
}
