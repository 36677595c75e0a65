import { formatProblem, type Problem } from "../../config/read/problems.ts";
import type { ActiveConfig } from "../active-config.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { MetricFamily } from "../contract/metric-family.ts";
import type { RouterView } from "../contract/router-view.ts";
import type { Ticket } from "../request/ticket.ts";
import type {
  Access,
  Admitter,
  Beside,
  ChangeableConfig,
  Copier,
  Feature,
  FeatureHost,
  LiveFeature,
  StreamKeeper,
} from "./feature.ts";
import { type EndpointJudge, type JudgeHost, NO_JUDGE } from "./judge.ts";
import { FEATURES } from "./list.ts";

/** What requests call of the features. */
export interface RequestHooks {
  readonly access: Access | undefined;
  readonly beside: Beside | undefined;
  readonly copier: Copier | undefined;
  readonly admitter: Admitter | undefined;
  readonly streams: StreamKeeper | undefined;
  settled(ticket: Ticket): void;
}

/** The features of a running router, called as one. */
export class LiveFeatures implements RequestHooks {
  readonly access: Access | undefined;
  readonly beside: Beside | undefined;
  readonly copier: Copier | undefined;
  readonly admitter: Admitter | undefined;
  readonly streams: StreamKeeper | undefined;
  /** The config that runs, once somebody can change it. */
  running: ChangeableConfig | undefined;
  readonly #all: LiveFeature[];
  readonly #learning: readonly Required<Pick<LiveFeature, "settled">>[];

  constructor(host: Omit<FeatureHost, "running">, features: readonly Feature[] = FEATURES) {
    const running = () => this.running;
    this.#all = features.flatMap(({ start }) => start?.({ ...host, running }) ?? []);
    this.access = this.#all.find(({ access }) => access)?.access;
    this.beside = this.#all.find(({ beside }) => beside)?.beside;
    this.copier = this.#all.find(({ copier }) => copier)?.copier;
    this.admitter = this.#all.find(({ admitter }) => admitter)?.admitter;
    this.streams = this.#all.find(({ streams }) => streams)?.streams;
    this.#learning = this.#all.filter((one): one is Required<LiveFeature> => one.settled !== undefined);
  }

  /** Something that is there before the router, and that people see as a part of it. */
  attach(one: Pick<LiveFeature, "status" | "warnings" | "metrics">): void {
    this.#all.push(one);
  }

  use(config: ActiveConfig): void {
    for (const one of this.#all) one.use?.(config);
  }

  follow(endpoints: readonly Endpoint[]): void {
    for (const one of this.#all) one.follow?.(endpoints);
  }

  settled(ticket: Ticket): void {
    for (const one of this.#learning) one.settled(ticket);
  }

  status(rule?: string, target?: string): object {
    return Object.assign({}, ...this.#all.map((one) => one.status?.(rule, target)));
  }

  notes(rule: string): readonly string[] {
    return this.#all.flatMap((one) => one.notes?.(rule) ?? []);
  }

  /** What is wrong with their sections, then what they say themselves. */
  warnings(view: RouterView, ofConfig: readonly Problem[]): readonly string[] {
    const keys = FEATURES.map(({ section }) => section.key);
    const ofSections = ofConfig.filter(({ path }) => keys.some((key) => path.startsWith(`spec.${key}`)));
    return [...ofSections.map(formatProblem), ...this.#all.flatMap((one) => one.warnings?.(view) ?? [])];
  }

  metrics(view: RouterView): readonly MetricFamily[] {
    return this.#all.flatMap((one) => one.metrics?.(view) ?? []);
  }

  stop(): void {
    for (const one of this.#all) one.stop?.();
  }

  close(): void {
    for (const one of this.#all) one.close?.();
  }
}

/** The judge of a pool: that of the feature that has one. */
export function makeJudge(host: JudgeHost): EndpointJudge {
  return FEATURES.find(({ judge }) => judge)?.judge?.(host) ?? NO_JUDGE;
}
