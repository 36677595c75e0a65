import type { ConfigText } from "../../../config/read/files.ts";
import type { ChangeResult } from "../../../config/running/changeable-config.ts";
import type { ClusterAccess } from "../client.ts";
import type { ClusterState } from "./cluster-view.ts";
import { ROUTERS, resourceName } from "./kinds.ts";
import { Lease } from "./lease.ts";
import { ResourceWatches } from "./resource-watches.ts";
import { isSameResource, type LoadWith, type Outcome, settle } from "./settle.ts";
import { StatusWriter } from "./status-writer.ts";
import { countFields, type TargetCount } from "./target-counts.ts";
import { type HasTarget, TargetRefs } from "./target-refs.ts";
import { type Attempt, findingsOf, type RunningTexts, type Verdict, verdictsOf } from "./verdicts.ts";

export interface ClusterResourcesOptions extends ClusterAccess {
  readonly namespace: string;
  /** The Router that gives a part of the config; undefined: none does. */
  readonly router: string | undefined;
  /** Of this process, and of no other one. */
  readonly identity: string;
}

/** The config that runs, as far as resources change it. */
export interface FollowingConfig {
  readonly loaded: RunningTexts & { readonly config: { readonly pool: { readonly name: string } } };
  /** Loads once more, with the resources as they are now. */
  follow(): Promise<ChangeResult>;
}

/** How often the counts of targets in the status are renewed. */
const COUNT_MS = 30_000;
/** How often replicas are looked at for the targets that resources name. */
const LOOK_MS = 2_000;

/** What the status of resources says of requests and replicas. */
export interface SeenByRouter {
  readonly counts: () => readonly TargetCount[];
  readonly hasTarget: HasTarget;
}

/** What can't be built though it loads: it stays out until it is another one. */
interface Held {
  readonly text: ConfigText;
  readonly refusals: readonly string[];
}

/** The resources of a cluster as a source of the config, and what they are told of themselves. */
export class ClusterResources implements ClusterState {
  readonly #options: ClusterResourcesOptions;
  readonly #watches: ResourceWatches;
  readonly #routerName: string;
  readonly #synced = new Set<() => void>();
  #writer: StatusWriter | undefined;
  #lease: Lease | undefined;
  #running: FollowingConfig | undefined;
  #fields: Readonly<Record<string, unknown>> = {};
  #hasTarget: HasTarget = () => undefined;
  readonly #refs: TargetRefs;
  #stopLooking: () => void = () => {};
  #attempt: Attempt = { seen: new Map(), rejected: new Map(), refusals: [] };
  #held: Held | undefined;
  #verdicts: readonly Verdict[] = [];
  /** What was logged of each resource. */
  readonly #logged = new Map<string, string>();

  constructor(options: ClusterResourcesOptions) {
    const { namespace, router = "" } = options;
    this.#options = options;
    this.#refs = new TargetRefs(options.clock);
    this.#routerName = resourceName(ROUTERS, namespace, router);
    this.#watches = new ResourceWatches({ ...options, changed: () => void this.#changed() });
  }

  get verdicts(): readonly Verdict[] {
    return this.#verdicts;
  }

