import type { Snapshot } from "../active-config.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { Log } from "../contract/log.ts";
import type { InferenceRequest } from "../contract/request.ts";

/** The header lines the router adds to a replica's answer. */
export function ownResponseLines(request: InferenceRequest, endpoint: Endpoint, snapshot: Snapshot, log: Log): string {
  const { id, target } = request;
  let lines = `x-request-id: ${id}\r\nrequest-id: ${id}\r\n`;
  if (snapshot.settings.hasRoutingHeaders) {
    const model = target === "" ? "" : `x-signalbox-model: ${headerText(target)}\r\n`;
    lines += `x-signalbox-endpoint: ${headerText(endpoint.name)}\r\n${model}`;
  }
  for (const headerOf of snapshot.profile.responseHeaders) lines += pluginLine(headerOf, request, endpoint, log);
  return lines;
}

type HeaderOf = Snapshot["profile"]["responseHeaders"][number];

/** A plugin that can't say its header goes without; the answer is not lost for it. */
function pluginLine(headerOf: HeaderOf, request: InferenceRequest, endpoint: Endpoint, log: Log): string {
  try {
    const [name, value] = headerOf(request, endpoint);
    return `${name}: ${headerText(value)}\r\n`;
  } catch (thrown) {
    log.warn("A plugin broke its contract", { method: "responseHeader", fault: String(thrown) });
    return "";
  }
}

/** Any text as a header value: percent-encoded unless it is visible ASCII. A lone surrogate, which has no encoding, becomes U+FFFD. */
function headerText(text: string): string {
  return /^[\x21-\x7e]*$/.test(text) ? text : encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
}
