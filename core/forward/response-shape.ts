import type { InferenceRequest } from "../contract/request.ts";
import type { ResponseShape } from "../contract/response-shape.ts";
import { isAnswer, ResponseCheck } from "../stream/response-check.ts";
import type { Head } from "../wire/head.ts";
import { isText } from "../wire/media-type.ts";

const NONE: readonly string[] = [];

/** What this response must have, where the API's responses have `shape`; undefined if nothing is known of it. */
export function shapeFor(
  { status }: Head,
  request: InferenceRequest,
  shape: ResponseShape | undefined,
): ResponseShape | undefined {
  return isAnswer(status) && request.asksForNothing !== true ? shape : undefined;
}

/** What looks whether it has that; undefined where nobody can say: the replica was asked for no coding, and has one all the same. */
export function checkFor(head: Head, shape: ResponseShape | undefined, isStream: boolean): ResponseCheck | undefined {
  return shape !== undefined && isText(head, shape.unread ?? NONE) ? new ResponseCheck(shape, isStream) : undefined;
}
