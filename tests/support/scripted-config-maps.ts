import type { KubernetesApi, RequestOptions, StreamOptions } from "../../apps/kubernetes/client.ts";
import { KubernetesError } from "../../apps/kubernetes/kubernetes-error.ts";

interface ConfigMap {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly resourceVersion: string;
  };
  readonly data: Readonly<Record<string, string>>;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: object | undefined;
}

interface OpenWatch {
  readonly options: StreamOptions;
  readonly isSelected: (object: ConfigMap) => boolean;
  readonly fail: (error: KubernetesError) => void;
}

/** The ConfigMaps of one namespace as an API server keeps them, with their watches; it fails as a test says. */
export class ScriptedConfigMaps implements KubernetesApi {
  readonly asked: Asked[] = [];
  readonly objects = new Map<string, ConfigMap>();
  /** What requests of a method are answered with, in place of what they ask for. */
  readonly failures = new Map<string, KubernetesError | "silence">();
  readonly #watches = new Set<OpenWatch>();
  #version = 0;

  /** All that is asked from now on fails so, and watches end; undefined: nothing does. */
  set away(error: KubernetesError | undefined) {
    for (const method of ["GET", "POST", "PATCH", "DELETE", "WATCH"])
      if (error === undefined) this.failures.delete(method);
      else this.failures.set(method, error);
    if (error !== undefined) this.endWatches(error);
  }

  endWatches(error: KubernetesError): void {
    for (const { fail } of [...this.#watches]) fail(error);
  }

  /** Writes one, as anybody could. */
  put(name: string, data: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): void {
    const type = this.objects.has(name) ? "MODIFIED" : "ADDED";
    this.#version += 1;
    const object = { metadata: { name, labels, resourceVersion: String(this.#version) }, data };
    this.objects.set(name, object);
    this.#tell(type, object);
  }

  remove(name: string): void {
    const object = this.objects.get(name);
    this.objects.delete(name);
    this.#version += 1;
    if (object !== undefined) this.#tell("DELETED", object);
  }

  async request(method: string, path: string, { body, signal }: RequestOptions = {}): Promise<unknown> {
    this.asked.push({ method, path, body: body as object | undefined });
    await this.#failure(method, signal);
    const [, name = ""] = /\/configmaps\/([^?]+)/.exec(path) ?? [];
    const found = this.objects.get(name);
    if (method === "GET") {
      const items = [...this.objects.values()].filter(selectorOf(path));
      return { metadata: { resourceVersion: String(this.#version) }, items };
    }
    const { metadata, data, preconditions } = (body ?? {}) as Partial<ConfigMap> & {
      readonly preconditions?: { readonly resourceVersion: string };
    };
    if (method === "POST") {
      if (this.objects.has(metadata!.name)) throw new KubernetesError(409, "AlreadyExists", "It is there.");
      this.put(metadata!.name, data!, metadata!.labels);
      return {};
    }
    if (found === undefined) throw new KubernetesError(404, "NotFound", "It is not there.");
    if (method === "PATCH") this.put(name, { ...found.data, ...data }, { ...found.metadata.labels, ...metadata?.labels });
    else if ((preconditions?.resourceVersion ?? found.metadata.resourceVersion) !== found.metadata.resourceVersion)
      throw new KubernetesError(409, "Conflict", "It is another one.");
    else this.remove(name);
    return {};
  }

  async stream(path: string, options: StreamOptions): Promise<void> {
    await this.#failure("WATCH", options.signal);
    options.begun();
    await new Promise<void>((_resolve, reject) => {
      const watch = {
        options,
        isSelected: selectorOf(path),
        fail: (error: KubernetesError) => {
          this.#watches.delete(watch);
          reject(error);
        },
      };
      this.#watches.add(watch);
      options.signal.addEventListener("abort", () => watch.fail(new KubernetesError(0, "", "broken off")));
    });
  }

  async #failure(method: string, signal: AbortSignal | undefined): Promise<void> {
    const failure = this.failures.get(method);
    if (failure === undefined) return;
    if (failure !== "silence") throw failure;
    await new Promise<void>((_resolve, reject) => {
      signal?.addEventListener("abort", () => reject(new KubernetesError(0, "", "broken off")));
    });
  }

  #tell(type: string, object: ConfigMap): void {
    const line = Buffer.from(`${JSON.stringify({ type, object })}\n`);
    for (const { options, isSelected } of this.#watches) if (isSelected(object)) options.bytes(line);
  }
}

/** Those with the label that a path asks for. */
function selectorOf(path: string): (object: ConfigMap) => boolean {
  const [key = "", value] = (new URLSearchParams(path.split("?")[1]).get("labelSelector") ?? "").split("=");
  return ({ metadata }) => metadata.labels[key] === value;
}
