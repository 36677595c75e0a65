/** How one try at an endpoint ended. Moments are counted from when the try began. */
export interface TryResult {
  /** HTTP status of the response; 0 if none was passed on. */
  readonly status: number;
  /** Whether the whole response came. */
  readonly isComplete: boolean;
  /** Milliseconds to the first token of a streamed response; NaN without one. */
  readonly firstTokenMs: number;
  /** Milliseconds to the end of the try. */
  readonly endMs: number;
  /** Whether the client took bytes too slowly for a while: then `endMs` says nothing of the endpoint. */
  readonly wasHeld: boolean;
  /** Generated tokens, as reported or counted; NaN if unknown. */
  readonly outputTokens: number;
}
