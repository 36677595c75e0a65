import type { Span } from "./span.ts";

/** What a part of a prompt is where it is not text. */
export type PartKind = "image" | "audio" | "video" | "file";

/**
 * A part of a prompt that is not text. An engine decodes it, so its bytes say little about its tokens.
 *
 * @example
 * const images = request.promptParts.filter(({ kind }) => kind === "image").length;
 */
export interface PromptPart {
  readonly kind: PartKind;
  /** Span of the JSON string that holds its data, address or id, quotes included. */
  readonly span: Span;
  /** True if the string holds the data (base64); false if it only says where they are. */
  readonly isInline: boolean;
}

/** A part and the tokens that it is believed to be for the request's target. */
export interface CountedPart extends PromptPart {
  readonly tokens: number;
}

export const NO_PARTS: readonly never[] = [];