  get keptNames(): readonly string[] {
    const there = new Set(this.#watches.resources.map(({ text }) => text.file));
    const used = (this.#running?.loaded.texts ?? []).filter(({ resource }) => resource !== undefined);
    return this.#watches.isSynced ? used.map(({ file }) => file).filter((file) => !there.has(file)) : [];
  }

  get staleSinceMs(): number | undefined {
    return this.#watches.staleSinceMs;
  }

  get isWriter(): boolean {
    return this.#lease?.isHeld ?? false;
  }

  start(): void {
    this.#watches.start();
  }

  /** Resolves to true once all resources are known, or to false after `timeoutMs`. */
  whenSynced(timeoutMs: number): Promise<boolean> {
    if (this.#watches.isSynced) return Promise.resolve(true);
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        resolve(true);
      };
      const cancel = this.#options.clock.after(timeoutMs, () => {
        this.#synced.delete(wake);
        resolve(false);
      });
      this.#synced.add(wake);
    });
  }

  /** Loads a config with as many of the resources as can run. */
  async load<Result extends Outcome>(load: LoadWith<Result>): Promise<Result> {
    const all = this.#watches.resources.map(({ text }) => text);
    const running = (this.#running?.loaded.texts ?? []).filter(({ resource }) => resource !== undefined);
    const held = this.#held;
    const newest = all.flatMap((text) => {
      if (!isSameResource(text, held?.text)) return [text];
      return running.filter(({ file }) => file === text.file);
    });
    const { result, rejected } = await settle(newest, running, load);
    this.#attempt = { seen: new Map(all.map((text) => [text.file, text])), rejected, refusals: held?.refusals ?? [] };
    return result;
  }

  /** This config runs from now on: it follows the resources, and they are told what became of them. A Router is told the counts too. */
  use(running: FollowingConfig, { counts, hasTarget }: SeenByRouter): void {
    const { identity, ...rest } = this.#options;
    this.#running = running;
    this.#hasTarget = hasTarget;
    const name = `signalbox-${running.loaded.config.pool.name}`.toLowerCase().replaceAll(/[^a-z0-9-]+/g, "-");
    const lease = new Lease({
      ...rest,
      identity,
      name: name.slice(0, 63).replace(/-+$/, ""),
      changed: () => this.#writer?.wake(),
    });
    this.#writer = new StatusWriter({ ...rest, identity, mayWrite: () => lease.isHeld });
    this.#lease = lease;
    lease.start();
    const count = () => {
      this.#fields = countFields(counts(), identity);
    };
    count();
    const stopCounting = rest.clock.every(COUNT_MS, () => {
      count();
      this.#tell();
    });
    const stopSeeing = rest.clock.every(LOOK_MS, () => {
      if (this.#refs.look(this.#watches.resources, hasTarget)) this.#tell();
    });
    this.#stopLooking = () => {
      stopCounting();
      stopSeeing();
    };
    // What has changed while the router was built.
    void this.#changed();
  }

  /** An attempt to change the config has ended. */
  report({ isApplied, problems }: ChangeResult): void {
    this.#attempt = { ...this.#attempt, refusals: isApplied ? (this.#held?.refusals ?? []) : problems };
    this.#tell();
  }

  async stop(): Promise<void> {
    this.#watches.stop();
    this.#stopLooking();
    this.#writer?.stop();
    await this.#lease?.stop();
  }

  async #changed(): Promise<void> {
    for (const wake of [...this.#synced]) wake();
    this.#synced.clear();
    const running = this.#running;
    if (running === undefined || !this.#watches.isSynced) return;
    if (!this.#isSeen()) {
      const { isApplied, problems } = await running.follow();
      if (!isApplied && this.#holdBack(running, problems)) await running.follow();
    }
    this.#tell();
  }

  /** Whether the config was loaded with what the resources say now. */
  #isSeen(): boolean {
    const { seen } = this.#attempt;
    const { resources } = this.#watches;
    return resources.length === seen.size && resources.every(({ text }) => isSameResource(text, seen.get(text.file)));
  }

  /** Of resources, only a Router has plugins, which may refuse to be made: without it, the others can go on. */
  #holdBack({ loaded }: FollowingConfig, refusals: readonly string[]): boolean {
    const text = this.#watches.resources.find((resource) => resource.text.file === this.#routerName)?.text;
    const running = loaded.texts.find(({ file }) => file === this.#routerName);
    if (text === undefined || isSameResource(text, running) || isSameResource(text, this.#held?.text)) return false;
    this.#held = { text, refusals };
    return true;
  }

  #tell(): void {
    const running = this.#running;
    if (running === undefined) return;
    const { loaded } = running;
    this.#verdicts = verdictsOf(this.#watches.resources, loaded, this.#attempt);
    this.#refs.look(this.#watches.resources, this.#hasTarget);
    for (const verdict of this.#verdicts) this.#log(verdict);
    const names = new Set(this.#verdicts.map(({ resource }) => resource.text.file));
    for (const name of this.#logged.keys()) if (!names.has(name)) this.#logged.delete(name);
    this.#writer?.follow(
      this.#verdicts.flatMap((verdict) => {
        const findings = findingsOf(verdict, loaded.config.pool.name, this.#refs.missingOf(verdict.resource));
        const fields = verdict.resource.regarding.kind === ROUTERS.kind && this.isWriter ? this.#fields : {};
        return findings === undefined ? [] : [{ ...verdict.resource, findings, fields }];
      }),
    );
  }

  /** Each thing once. */
  #log({ state, notes, isOlderUsed, resource }: Verdict): void {
    const { log } = this.#options;
    const { file } = resource.text;
    const said = `${state} ${notes.join("\n")}`;
    if (this.#logged.get(file) === said) return;
    this.#logged.set(file, said);
    if (state === "elsewhere") log.info("A resource is about another pool, so it is left alone", { resource: file });
    if (state !== "rejected" && state !== "refused") return;
    const fields = { resource: file, isOlderUsed, problems: notes.length };
    log.error("A resource is not used as it is now", fields);
    for (const note of notes.slice(0, 10)) log.error(`${file}  ${note}`);
  }
}
