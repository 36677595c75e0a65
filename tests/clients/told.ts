/** What the programs of packages print, and what must be true of it. */
import assert from "node:assert/strict";
import type { ServedLine, Stack } from "./stack.ts";

export interface Told {
  /** By API: the text of the same request, whole and in a stream. */
  readonly texts: Readonly<Record<string, { readonly whole: string; readonly stream: string }>>;
  /** Tokens of outputs, as the package reports them. */
  readonly tokens: readonly number[];
  /** Tools that the model called. */
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
}

export interface TellsResults extends Told {
  /** What the model said to the results of tools. */
  readonly results: readonly string[];
}

/** The mock has the same words for the same request; the real model's texts may differ in their last bits. */
export function assertTold({ texts, tokens, calls }: Told, { isMock }: Stack): void {
  for (const [api, { whole, stream }] of Object.entries(texts)) {
    assert.ok(whole.length > 0 && stream.length > 0, api);
    if (isMock) assert.equal(stream, whole, api);
  }
  for (const count of tokens) assert.ok(count > 0 && count <= 24, `${tokens}`);
  for (const call of calls) assert.deepEqual(call, { name: "get_weather", arguments: { city: "Oslo" } });
}

export function assertToldResults(told: TellsResults, stack: Stack): void {
  assertTold(told, stack);
  for (const text of told.results) assert.ok(text.length > 0, "No words to the result of a tool");
}

/** How often each path was asked, in streams and whole. */
export function asked(lines: readonly ServedLine[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { method, path, stream } of lines) {
    const name = `${method} ${path}${stream ? " in a stream" : ""}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
