/** A try at a replica, as seen when it may have to be given up because the replica makes no progress. */
export interface WatchedTry {
  /** idle: it carries no request, or is not read because the client takes nothing. waiting: no token came. streaming: one did. */
  readonly watchState: "idle" | "waiting" | "streaming";
  /** For how long no byte came. */
  readonly silenceMs: number;
  /** The longest silence between two of its tokens that it recovered from. */
  readonly longestGapMs: number;
  /** Gives it up as wedged. */
  cut(): void;
}

/** So much longer than its own longest gap so far a stream may be silent. */
const GAP_FACTOR = 4;

/** Gives up tries that have waited for their first token for `leastMs`. Returns whether there were any. */
export function cutWaiting(tries: readonly WatchedTry[], leastMs: number): boolean {
  let isAny = false;
  for (const each of tries) {
    if (each.watchState !== "waiting" || each.silenceMs < leastMs) continue;
    isAny = true;
    each.cut();
  }
  return isAny;
}

/**
 * Gives up streams that have sent tokens and fell silent `leastMs` ago, or four times as long ago as their own pace explains. Silent
 * streams alone prove nothing, not even several that stopped together: an engine may hold back a tool call until it is whole, and
 * agents call in parallel. `isWitnessed`: a request got no token meanwhile.
 */
export function cutStreams(tries: readonly WatchedTry[], leastMs: number, isWitnessed: boolean): void {
  if (!isWitnessed) return;
  for (const stream of tries) {
    if (stream.watchState === "streaming" && stream.silenceMs >= leastMs + GAP_FACTOR * stream.longestGapMs) stream.cut();
  }
}
