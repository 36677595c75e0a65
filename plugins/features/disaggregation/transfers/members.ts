import type { BodyMember } from "../../../../core/contract/body-member.ts";
import type { RequestBody } from "../../../../core/contract/slots/request-run.ts";
import type { Span } from "../../../../core/contract/span.ts";

const UTF8 = new TextEncoder();
const NO_SPAN: Span = [-1, -1];

/** The member with this value, which is JSON, in place of the body's. */
export function member(body: RequestBody, key: string, value: string | Uint8Array): BodyMember {
  const bytes = typeof value === "string" ? UTF8.encode(value) : value;
  return { key, span: body.span(key) ?? NO_SPAN, value: bytes, by: "disaggregation" };
}

/** The same, for a body that has the key; none otherwise. */
export function memberIfThere(body: RequestBody, key: string, value: string): readonly BodyMember[] {
  return body.span(key) === undefined ? [] : [member(body, key, value)];
}
