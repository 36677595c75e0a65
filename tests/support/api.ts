import { routerApi } from "../../apps/admin/api/routes.ts";
import { EventStreams } from "../../apps/admin/event-streams.ts";
import type { AdminAccess } from "../../apps/admin/permission.ts";
import { figuresOf } from "../../apps/admin/pool-sites.ts";
import { turns } from "../../apps/admin/turns.ts";
import { OverlayExpiry } from "../../config/running/overlay-expiry.ts";
import type { ActiveConfig } from "../../core/active-config.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { LogFields } from "../../core/contract/log.ts";
import { Intents } from "../../core/control/intents.ts";
import { makeRunning } from "./admin.ts";
import { FakeClock } from "./fake-clock.ts";
import { makeShownRouter } from "./view.ts";

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Record<string, unknown>;
}

export interface AskOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestApiOptions {
  /** Rewrites, as text behind a Router document. */
  readonly documents?: string;
  readonly endpoints?: readonly Endpoint[];
  readonly access?: Partial<AdminAccess>;
  readonly observers?: ActiveConfig["observers"];
}

/** The admin API over a config that can be changed and endpoints that nothing runs on; asked without a server. */
export async function makeApi({ documents = "", endpoints = [], access = {}, observers = [] }: TestApiOptions = {}) {
  const clock = new FakeClock();
  const running = await makeRunning(documents, clock);
  const logged: { readonly message: string; readonly fields: LogFields | undefined }[] = [];
  const note = (message: string, fields?: LogFields) => void logged.push({ message, fields });
  /** What the log of the replicas would say of the ends of intents. */
  const causes: string[] = [];
  const intents = new Intents(clock, (_, cause) => void causes.push(cause));
  const router = makeShownRouter(endpoints, { config: { observers }, control: { intents } });
  const overlayExpiry = new OverlayExpiry(running, clock);
  const log = { info: note, warn: note, error: note };
  const streams = new EventStreams({ observers: () => router.config.observers, clock, log });
  const figures = figuresOf(router);
  const api = routerApi({
    router,
    figures,
    running,
    overlayExpiry,
    streams,
    turn: turns(),
    commandLine: {},
    clock,
    sources: ["test.yaml"],
    acceptPauses: () => 0,
    droppedLogLines: () => 0,
    access: () => ({ isReadOnly: false, tokens: [], isOpenToNetwork: false, ...access }),
    log,
  });
  /** A change is sent as JSON unless the headers say otherwise. */
  const ask = async (method: string, path: string, { body, headers = {} }: AskOptions = {}): Promise<ApiAnswer> => {
    const isChange = method !== "GET" && method !== "HEAD";
    const request = new Request(`http://localhost/api/v1${path}`, {
      method,
      headers: { ...(isChange && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const response = await api(request, "192.0.2.7");
    const text = await response.text();
    return { status: response.status, headers: response.headers, json: JSON.parse(text) as Record<string, unknown> };
  };
  return { ask, api, streams, clock, figures, running, router, logged, causes };
}

/** A resource that sends a model to these targets. */
export function makeRewrite(name: string, targets: Readonly<Record<string, number>>, model = name) {
  return {
    apiVersion: "llm-d.ai/v1alpha2",
    kind: "InferenceModelRewrite",
    metadata: { name },
    spec: {
      poolRef: { name: "default" },
      rules: [
        {
          matches: [{ model: { type: "Exact", value: model } }],
          targets: Object.entries(targets).map(([modelRewrite, weight]) => ({ modelRewrite, weight })),
        },
      ],
    },
  };
}
