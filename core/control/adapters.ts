import type { Clock } from "../contract/clock.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { NameSet } from "../contract/name-set.ts";
import { z } from "../contract/options.ts";
import type { Facts } from "../state/facts.ts";
import type { LoadTable } from "../state/load.ts";
import type { HttpPost } from "../wire/http-get-result.ts";

export interface AdapterOptions {
  readonly clock: Pick<Clock, "now">;
  readonly load: Pick<LoadTable, "adapters" | "unlisted" | "isCurrent">;
  readonly facts: () => Facts;
  /** The targets of the config's rewrites. */
  readonly targets: () => NameSet;
  readonly post: HttpPost;
  /** The endpoint's list of models has changed. */
  readonly checkModels: (endpoint: Endpoint) => void;
}

/** Who has an adapter, by the names of endpoints. */
export const placesSchema = z.object({
  name: z.string(),
  isTarget: z.boolean().describe("A rewrite has it as a target."),
  /** They list it, or have served it since the list was read. */
  loaded: z.array(z.string()).describe("Endpoints whose replicas have it."),
  loading: z.array(z.string()).describe("Endpoints whose replicas load it now, for a request."),
  refused: z
    .array(z.object({ endpoint: z.string(), retryInS: z.int() }))
    .describe("Endpoints whose replicas said 404 for it, and when they may be asked again."),
});

/** What one replica said to a load or an unload. */
export const changeSchema = z.object({
  endpoint: z.string(),
  isDone: z.boolean(),
  status: z.int().nullable().describe("The replica's HTTP status; null if it sent none, or was not asked."),
  message: z.string().describe("The replica's words."),
});

export type AdapterPlaces = z.infer<typeof placesSchema>;
export type AdapterChange = z.infer<typeof changeSchema>;

/** A load of a large adapter takes that long at most. */
const LOAD_TIMEOUT_MS = 120_000;
const UNLOAD_TIMEOUT_MS = 30_000;
const RESPONSE_BYTES = 64 * 1024;
const MESSAGE_CHARS = 300;

/** No endpoint of the pool has the name that was given. */
export class UnknownEndpoint extends Error {}

/** Shows which replicas have which adapters, and has replicas load and unload them. */
export class Adapters {
  readonly #options: AdapterOptions;

  constructor(options: AdapterOptions) {
    this.#options = options;
  }

