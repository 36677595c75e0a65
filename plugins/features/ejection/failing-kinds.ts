import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import type { EndpointRecords } from "./endpoint-records.ts";
import type { Blamed } from "./request-faults.ts";
import type { ServedPaths } from "./served-paths.ts";

/** Kinds of requests that fail now; more of them are a failing pool. */
const MOST_KINDS = 64;
/** Endpoints of one kind, and failures of one endpoint, that are remembered to be taken back. */
const MOST_ENDPOINTS = 32;
const MOST_TIMES = 32;
/** What was served less long ago is served, as far as is known. */
const LATELY_MS = 60_000;

interface FailedAt {
  readonly endpoint: Endpoint;
  /** Of the failures that counted against the endpoint. */
  timesMs: number[];
  lastMs: number;
}

/** A path for a model, all of whose responses have been errors since `sinceMs`. */
interface Kind {
  readonly model: string;
  readonly path: string;
  readonly sinceMs: number;
  lastMs: number;
  readonly at: Map<string, FailedAt>;
}

type Asked = Pick<InferenceRequest, "target" | "path">;

export interface FailingKindsOptions {
  readonly records: Pick<EndpointRecords, "soundSinceMs">;
  readonly servedPaths: Pick<ServedPaths, "servedAtMs">;
  readonly endpoints: () => readonly Endpoint[];
}

const NOTHING: readonly Blamed[] = [];

/**
 * Tells a path that no replica serves for a model, as where all of them answer it with 500, from an endpoint that fails. Failures of such
 * a kind of request say nothing of an endpoint that serves other kinds meanwhile. A kind is believed to be served where one was lately,
 * unless every endpoint that could serve it has failed since.
 */
export class FailingKinds {
  readonly #options: FailingKindsOptions;
  readonly #kinds = new Map<string, Kind>();
  /** When the last of them is forgotten. */
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(options: FailingKindsOptions) {
    this.#options = options;
  }

  /** True while successes matter. */
  isWatching(nowMs: number): boolean {
    return nowMs < this.#untilMs;
  }

  /** A response of 5xx came. Returns what is to be taken back, if it says nothing of the endpoint; undefined: it counts against it. */
  failed(asked: Asked, endpoint: Endpoint, nowMs: number): readonly Blamed[] | undefined {
    const kind = this.#kindOf(asked, nowMs);
    this.#untilMs = nowMs + LATELY_MS;
    const known = kind.at.get(endpoint.name);
    const isSame = known?.endpoint.generation === endpoint.generation;
    const failed: FailedAt = known !== undefined && isSame ? known : { endpoint, timesMs: [], lastMs: nowMs };
    failed.lastMs = nowMs;
    kind.lastMs = nowMs;
    if (kind.at.size < MOST_ENDPOINTS || known !== undefined) kind.at.set(endpoint.name, failed);
    if (this.#isServedNowhere(kind) && this.#servesOthers(endpoint, kind)) return takenBack(kind);
    if (failed.timesMs.length < MOST_TIMES) failed.timesMs.push(nowMs);
    return undefined;
  }

  /** The endpoint served a request. Returns what is to be taken back because of that. */
  succeeded({ target, path }: Asked, endpoint: Endpoint): readonly Blamed[] {
    this.#kinds.delete(keyOf(target, path));
    const blamed: Blamed[] = [];
    for (const kind of this.#kinds.values())
      if (kind.at.has(endpoint.name) && this.#isServedNowhere(kind)) blamed.push(...takenBack(kind));
    return blamed.length === 0 ? NOTHING : blamed;
  }

  /** The endpoint was cleared of the failures of these times: they are taken back no second time. */
  cleared({ endpoint, timesMs }: Blamed): void {
    for (const { at } of this.#kinds.values()) {
      const failed = at.get(endpoint.name);
      if (failed !== undefined) failed.timesMs = failed.timesMs.filter((atMs) => !timesMs.includes(atMs));
    }
  }

  #kindOf({ target, path }: Asked, nowMs: number): Kind {
    const key = keyOf(target, path);
    const known = this.#kinds.get(key);
    if (known !== undefined && nowMs - known.lastMs < LATELY_MS) return known;
    for (const [old, { lastMs }] of this.#kinds)
      if (nowMs - lastMs >= LATELY_MS || this.#kinds.size >= MOST_KINDS) this.#kinds.delete(old);
    const kind = { model: target, path, sinceMs: nowMs, lastMs: nowMs, at: new Map<string, FailedAt>() };
    this.#kinds.set(key, kind);
    return kind;
  }

  #isServedNowhere(kind: Kind): boolean {
    const { endpoints } = this.#options;
    if (this.#wasServedLately(kind))
      return endpoints().every(({ name, models }) => kind.at.has(name) || (kind.model !== "" && !models.has(kind.model)));
    return true;
  }

  #wasServedLately({ model, path, sinceMs }: Kind): boolean {
    return sinceMs - this.#options.servedPaths.servedAtMs(model, path) < LATELY_MS;
  }

  /** It has served another kind since, or shortly before, and nothing of yet another kind has failed there since then. */
  #servesOthers(endpoint: Endpoint, kind: Kind): boolean {
    const soundMs = this.#options.records.soundSinceMs(endpoint);
    // What it served before may have been this kind.
    if (this.#wasServedLately(kind) ? soundMs <= kind.sinceMs : soundMs < kind.sinceMs - LATELY_MS) return false;
    for (const other of this.#kinds.values())
      if (other !== kind && (other.at.get(endpoint.name)?.lastMs ?? Number.NEGATIVE_INFINITY) >= soundMs) return false;
    return true;
  }
}

const keyOf = (model: string, path: string) => `${path} ${model}`;

function takenBack({ at }: Kind): readonly Blamed[] {
  const blamed: Blamed[] = [];
  for (const failed of at.values()) {
    if (failed.timesMs.length > 0) blamed.push({ endpoint: failed.endpoint, timesMs: failed.timesMs });
    failed.timesMs = [];
  }
  return blamed;
}
