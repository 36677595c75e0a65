import type { Definition } from "../../core/contract/plugin.ts";
import type { Word } from "./command-line.ts";
import type { Draft } from "./draft.ts";

/** What is to be imported. */
export interface SourceText {
  /** For messages. */
  readonly file: string;
  readonly text: string;
  /** It as commands of a shell. */
  readonly commands: readonly (readonly Word[])[];
  readonly registry: ReadonlyMap<string, Definition>;
}

export interface SourceKind {
  /** What --from takes. */
  readonly kind: string;
  readonly title: string;
}

/** A kind of config of another router. */
export interface Source extends SourceKind {
  /** Whether a text is of this kind, at a glance. */
  recognises(source: SourceText): boolean;
  /** Throws an ImportError where the text can't be read at all. */
  read(source: SourceText, draft: Draft): void | Promise<void>;
}
