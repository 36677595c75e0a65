import type { BodyView } from "../../core/contract/body-view.ts";
import type { KeptObject } from "../../core/contract/request.ts";
import type { ResponseShape } from "../../core/contract/response-shape.ts";
import { defineJsonParser } from "./shared-fields.ts";

/**
 * `response.created` and `response.in_progress` come before anything is computed, so they show nothing. The last event repeats what the
 * client sent (schemas, metadata), so it may be long. Some servers send [DONE] behind it, or `response.done` in its place.
 */
const RESPONSE: ResponseShape = {
  document: ['"output":['],
  events: [
    '"type":"response.output',
    '"type":"response.completed"',
    '"type":"response.incomplete"',
    '"type":"response.cancelled"',
  ],
  endings: [
    "[DONE]",
    '"type":"response.completed"',
    '"type":"response.incomplete"',
    '"type":"response.failed"',
    '"type":"response.cancelled"',
    '"type":"response.done"',
  ],
  hasTypes: true,
};

/** A conversation's id may stand in an object. */
const OBJECT_WITH_ID = /^\{\s*"id"\s*:\s*"([^"\\]+)"/;
const MOST_OBJECT_BYTES = 512;

/** The replica stores a response unless the request has `store: false`, so a second delivery would store a second one. */
export default defineJsonParser({
  type: "responses",
  summary: "Reads requests for responses (/v1/responses).",
  paths: ["/v1/responses"],
  dialect: "responses",
  promptKeys: ["instructions", "tools", "input"],
  partKeys: ["input"],
  limitKeys: ["max_output_tokens"],
  response: RESPONSE,
  moreKeys: ["store", "previous_response_id", "conversation"],
  // response.created and response.in_progress come before the prompt is processed.
  openingEvents: 2,
  more: (_parsed, body) => {
    const isStored = body.kind("store") !== "false";
    const names = namedIn(body);
    return { isRepeatable: !isStored, isFollowUp: names !== undefined, names, makes: isStored ? "responses" : undefined };
  },
});

/** The response before, or the conversation that the replica keeps. */
function namedIn(body: BodyView): KeptObject | undefined {
  if (body.kind("previous_response_id") === "string") return { kind: "responses", id: body.text("previous_response_id")! };
  if (body.kind("conversation") === "string") return { kind: "conversations", id: body.text("conversation")! };
  const [start, end] = body.kind("conversation") === "object" ? body.span("conversation")! : [0, 0];
  const text = new TextDecoder().decode(body.bytes.subarray(start, Math.min(end, start + MOST_OBJECT_BYTES)));
  const id = OBJECT_WITH_ID.exec(text)?.[1];
  return id === undefined ? undefined : { kind: "conversations", id };
}
