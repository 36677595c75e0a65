/** A try at a replica, as seen when it may have to be given up because the replica makes no progress. */
export interface WatchedTry {
  /** idle: it carries no request, or is not read because the client takes nothing. waiting: no token came. streaming: one did. */
  readonly watchState: "idle" | "waiting" | "streaming";
  /** Its first token comes as soon as its prompt is processed; a response that comes whole is silent until it is generated. */
  readonly isStream: boolean;
  /** For how long no byte came. */
  readonly silenceMs: number;
  /** The longest silence between two of its tokens that it recovered from. */
  readonly longestGapMs: number;
  /** Gives it up as wedged. */
  cut(): void;
}

/** Watches over the tries at one replica that another proxy carries. */
export interface TryWatch {
  begins(foreign: WatchedTry): void;
  ends(foreign: WatchedTry): void;
  /** Bytes of a response that has tokens came, at that time of the deadlines' clock. */
  heard(atMs: number): void;
}
