import { readJsonBody } from "../body/json-body.ts";
import type { BodyView } from "../contract/body-view.ts";
import type { BodyKeys } from "../contract/parser.ts";

const MOST_DEPTH = 128;

/** A body as a parser reads it. Throws RouterError, as the router refuses a body that is not one JSON object. */
export function makeBody(json: unknown, parser: BodyKeys): BodyView {
  return readJsonBody(new TextEncoder().encode(JSON.stringify(json)), parser, MOST_DEPTH);
}
