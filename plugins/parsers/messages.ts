import type { BodyView } from "../../core/contract/body-view.ts";
import type { ResponseShape } from "../../core/contract/response-shape.ts";
import type { Span } from "../../core/contract/span.ts";
import { defineJsonParser } from "./shared-fields.ts";

const COUNT_PATH = "/v1/messages/count_tokens";
const MESSAGE: ResponseShape = {
  document: ['"content":['],
  events: ['"type":"message_start"'],
  endings: ['"type":"message_stop"', '"stop_reason":"'],
};
const COUNT: ResponseShape = { document: ['"input_tokens":'] };
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A system block that begins with this holds a hash of the request. Engines drop it; here it would make every prefix unique. */
const BILLING_HEADER = new TextEncoder().encode('"x-anthropic-billing-header');

export default defineJsonParser({
  type: "messages",
  summary: "Reads message requests (/v1/messages) and their token counts.",
  paths: ["/v1/messages", COUNT_PATH],
  dialect: "anthropic",
  promptKeys: ["tools", "system", "messages"],
  partKeys: ["messages"],
  limitKeys: ["max_tokens"],
  response: MESSAGE,
  responses: { [COUNT_PATH]: COUNT },
  more({ promptSpans }, body, path) {
    // Only counted: nothing is computed, and no cache holds it afterwards.
    if (path === COUNT_PATH) return { promptSpans: [], promptTokens: 0, promptParts: [] };
    if (body.kind("system") !== "array") return {};
    const system = body.span("system")!;
    return { promptSpans: promptSpans.flatMap((span) => (span[0] === system[0] ? withoutBillingHeader(body, span) : [span])) };
  },
});

/** Splits the span around the string that is a billing header. */
function withoutBillingHeader(body: BodyView, span: Span): readonly Span[] {
  const bytes = Buffer.from(body.bytes.buffer, body.bytes.byteOffset, span[1]);
  const start = bytes.indexOf(BILLING_HEADER, span[0]);
  if (start === -1 || bytes[start - 1] === BACKSLASH) return [span];
  const end = endOfString(bytes, start);
  return [
    [span[0], start],
    [end, span[1]],
  ];
}

/** The index after the closing quote of the string that begins at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return Math.min(at + 1, bytes.length);
}
