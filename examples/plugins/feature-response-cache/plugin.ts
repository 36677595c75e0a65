import { defineFeature, type RequestRun, z } from "signalbox/plugin";
import { ResponseStore } from "./store.ts";

const options = z.strictObject({
  header: z
    .string()
    .regex(/^[a-z0-9-]+$/, "a header's name in lower case")
    .default("x-cache")
    .describe("Requests with it, as `x-cache: on`, may be answered from here."),
  maxBytes: z
    .int()
    .min(0)
    .default(16 * 1024 * 1024)
    .describe("Memory for responses."),
  maxEntries: z.int().min(0).default(1_000).describe("How many responses are kept."),
  maxAgeS: z.int().min(1).default(3_600).describe("How long each of them may be used, in seconds."),
});

export default defineFeature({
  type: "response-cache",
  summary: "Answers a request from memory if its client allows that by a header, and the same body was answered before.",
  contract: "1.0",
  options,
  create({ header, maxBytes, maxEntries, maxAgeS }, host) {
    // What `keep` holds outlives a reload of the config.
    const { store, counts } = host.keep(1, () => ({ store: new ResponseStore(), counts: { hits: 0, misses: 0 } }));
    store.bound(maxBytes, maxEntries);
    const isOn = (run: RequestRun) => run.head.get(header) === "on";
    return {
      answer(run) {
        const key = isOn(run) ? keyOf(run, maxBytes) : undefined;
        if (key === undefined) return undefined;
        const found = store.find(key, host.clock.now() - 1_000 * maxAgeS);
        counts[found === undefined ? "misses" : "hits"] += 1;
        return found && { status: 200, headers: { "content-type": found.type, [header]: "hit" }, body: found.body };
      },
      tap(run, response) {
        const type = response.headers.get("content-type");
        const isCoded = response.headers.get("content-encoding") !== undefined;
        if (!isOn(run) || response.status !== 200 || type === undefined || isCoded || response.length > maxBytes)
          return undefined;
        const key = keyOf(run, maxBytes);
        if (key === undefined) return undefined;
        return store.recorder(maxBytes, (body) => {
          store.add(key, { type, body, atMs: host.clock.now() });
        });
      },
      status: (rule) => (rule === undefined ? { ...counts, entries: store.entries, bytes: store.bytes } : {}),
    };
  },
});

/** Who asks, for what: the exact body is a part of it. Undefined: nothing of the request may be kept. */
function keyOf({ ticket, head, body, parsed, query }: RequestRun, maxBytes: number): string | undefined {
  if (body === undefined || parsed?.isRepeatable !== true || body.bytes.length > maxBytes) return undefined;
  const asked = [ticket.principal?.name ?? "", head.method, ticket.path, query, head.get("content-encoding") ?? ""];
  // Each byte is one character, so that equal keys are equal bodies; a hash could be that of another body.
  return `${JSON.stringify(asked)}${new TextDecoder("latin1").decode(body.bytes)}`;
}
