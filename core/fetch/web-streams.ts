const NAMES = [
  "ReadableStream",
  "WritableStream",
  "TransformStream",
  "ByteLengthQueuingStrategy",
  "CountQueuingStrategy",
] as const;

/**
 * Lets the router run in a host without Web streams: those of the optional package web-streams-polyfill take their global places. Rejects
 * with an Error that says what to install. Bodies are streams, so a host that has Request and Response must take these too.
 */
export async function needWebStreams(load: () => Promise<object> = loadStreams): Promise<void> {
  const host = globalThis as Record<string, unknown>;
  if (typeof host["ReadableStream"] === "function") return;
  const streams = (await load().catch((cause: unknown) => {
    throw new Error("This host has no Web streams, which bodies of requests are: npm i web-streams-polyfill", { cause });
  })) as Readonly<Record<string, unknown>>;
  for (const name of NAMES)
    if (host[name] === undefined) Object.defineProperty(host, name, { value: streams[name], writable: true, configurable: true });
}

function loadStreams(): Promise<object> {
  return import("web-streams-polyfill");
}
