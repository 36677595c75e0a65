// A host without Web streams: they are gone before anything of the router, or the runtime's own fetch, is loaded.
const GONE = ["ReadableStream", "WritableStream", "TransformStream", "ByteLengthQueuingStrategy", "CountQueuingStrategy"];
for (const name of GONE) Reflect.deleteProperty(globalThis, name);
if ("ReadableStream" in globalThis) throw new Error("This runtime keeps its streams");

const { createRouter } = await import("../../apps/fetch.ts");
const router = await createRouter({ urls: [process.argv[2] ?? ""] });
await router.whenReady(5_000);
const { ReadableStream: taken } = globalThis as { ReadableStream?: { name: string } };
const messages = [{ role: "user", content: "Was the soup any good?" }];
const headers = { "content-type": "application/json" };
const ask = async (stream: boolean) => {
  const body = JSON.stringify({ model: "m", messages, max_tokens: 20, stream });
  const response = await router.fetch(new Request("http://router/v1/chat/completions", { method: "POST", headers, body }));
  return [response.status, await response.text()] as const;
};
const [whole, streamed] = [await ask(false), await ask(true)];
console.log(JSON.stringify({ taken: typeof taken, statuses: [whole[0], streamed[0]], ends: streamed[1].trim().slice(-12) }));
router.close();
