import type { KubernetesApi } from "../../../../apps/kubernetes/client.ts";
import { KubernetesError } from "../../../../apps/kubernetes/kubernetes-error.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

type Stored = { readonly metadata: { readonly resourceVersion: string }; readonly [key: string]: unknown };

/** Objects by path, with versions as an API server keeps them; it fails as a test says. */
export class ScriptedApi implements KubernetesApi {
  readonly asked: Asked[] = [];
  readonly objects = new Map<string, Stored>();
  /** What the next requests are refused with. */
  readonly failures: KubernetesError[] = [];
  isDown = false;
  #version = 0;

  async request(method: string, path: string, { body }: { readonly body?: unknown } = {}): Promise<unknown> {
    this.asked.push({ method, path, body });
    if (this.isDown) throw new KubernetesError(0, "", "The server is not there.");
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    const found = this.objects.get(path);
    if (method === "GET") {
      if (found === undefined) throw new KubernetesError(404, "NotFound", "It is not there.");
      return found;
    }
    const { metadata } = body as { readonly metadata: { readonly name?: string; readonly resourceVersion?: string } };
    if (method === "PUT" && metadata.resourceVersion !== found?.metadata.resourceVersion)
      throw new KubernetesError(409, "Conflict", "It is another one.");
    const at = method === "POST" ? `${path}/${metadata.name}` : path;
    if (method === "POST" && metadata.name !== undefined && this.objects.has(at))
      throw new KubernetesError(409, "AlreadyExists", "It is there.");
    this.#version += 1;
    const stored = { ...(body as object), metadata: { ...metadata, resourceVersion: String(this.#version) } };
    this.objects.set(at, stored);
    return stored;
  }

  stream(): Promise<void> {
    return Promise.reject(new KubernetesError(0, "", "Nothing is watched here."));
  }
}
