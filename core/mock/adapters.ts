import type { JsonObject } from "./fields.ts";
import { flag, optionalString, required } from "./fields.ts";
import { Problem, unknownModel } from "./problem.ts";

/** The models of one replica: the base model, the loaded adapters, and adapters in a folder that can be loaded. */
export class Adapters {
  readonly #base: string;
  readonly #isEmbedding: boolean;
  readonly #available: ReadonlySet<string>;
  /** Paths by adapter name. */
  readonly #loaded = new Map<string, string>();

  constructor(base: string, loaded: readonly string[], available: readonly string[], isEmbedding: boolean) {
    this.#base = base;
    this.#isEmbedding = isEmbedding;
    this.#available = new Set(available);
    for (const name of loaded) this.#loaded.set(name, pathOf(name));
  }

  get loaded(): ReadonlyMap<string, string> {
    return this.#loaded;
  }

  /**
   * The model that serves a request for `name`: the base model if undefined. An adapter in the folder is loaded by its first
   * use.
   */
  resolve(name: string | undefined): string {
    if (name === undefined || name === "" || name === this.#base) return this.#base;
    if (this.#available.has(name) && !this.#loaded.has(name)) this.#loaded.set(name, pathOf(name));
    if (this.#loaded.has(name)) return name;
    throw unknownModel(name, this.#base, this.#isEmbedding);
  }

  /** POST /v1/load_lora_adapter. Returns the response's body; throws a Problem. */
  load(body: JsonObject): string {
    required(body, "lora_name");
    required(body, "lora_path");
    const name = optionalString(body, "lora_name") ?? "";
    const path = optionalString(body, "lora_path") ?? "";
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
    return this.#available.size === 0 || this.#available.has(path.split("/").at(-1) ?? "");
  }
}

const pathOf = (name: string) => `/adapters/${name}`;
const invalidInput = (message: string) => new Problem(400, "InvalidUserInput", message);
const notFound = (message: string) => new Problem(404, "NotFoundError", message);
