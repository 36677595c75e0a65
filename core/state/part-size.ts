import type { PartKind, PromptPart } from "../contract/prompt-part.ts";

/** What tokens of a part are counted by: an image is one unit whatever its bytes, of the others each KiB of data is one. */
interface Size {
  /** Tokens of a unit before anything was reported. */
  readonly tokens: number;
  /** Units of a part whose data are elsewhere. */
  readonly unitsElsewhere: number;
}

/**
 * Where engines begin, as far as they publish it. An image of 1024 x 1024 pixels: LLaVA-1.5 576 tokens, Qwen2.5-VL 1,369 (one for
 * each 28 x 28 pixels), OpenAI 765, Claude 1,398 (pixels / 750). Audio: Qwen2-Audio 25 tokens a second, which is 31 KiB as
 * 16-bit WAV of 16 kHz and 8 KiB as MP3 of 64 kbit/s. Video: Gemini 290 tokens a second, about 200 KiB in 720p. A PDF: Claude 1,500
 * to 3,000 tokens for the text of a page, and its image; a page is about 100 KiB.
 */
const SIZES: Readonly<Record<PartKind, Size>> = {
  image: { tokens: 1_000, unitsElsewhere: 1 },
  audio: { tokens: 1, unitsElsewhere: 512 },
  video: { tokens: 1.5, unitsElsewhere: 2_048 },
  file: { tokens: 32, unitsElsewhere: 512 },
};

/** Characters of base64 for one KiB. */
const CHARS_PER_KIB = (1024 * 4) / 3;
/** Bytes of text that a token stands for where prompts are hashed. */
export const BYTES_PER_TOKEN = 4;
const LEAST_HASHED_BYTES = 64;
const MOST_HASHED_BYTES = 1024 * 1024;

export function unitsOf({ kind, span, isInline }: PromptPart): number {
  if (kind === "image") return 1;
  return isInline ? Math.max(1, (span[1] - span[0]) / CHARS_PER_KIB) : SIZES[kind].unitsElsewhere;
}

export function startTokens(kind: PartKind): number {
  return SIZES[kind].tokens;
}

/**
 * Bytes that a part takes in the hashed prompt, whatever its data take in the body: as many as text of about as many tokens has. So
 * blocks after an image are as fine as after text. It depends on the part alone: with tokens that are learned, equal prompts would
 * not have equal blocks for long.
 */
export function hashedBytes(part: PromptPart): number {
  const bytes = Math.round(unitsOf(part) * startTokens(part.kind)) * BYTES_PER_TOKEN;
  return Math.min(MOST_HASHED_BYTES, Math.max(LEAST_HASHED_BYTES, bytes));
}
