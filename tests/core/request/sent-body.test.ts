import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readJsonBody } from "../../../core/body/json-body.ts";
import type { BodyMember } from "../../../core/contract/body-member.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import { sentBody } from "../../../core/request/sent-body.ts";

const KEYS = ["model", "a", "b"];
const AS_RECEIVED = Buffer.from("coded");

/** What is sent of the body, with `=` where the client's own bytes are, and who has changed it. */
function sent(
  body: string,
  { target = "m", written = {}, members = {}, bodyBy = "", modelIn = undefined as "target" | "text" | undefined } = {},
) {
  const bytes = Buffer.from(body);
  const read = readJsonBody(bytes, { keys: KEYS }, 8);
  const list = (of: Readonly<Record<string, string>>, by: string): BodyMember[] =>
    Object.entries(of).map(([key, value]) => {
      const [name = "", writer = by] = key.split(" ");
      return { key: name, span: read.span(name) ?? [-1, -1], value: Buffer.from(value), by: writer };
    });
  const request = {
    body: bytes,
    model: "m",
    target,
    modelSpan: read.span("model") ?? [-1, -1],
    modelIn,
    written: list(written, "w"),
  };
  const decoder = { original: AS_RECEIVED } as never;
  const { body: parts, changedBy } = sentBody(request as unknown as InferenceRequest, { bodyBy, decoder }, list(members, "t"));
  const text = Buffer.concat(parts).toString();
  return [text === "coded" ? "=" : text, changedBy.join(" ")];
}

const BODY = '{"a":1,"model":"m"}';

describe("the body that is sent", () => {
  const rows: readonly (readonly [name: string, got: readonly string[], text: string, changedBy: string])[] = [
    ["as it was received where nobody changes it", sent(BODY), "=", ""],
    ["as it was received where its model is spelled with escapes", sent('{"model":"\\u006d"}'), "=", ""],
    ["as it was received where the path names the model", sent(BODY, { target: "n", modelIn: "target" }), "=", ""],
    ["with another model", sent(BODY, { target: "n" }), '{"a":1,"model":"n"}', "model"],
    ["with a feature's member in place of the client's", sent(BODY, { written: { a: "2" } }), '{"a":2,"model":"m"}', "w"],
    ["with a new member", sent(BODY, { written: { b: "2" } }), '{"b":2,"a":1,"model":"m"}', "w"],
    ["with a try's member", sent(BODY, { members: { a: "3" } }), '{"a":3,"model":"m"}', "t"],
    ["with the last writer's member", sent(BODY, { written: { "a x": "2", "a y": "4" } }), '{"a":4,"model":"m"}', "y"],
    ["with the last writer's new member", sent(BODY, { written: { "b x": "2", "b y": "4" } }), '{"b":4,"a":1,"model":"m"}', "y"],
    [
      "with a try's member in place of a feature's",
      sent(BODY, { written: { a: "2" }, members: { a: "3" } }),
      '{"a":3,"model":"m"}',
      "t",
    ],
    ["plain where another body is in its place", sent(BODY, { bodyBy: "h" }), BODY, "h"],
    [
      "with all of them",
      sent(BODY, { bodyBy: "h", written: { a: "2" }, members: { b: "3" }, target: "n" }),
      '{"b":3,"a":2,"model":"n"}',
      "h w t model",
    ],
    [
      "without a model, with a try's members alone",
      sent('{"a":1}', { written: { b: "2" }, members: { a: "3" } }),
      '{"a":3}',
      "t",
    ],
  ];
  for (const [name, got, text, changedBy] of rows) it(name, () => assert.deepEqual(got, [text, changedBy]));
});
