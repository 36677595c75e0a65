import type { Endpoint, Phase } from "../contract/endpoint.ts";
import type { NameSet } from "../contract/name-set.ts";
import { z } from "../contract/options.ts";
import type { AdapterAccess } from "../router-host.ts";

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

export type AdapterAction = "load" | "unload";

/** A load of a large adapter takes that long at most. */
const LOAD_TIMEOUT_MS = 120_000;
/** The engine's paths. */
const ENGINE: Readonly<Record<AdapterAction, { readonly path: string; readonly longestMs: number }>> = {
  load: { path: "/v1/load_lora_adapter", longestMs: LOAD_TIMEOUT_MS },
  unload: { path: "/v1/unload_lora_adapter", longestMs: 30_000 },
};
const RESPONSE_BYTES = 64 * 1024;
const MESSAGE_CHARS = 300;

/** Phases in which a replica can't load anything. */
const OUT_OF_SERVICE: ReadonlySet<Phase> = new Set(["starting", "not-ready", "asleep"] as const);

/** No endpoint of the pool has the name that was given. */
export class UnknownEndpoint extends Error {}

/** Shows which replicas have which adapters, and has replicas load and unload them. */
export class Adapters {
  readonly #options: AdapterAccess;

  constructor(options: AdapterAccess) {
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
    return Promise.all(endpoints.map((endpoint) => this.#sendTo(endpoint, "unload", name, { lora_name: name })));
  }

  /**
   * Sends a client's document, which names the adapter, to every replica in service: whether it may be loaded or unloaded is for the
   * engine to say. Each has `timeoutMs` at most.
   */
  passOn(action: AdapterAction, name: string, document: object, timeoutMs: number): Promise<readonly AdapterChange[]> {
    return Promise.all(this.#inService(undefined).map((endpoint) => this.#sendTo(endpoint, action, name, document, timeoutMs)));
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
    if (name === undefined) return endpoints.filter(({ phase }) => !OUT_OF_SERVICE.has(phase));
    const named = endpoints.filter((endpoint) => endpoint.name === name);
    if (named.length === 0)
      throw new UnknownEndpoint("No endpoint of the pool has that name; `signalbox status` shows the names.");
    return named;
  }

  async #loadAt(endpoint: Endpoint, name: string, path: string | undefined): Promise<AdapterChange> {
    if (path === undefined && endpoint.models.has(name))
      return { endpoint: endpoint.name, isDone: true, status: null, message: HAS_ALREADY };
    if (path !== undefined) return this.#sendTo(endpoint, "load", name, { lora_name: name, lora_path: path });
    // Tokenizing is the cheapest request that names a model, so it makes a replica that finds adapters by name load this one.
    const { clock } = this.#options;
    const startedAtMs = clock.now();
    const change = await this.#post(endpoint, "/tokenize", { model: name, prompt: "a" }, LOAD_TIMEOUT_MS);
    if (!change.isDone) return change;
    this.#loaded(endpoint, name, clock.now() - startedAtMs);
    return { ...change, message: "It has it now." };
  }

  /** Sends the document to the engine's own path for this. */
  async #sendTo(
    endpoint: Endpoint,
    action: AdapterAction,
    name: string,
    document: object,
    timeoutMs = Number.POSITIVE_INFINITY,
  ): Promise<AdapterChange> {
    const { clock, load } = this.#options;
    const { path, longestMs } = ENGINE[action];
    const startedAtMs = clock.now();
    const hadIt = endpoint.models.has(name) || load.unlisted.at(endpoint.slot, name, startedAtMs)?.standing === "served";
    const said = await this.#post(endpoint, path, document, Math.min(longestMs, timeoutMs));
    const nothingToDo = said.isDone ? undefined : needlessWords(action, said, hadIt, otherPath(endpoint, name, document));
    const change = nothingToDo === undefined ? said : { ...said, isDone: true, message: nothingToDo };
    if (!change.isDone) return change;
    if (action === "load") this.#loaded(endpoint, name, nothingToDo === undefined ? clock.now() - startedAtMs : undefined);
    else this.#changed(endpoint, name, false);
    return change;
  }

  /** `tookMs` teaches how long a load takes. */
  #loaded(endpoint: Endpoint, name: string, tookMs: number | undefined): void {
    if (tookMs !== undefined) this.#options.load.unlisted.loaded(tookMs, true);
    this.#changed(endpoint, name, true);
  }

  /** What responses said of the name before does not hold any more. */
  #changed(endpoint: Endpoint, name: string, isLoaded: boolean): void {
    const { load, adapterChanged } = this.#options;
    if (!load.isCurrent(endpoint)) return;
    load.unlisted.forget(endpoint.slot, name);
    adapterChanged(endpoint, name, isLoaded);
  }

  async #post(endpoint: Endpoint, path: string, document: unknown, timeoutMs: number): Promise<AdapterChange> {
    try {
      const { status, body } = await this.#options.post(endpoint, path, document, timeoutMs, RESPONSE_BYTES);
      return { endpoint: endpoint.name, isDone: status === 200, status, message: messageIn(body).slice(0, MESSAGE_CHARS) };
    } catch (thrown) {
      return { endpoint: endpoint.name, isDone: false, status: null, message: thrown instanceof Error ? thrown.message : "" };
    }
  }
}

const HAS_ALREADY = "It has it already.";

/** Words for a refusal that says that the replica is as it should be; undefined for any other. They are those of vLLM. */
function needlessWords(
  action: AdapterAction,
  { status, message }: AdapterChange,
  hadIt: boolean,
  isOther: boolean,
): string | undefined {
  // Under the name it may have other weights: those of a version before, say.
  if (action === "load") return status === 400 && message.includes("already been loaded") && !isOther ? HAS_ALREADY : undefined;
  // A replica that knows no such path says 404 too: where it had the adapter, only the words tell the two apart.
  return status === 404 && (!hadIt || message.includes("cannot be found")) ? "It does not have it." : undefined;
}

/** Whether the replica says that it has loaded the name from another path than the one asked for. */
function otherPath({ modelCards }: Endpoint, name: string, document: object): boolean {
  const asked = "lora_path" in document ? document.lora_path : undefined;
  const root = modelCards?.[name]?.root;
  return root !== undefined && typeof asked === "string" && root.replace(/\/+$/, "") !== asked.replace(/\/+$/, "");
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
