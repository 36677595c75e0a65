import type { Span } from "../../../core/contract/span.ts";
import { sha256OfPieces } from "../../../core/runtime/sha256.ts";

/** Who asks which model for what. */
export interface Prompt {
  /** "" where the router knows no tenants. */
  readonly tenant: string;
  /** As the client asked for it. */
  readonly model: string;
  readonly body: Uint8Array;
  readonly spans: readonly Span[];
}

/**
 * What stands for a prompt: the same for two requests of a tenant if model and prompt are the same, whatever else they ask for. The
 * digest can't be aimed at, so that nobody can make a prompt which stands for another one.
 */
export function promptKey({ tenant, model, body, spans }: Prompt): string {
  return sha256OfPieces([JSON.stringify([tenant, model, spans.map(([start, end]) => end - start)]), ...piecesOf(body, spans)]);
}

function piecesOf(body: Uint8Array, spans: readonly Span[]): readonly Uint8Array[] {
  return spans.map(([start, end]) => body.subarray(start, end));
}
