import { MAX_SLOTS } from "../../../core/state/load.ts";
import { parseEndpointUrl } from "../../contract/endpoint-url.ts";
import { thrownMessage } from "../../contract/thrown-text.ts";
import { type Finding, notUnderstood, type Taken } from "./finding.ts";

/** A replica, as spec.pool.endpoints has it. */
interface DraftEndpoint {
  readonly url: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly auth?: { readonly bearer: string };
}

/** The config that is being made of a source, and what became of each of its settings. */
export class Draft {
  readonly findings: Finding[] = [];
  /** Of the Router document, without the endpoints. */
  readonly spec: Record<string, unknown> = {};
  /** Where a value of the spec comes from, by its path. */
  readonly origins = new Map<string, string>();
  readonly endpoints: DraftEndpoint[] = [];
  /** What replicas get for a name that clients write, with weights. */
  readonly aliases = new Map<string, Map<string, number>>();

  find(setting: string, line: number, [effect, why]: Taken): void {
    this.findings.push({ setting, line, effect, why });
  }

  /** Sets a value of the spec; `path` is such as "limits.retries". */
  set(path: string, value: unknown, origin: string): void {
    const keys = path.split(".");
    const last = keys.pop()!;
    let at = this.spec;
    for (const key of keys) {
      at[key] ??= {};
      at = at[key] as Record<string, unknown>;
    }
    at[last] = value;
    this.origins.set(`spec.${path}`, origin);
  }

  /** The profile is these plugins, with the default guards in front. */
  setProfile(types: readonly string[], origin: string): void {
    this.set("profiles", [{ plugins: types.map((pluginRef) => ({ pluginRef })) }], origin);
  }

  /** Adds a replica, once. */
  addEndpoint(text: string, more: Omit<DraftEndpoint, "url"> = {}): Taken {
    if (text.includes("$")) return notUnderstood("its address has a variable in it: write the address");
    try {
      const { href } = parseEndpointUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
      if (this.endpoints.some(({ url }) => url === href)) return ["taken over", "the replica is listed already"];
      if (this.endpoints.length === MAX_SLOTS) return ["left out", `a router has at most ${MAX_SLOTS} replicas`];
      this.endpoints.push({ url: href, ...more });
      return ["taken over", "spec.pool.endpoints"];
    } catch (thrown) {
      return notUnderstood(thrownMessage(thrown));
    }
  }

  /** Clients ask for `model`, and replicas get `target`. */
  addAlias(model: string, target: string, weight = 1): void {
    const targets = this.aliases.get(model) ?? new Map<string, number>();
    this.aliases.set(model, targets.set(target, (targets.get(target) ?? 0) + weight));
  }

  get hasReplicas(): boolean {
    return this.endpoints.length > 0 || this.spec["kubernetes"] !== undefined;
  }
}
