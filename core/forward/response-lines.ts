import type { ActiveConfig, Profile } from "../active-config.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { Log } from "../contract/log.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { thrownText } from "../contract/thrown-text.ts";
import type { Run } from "../run.ts";
import { corsLines } from "../wire/cors.ts";
import { responseLines } from "../wire/forwarded-headers.ts";
import type { Head } from "../wire/head.ts";
import { saysEventStream } from "../wire/media-type.ts";

/** The header lines of a replica's response that go on to the client, and those that the router adds; `limitLines` are some of these. */
export function responseLinesFor(
  head: Head,
  request: InferenceRequest,
  endpoint: Endpoint,
  config: ActiveConfig,
  log: Log,
  limitLines: string,
): string {
  const kept = responseLines(head, { cors: config.settings.cors !== undefined, rateLimits: limitLines !== "" });
  return kept + streamLines(head) + ownResponseLines(request, endpoint, config, log) + limitLines;
}

/** What keeps proxies before the router from holding a stream back, where the replica has not said it. */
function streamLines(head: Head): string {
  if (!saysEventStream(head)) return "";
  const buffering = head.get("x-accel-buffering") === undefined ? "x-accel-buffering: no\r\n" : "";
  return head.get("cache-control") === undefined ? `${buffering}cache-control: no-cache\r\n` : buffering;
}

/** Header lines that features add to the client's response. */
export function linesOf(run: Run): string {
  let lines = "";
  for (const { plugin } of run.config.slots.lines) lines += plugin.lines(run);
  return lines;
}

/** The header lines that the router adds to a replica's response. */
export function ownResponseLines(
  request: InferenceRequest,
  endpoint: Endpoint,
  { profile, settings }: ActiveConfig,
  log: Log,
): string {
  const { id, target } = request;
  let lines = `x-request-id: ${id}\r\nrequest-id: ${id}\r\n`;
  if (settings.hasRoutingHeaders) {
    const model = target === "" ? "" : `x-signalbox-model: ${headerText(target)}\r\n`;
    lines += `x-signalbox-endpoint: ${headerText(endpoint.name)}\r\n${model}`;
  }
  lines += corsLines(request.headers, settings.cors);
  for (const headerOf of profile.responseHeaders) lines += pluginLine(headerOf, request, endpoint, log);
  return lines;
}

type HeaderOf = Profile["responseHeaders"][number];

/** A plugin's header line; "" with a log entry if the plugin throws, because the response must not fail for that. */
function pluginLine(headerOf: HeaderOf, request: InferenceRequest, endpoint: Endpoint, log: Log): string {
  try {
    const [name, value] = headerOf(request, endpoint);
    return `${name}: ${headerText(value)}\r\n`;
  } catch (thrown) {
    log.warn("A plugin broke its contract", { method: "responseHeader", fault: thrownText(thrown) });
    return "";
  }
}

/**
 * A text as a header value: percent-encoded unless it is visible ASCII, because names may hold any character. A lone surrogate has
 * no encoding and becomes U+FFFD.
 */
function headerText(text: string): string {
  return /^[\x21-\x7e]*$/.test(text) ? text : encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
}
