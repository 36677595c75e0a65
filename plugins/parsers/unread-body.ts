import type { ParsedBody } from "../../core/contract/request.ts";

/** Of a body that is not read: model and prompt are unknown, and a second delivery may do harm. */
export const UNREAD_BODY: ParsedBody = {
  model: "",
  modelSpan: [-1, -1],
  isStream: false,
  promptSpans: [],
  promptTokens: 0,
  maxOutputTokens: 0,
  cacheSalt: "",
  isRepeatable: false,
};
