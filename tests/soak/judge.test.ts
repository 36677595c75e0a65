import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { judge, type Received, type Result, type Sent } from "./judge.ts";

const delivered = '{"model":"m","messages":[{"role":"user","content":"tag-7-unary"}]}';
const echo = (body: string) => JSON.stringify({ method: "POST", body });
const unary = (content: string) => JSON.stringify({ choices: [{ message: { content } }] });
const event = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
const DONE = "data: [DONE]\n\n";
const ERROR = '{"error":{"message":"no","code":"plugin_fault"}}';
const half = (text: string) => text.slice(0, text.length / 2);

describe("a response of the soak", () => {
  const cases: readonly (readonly [what: string, sent: Partial<Sent>, received: Partial<Received>, result: Result])[] = [
    ["is served when it repeats the request", {}, { text: unary(echo(delivered)) }, "served"],
    ["is damaged when a byte of it differs", {}, { text: unary(echo(delivered.replace("user", "uses"))) }, "damaged"],
    ["is damaged when it is not whole", {}, { text: half(unary(echo(delivered))) }, "damaged"],
    ["is damaged when it is empty", {}, { text: "" }, "damaged"],
    ["is mixed up when it has another tag", {}, { text: unary(echo(delivered.replace("tag-7", "tag-8"))) }, "mixed up"],
    ["is refused with an error", {}, { status: 503, text: ERROR }, "refused"],
    ["is damaged when an error has no error's shape", {}, { status: 503, text: "{}" }, "damaged"],
    ["is a plugin's fault where that is asked for", { isFiltered: true }, { status: 500, text: ERROR }, "plugin fault"],
    ["is wrong when a failing filter let it pass", { isFiltered: true }, { text: unary(echo(delivered)) }, "wrong"],
    ["is broken when the connection is cut", {}, { text: "", isCut: true }, "broken"],
    ["is mixed up when what came before a cut is another's", {}, { text: "tag-8-unary", isCut: true }, "mixed up"],
  ];
  for (const [what, sent, received, result] of cases) it(what, () => expectResult(sent, received, result));
});

describe("a stream of the soak", () => {
  const content = echo(delivered);
  const [first, second] = [content.slice(0, 20), content.slice(20)];
  const cases: readonly (readonly [what: string, text: string, result: Result])[] = [
    ["is served when its events make up the request", event(first) + event(second) + DONE, "served"],
    ["is damaged without its end", event(first) + event(second), "damaged"],
    ["is damaged when an event is missing", event(first) + DONE, "damaged"],
    ["is damaged when an event comes twice", event(first) + event(first) + event(second) + DONE, "damaged"],
    ["is broken when it ends with an error event", `${event(first)}data: ${ERROR}\n\n`, "broken"],
  ];
  for (const [what, text, result] of cases) it(what, () => expectResult({ isStream: true }, { text }, result));
});

function expectResult(sent: Partial<Sent>, received: Partial<Received>, result: Result): void {
  const whole = { tag: "tag-7-unary", isStream: false, delivered, isFiltered: false, ...sent };
  assert.equal(judge(whole, { status: 200, text: "", isCut: false, ...received }), result);
}
