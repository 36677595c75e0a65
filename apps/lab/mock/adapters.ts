import { flag, type JsonObject, optionalString, parseBody, required } from "./fields.ts";
import type { MockSettings } from "./options.ts";
import { Problem, unknownModel } from "./problem.ts";

/**
 * The models of one replica: the base model, the loaded adapters, and adapters in a folder. As with vLLM's resolver, one in the
 * folder is loaded by the first request that names it, and stays loaded when it is removed from the folder.
 */
export class Adapters {
  readonly #settings: MockSettings;
  readonly #folder: Set<string>;
  #hasFolder: boolean;
  /** Paths by adapter name. */
  readonly #loaded = new Map<string, string>();
  readonly #loading = new Map<string, Promise<void>>();

  constructor(settings: MockSettings) {
    this.#settings = settings;
    this.#folder = new Set(settings.availableAdapters);
    this.#hasFolder = this.#folder.size > 0;
    for (const name of settings.adapters) this.#loaded.set(name, pathOf(name));
  }

  /** Copies an adapter into the folder. */
  put(name: string): void {
    this.#hasFolder = true;
    this.#folder.add(name);
  }

  /** Removes an adapter from the folder. */
  remove(name: string): void {
    this.#folder.delete(name);
  }

  get loaded(): ReadonlyMap<string, string> {
    return this.#loaded;
  }

  /** Resolves when the adapter that the request names is loaded; at once for what is loaded, or is in no folder. */
  async prepare(body: Buffer): Promise<void> {
    const { adapterLoadMs, clock } = this.#settings;
    if (adapterLoadMs === 0) return;
    const name = modelIn(body);
    if (!this.#folder.has(name) || this.#loaded.has(name)) return;
    const loading =
      this.#loading.get(name) ??
      new Promise<void>((resolve) => clock.after(adapterLoadMs, resolve)).then(() => {
        this.#loading.delete(name);
        this.#loaded.set(name, pathOf(name));
      });
    this.#loading.set(name, loading);
    await loading;
  }

  /** The model that serves a request for `name`: the base model if undefined. Loads an adapter that is in the folder. */
  resolve(name: string | undefined): string {
    const { model: base, isEmbedding } = this.#settings;
    if (name === undefined || name === "" || name === base) return base;
    if (this.#folder.has(name) && !this.#loaded.has(name)) this.#loaded.set(name, pathOf(name));
    if (this.#loaded.has(name)) return name;
    throw unknownModel(name, base, isEmbedding);
  }

  /** POST /v1/load_lora_adapter. Returns the response's body; throws a Problem. */
  load(body: JsonObject): string {
    required(body, "lora_name");
    required(body, "lora_path");
    const [name, path] = [optionalString(body, "lora_name") ?? "", optionalString(body, "lora_path") ?? ""];
    if (name === "" || path === "") throw invalidInput("Both 'lora_name' and 'lora_path' must be provided.");
    if (this.#loaded.has(name) && !flag(body, "load_inplace")) {
      const hint = "If you want to load the adapter in place, set 'load_inplace' to True.";
      throw invalidInput(`The lora adapter '${name}' has already been loaded. ${hint}`);
    }
    if (!this.#exists(path)) throw notFound(`Loading lora ${name} failed: No adapter found for <path>`);
    this.#loaded.set(name, path);
    return `Success: LoRA adapter '${name}' added successfully.`;
  }

  /** POST /v1/unload_lora_adapter. Returns the response's body; throws a Problem. */
  unload(body: JsonObject): string {
    required(body, "lora_name");
    const name = optionalString(body, "lora_name") ?? "";
    if (name === "") throw invalidInput("'lora_name' needs to be provided to unload a LoRA adapter.");
    if (!this.#loaded.delete(name)) throw notFound(`The lora adapter '${name}' cannot be found.`);
    return `Success: LoRA adapter '${name}' removed successfully.`;
  }

  /** If a folder was configured, only paths in it exist; otherwise every path does. */
  #exists(path: string): boolean {
    return !this.#hasFolder || this.#folder.has(path.split("/").at(-1) ?? "");
  }
}

/** "" where the body names none; what else is wrong with it is found later. */
function modelIn(body: Buffer): string {
  try {
    return optionalString(parseBody(body), "model") ?? "";
  } catch {
    return "";
  }
}

const pathOf = (name: string) => `/adapters/${name}`;
const invalidInput = (message: string) => new Problem(400, "InvalidUserInput", message);
const notFound = (message: string) => new Problem(404, "NotFoundError", message);