  /** Every adapter that a replica lists, and every target that is not a base model, by name. */
  list(): readonly AdapterPlaces[] {
    const { facts, targets } = this.#options;
    const { endpoints } = facts();
    const bases = new Set(endpoints.flatMap((endpoint) => this.#basesOf(endpoint)));
    const adapters = endpoints.flatMap((endpoint) => [...(this.#adaptersOf(endpoint) ?? [])]);
    const names = new Set([...adapters, ...targets()].filter((name) => !bases.has(name)));
    return [...names].sort().map((name) => this.#places(name, endpoints, targets()));
  }

  /**
   * Has replicas load the adapter: from `path`, or without one from where they find adapters by name. All replicas in service, or
   * the named one. Throws UnknownEndpoint.
   */
  load(name: string, where: { readonly path?: string; readonly endpoint?: string }): Promise<readonly AdapterChange[]> {
    const { path } = where;
    return Promise.all(this.#inService(where.endpoint).map((endpoint) => this.#loadAt(endpoint, name, path)));
  }

  /** Has replicas unload the adapter: those in service that list it, or the named one. Throws UnknownEndpoint. */
  unload(name: string, where: { readonly endpoint?: string }): Promise<readonly AdapterChange[]> {
    const endpoints = this.#inService(where.endpoint).filter(({ models }) => where.endpoint !== undefined || models.has(name));
    return Promise.all(
      endpoints.map(async (endpoint) => {
        const change = await this.#post(endpoint, "/v1/unload_lora_adapter", { lora_name: name }, UNLOAD_TIMEOUT_MS, hasNotGot);
        if (change.isDone) this.#changed(endpoint, name);
        return change;
      }),
    );
  }

  #places(name: string, endpoints: readonly Endpoint[], targets: NameSet): AdapterPlaces {
    const { load, clock } = this.#options;
    const nowMs = clock.now();
    const standings = endpoints.map((endpoint) => ({
      endpoint: endpoint.name,
      isListed: endpoint.models.has(name),
      unlisted: load.unlisted.at(endpoint.slot, name, nowMs),
    }));
    const others = standings.filter(({ isListed }) => !isListed);
    return {
      name,
      isTarget: targets.has(name),
      loaded: standings.flatMap(({ endpoint, isListed, unlisted }) =>
        isListed || unlisted?.standing === "served" ? [endpoint] : [],
      ),
      loading: others.flatMap(({ endpoint, unlisted }) => (unlisted?.standing === "loading" ? [endpoint] : [])),
      refused: others.flatMap(({ endpoint, unlisted }) =>
        unlisted?.standing === "refused" ? [{ endpoint, retryInS: Math.ceil(unlisted.leftMs / 1000) }] : [],
      ),
    };
  }

  #adaptersOf({ slot }: Endpoint): ReadonlySet<string> | undefined {
    return this.#options.load.adapters[slot]?.names;
  }

  /** Known only where the model list distinguishes them from adapters. */
  #basesOf(endpoint: Endpoint): readonly string[] {
    const adapters = this.#adaptersOf(endpoint);
    return adapters === undefined ? [] : [...endpoint.models].filter((name) => !adapters.has(name));
  }

  #inService(name: string | undefined): readonly Endpoint[] {
    const { endpoints } = this.#options.facts();
    if (name === undefined) return endpoints.filter(({ phase }) => phase !== "starting" && phase !== "not-ready");
    const named = endpoints.filter((endpoint) => endpoint.name === name);
    if (named.length === 0)
      throw new UnknownEndpoint("No endpoint of the pool has that name; `signalbox status` shows the names.");
    return named;
  }

  async #loadAt(endpoint: Endpoint, name: string, path: string | undefined): Promise<AdapterChange> {
    if (path === undefined && endpoint.models.has(name))
      return { endpoint: endpoint.name, isDone: true, status: null, message: HAS_ALREADY };
    const { clock, load } = this.#options;
    const startedAtMs = clock.now();
    // Tokenizing is the cheapest request that names a model, so it makes a replica that finds adapters by name load this one.
    const change =
      path === undefined
        ? await this.#post(endpoint, "/tokenize", { model: name, prompt: "a" }, LOAD_TIMEOUT_MS)
        : await this.#post(endpoint, "/v1/load_lora_adapter", { lora_name: name, lora_path: path }, LOAD_TIMEOUT_MS, hasAlready);
    if (change.isDone) {
      if (change.status === 200) load.unlisted.loaded(clock.now() - startedAtMs, true);
      this.#changed(endpoint, name);
    }
    return change.isDone && path === undefined ? { ...change, message: "It has it now." } : change;
  }

  /** What responses said of the name before does not hold any more. */
  #changed(endpoint: Endpoint, name: string): void {
    const { load, checkModels } = this.#options;
    if (!load.isCurrent(endpoint)) return;
    load.unlisted.forget(endpoint.slot, name);
    checkModels(endpoint);
  }

  /** `isNothingToDo` gives the words for a refusal that says that the replica is as it should be; undefined for any other. */
  async #post(
    endpoint: Endpoint,
    path: string,
    document: unknown,
    timeoutMs: number,
    isNothingToDo: (status: number, message: string) => string | undefined = () => undefined,
  ): Promise<AdapterChange> {
    try {
      const { status, body } = await this.#options.post(endpoint, path, document, timeoutMs, RESPONSE_BYTES);
      const message = messageIn(body);
      const words = status === 200 ? message.slice(0, MESSAGE_CHARS) : isNothingToDo(status, message);
      return { endpoint: endpoint.name, isDone: words !== undefined, status, message: words ?? message.slice(0, MESSAGE_CHARS) };
    } catch (thrown) {
      return { endpoint: endpoint.name, isDone: false, status: null, message: thrown instanceof Error ? thrown.message : "" };
    }
  }
}

const HAS_ALREADY = "It has it already.";

/** vLLM refuses a second load in these words. */
function hasAlready(status: number, message: string): string | undefined {
  return status === 400 && message.includes("already been loaded") ? HAS_ALREADY : undefined;
}

/** And to unload what it has not loaded. A replica that knows no such path says 404 too, but in other words. */
function hasNotGot(status: number, message: string): string | undefined {
  return status === 404 && message.includes("cannot be found") ? "It does not have it." : undefined;
}

/** The message of an error document, or the text itself. */
function messageIn(body: string): string {
  try {
    const document = JSON.parse(body) as { error?: { message?: unknown } } | null;
    const message = document?.error?.message;
    return typeof message === "string" ? message : body;
  } catch {
    return body;
  }
}
