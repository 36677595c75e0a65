import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { PostText } from "../../../core/pool/engine-wire.ts";
import type { Settings } from "../../../core/settings.ts";
import { bearerFor } from "../../../core/wire/bearer.ts";
import { httpGet, httpSend } from "../../../core/wire/http-get.ts";
import type { GetResult } from "../../../core/wire/http-get-result.ts";
import { replicaTlsFor } from "../../../core/wire/replica-tls.ts";

type RunningSettings = () => Settings | undefined;

/** Asks a replica for a document, with the router's key for it. */
export function getFrom(settings: RunningSettings) {
  return (endpoint: Endpoint, path: string, timeoutMs: number, maxBytes: number, signal: AbortSignal): Promise<GetResult> =>
    httpGet(endpoint.url, path, { timeoutMs, maxBytes, signal, ...shownTo(endpoint, settings()) });
}

export function postTo(settings: RunningSettings): PostText {
  return (endpoint, path, body, bounds, done) =>
    void httpSend(endpoint.url, path, { method: "POST", body, ...bounds, ...shownTo(endpoint, settings()) }).then(done, () =>
      done(undefined),
    );
}

function shownTo({ name }: Endpoint, settings: Settings | undefined) {
  const authorization = bearerFor(name, settings?.credentials);
  return {
    headers: authorization === undefined ? {} : { authorization },
    tls: replicaTlsFor(name, settings?.replicaTls),
  };
}
