import type { ConfigText } from "../../../../config/read/files.ts";
import type { Problem } from "../../../../config/read/problems.ts";
import type { Overlay } from "../../../../config/rewrites/overlay.ts";
import type { ReloadCause } from "../../../../config/running/reload-cause.ts";
import type { Terminals } from "../outputs.ts";

// What the parent process and its workers tell each other, as JSON on the channel between them. Both are the same program.

/** In the environment of a worker: its number. */
export const WORKER = "SIGNALBOX_WORKER";

/** What runs: texts, and what was changed beside them. */
export interface SharedState {
  readonly texts: readonly ConfigText[];
  readonly overlay: Overlay;
}

/** What a worker begins with. */
export interface Begin {
  readonly kind: "begin";
  /** So many workers share the port, and what the machine has. */
  readonly count: number;
  readonly port: number;
  /** Whether each of them listens on the port by itself. */
  readonly isPortShared: boolean;
  readonly terminals: Terminals;
  /** Words that all workers hash prompts with. */
  readonly prefixSecret: readonly number[];
  /** What the config comes from, in words. */
  readonly sources: readonly string[];
  readonly urls: readonly string[];
  readonly state: SharedState;
}

/** A request to the admin port. */
export interface Question {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  /** "" for none. */
  readonly body: string;
  readonly caller: string;
}

/** The head of the response, and its body, but for a stream's. */
export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly isStream: boolean;
  readonly text: string;
}

export type ToWorker =
  | Begin
  | { readonly kind: "facts"; readonly channel: string; readonly message: string }
  /** To be answered at once. */
  | { readonly kind: "ping" }
  /** To be answered behind all that this worker had to tell the one that comes. */
  | { readonly kind: "mark"; readonly comer: number }
  /** All that the others knew has been passed on. */
  | { readonly kind: "joined" }
  /** It has passed on the next of this worker's own messages. */
  | { readonly kind: "echo" }
  /** All workers read the files again. */
  | { readonly kind: "reload"; readonly cause: ReloadCause; readonly by: string }
  /** The files, or what is wrong with them. */
  | {
      readonly kind: "files";
      readonly round: number;
      readonly texts: readonly ConfigText[];
      readonly problems: readonly Problem[];
    }
  /** Why no worker takes them; "" if all do. */
  | { readonly kind: "verdict"; readonly refusal: string }
  | { readonly kind: "state"; readonly state: SharedState; readonly cause: ReloadCause; readonly by: string }
  | { readonly kind: "ask"; readonly id: number; readonly question: Question }
  | { readonly kind: "more"; readonly id: number }
  | { readonly kind: "cancel"; readonly id: number };

export type FromWorker =
  /** It can be told what to begin with. */
  | { readonly kind: "hello" }
  /** It serves. */
  | { readonly kind: "started"; readonly greeting: string }
  | { readonly kind: "facts"; readonly channel: string; readonly message: string }
  /** What the others hear when it is gone. */
  | { readonly kind: "lastWords"; readonly channel: string; readonly message: string }
  /** It has greeted the others, and serves once it knows what they do. */
  | { readonly kind: "join" }
  | { readonly kind: "mark"; readonly comer: number }
  | { readonly kind: "pong" }
  /** It wants the files as they are now. */
  | { readonly kind: "want" }
  /** Why it can't take them; "" if it can. */
  | { readonly kind: "vote"; readonly round: number; readonly refusal: string }
  /** What came of the files that all were to take; "" if they run. */
  | { readonly kind: "taken"; readonly refusal: string }
  /** It could not take a change that others made. */
  | { readonly kind: "astray"; readonly why: string }
  | { readonly kind: "state"; readonly state: SharedState; readonly cause: ReloadCause; readonly by: string }
  | { readonly kind: "answer"; readonly id: number; readonly answer: Answer }
  | { readonly kind: "part"; readonly id: number; readonly text: string }
  | { readonly kind: "end"; readonly id: number };
