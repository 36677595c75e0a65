import { isObject } from "./fields.ts";

/** Everything that can be made to go wrong. Where a number of events is meant, a body without a stream is event 0. */
export interface Faults {
  /** Nobody listens: true until cleared from inside the process, or for so many milliseconds. */
  readonly refuse: true | number;
  /** Reads the request and never answers. */
  readonly hang: true;
  /** Resets the connection once the request is read. */
  readonly reset: true;
  /** Resets a connection that carries a second request, before anything of it is answered. */
  readonly resetOnReuse: true;
  /** Waits so many milliseconds before it does anything. */
  readonly slowMs: number;
  /** Closes the connection after so many events. */
  readonly dieAfterEvents: number;
  /** Closes it in the middle of the event after so many. */
  readonly dieInsideEvent: number;
  /** Resets it after so many events. */
  readonly resetAfterEvents: number;
  /** Sends nothing more after so many events and keeps the connection open. */
  readonly silentAfterEvents: number;
  /** Answers with this status. */
  readonly status: number | StatusFault;
  /** 503 on everything but /health, as while a model loads; met by every path unless limited. */
  readonly loading: true;
  /** Answers with a status line no client may accept. */
  readonly malformedHead: true;
  /** Closes the connection so many milliseconds after each answer. */
  readonly dropAfterResponseMs: number;
}

export interface StatusFault {
  readonly status: number;
  readonly retryAfterS?: number;
  readonly body?: unknown;
}

export type FaultName = keyof Faults;

/** Which requests a fault meets: the inference APIs, every path but the mock's own, or one path. */
export interface FaultLimit {
  /** Only the next so many requests. */
  readonly times?: number;
  /** "apis" (the default), "all", or a path. */
  readonly on?: string;
}

/** What options, POST /mock/faults and --fault take: a bare value, a value with its limit, or false for off. */
export type FaultChanges = {
  readonly [Name in FaultName]?: Faults[Name] | false | ({ readonly value: Faults[Name] } & FaultLimit);
};

/** A fault that cannot be set as asked. */
export class FaultError extends Error {}

type Kind = "on" | "count" | "refuse" | "status";

const KINDS: Readonly<Record<FaultName, Kind>> = {
  refuse: "refuse",
  hang: "on",
  reset: "on",
  resetOnReuse: "on",
  slowMs: "count",
  dieAfterEvents: "count",
  dieInsideEvent: "count",
  resetAfterEvents: "count",
  silentAfterEvents: "count",
  status: "status",
  loading: "on",
  malformedHead: "on",
  dropAfterResponseMs: "count",
};

/** What a value of each kind looks like, for messages. */
const WANTED: Readonly<Record<Kind, string>> = {
  on: "true",
  count: "a whole number",
  refuse: "true, or a number of milliseconds",
  status: "a status from 200 to 599, or {status, retryAfterS, body}",
};

/** The names a fault may have, for messages and help. */
export const FAULT_NAMES = Object.keys(KINDS) as FaultName[];

const isCount = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value) && value >= 0;

function isOfKind(kind: Kind, value: unknown): boolean {
  if (kind === "on") return value === true;
  if (kind === "count") return isCount(value);
  if (kind === "refuse") return value === true || isCount(value);
  const status = isObject(value) ? value["status"] : value;
  return isCount(status) && status >= 200 && status <= 599;
}

interface ActiveFault extends FaultLimit {
  readonly value: unknown;
  left: number;
}

/** Switches faults on and off; a request claims at its arrival those that are meant for it. */
export class FaultSwitch {
  readonly #active = new Map<FaultName, ActiveFault>();
  readonly #apiPaths: ReadonlySet<string>;
  readonly #refuse: (value: true | number | undefined) => Promise<void>;

  constructor(apiPaths: Iterable<string>, refuse: (value: true | number | undefined) => Promise<void>) {
    this.#apiPaths = new Set(apiPaths);
    this.#refuse = refuse;
  }

  /** Switches one fault on; `refuse` is in force when the promise is fulfilled, the others at once. */
  async set<Name extends FaultName>(name: Name, value: Faults[Name], limit: FaultLimit = {}): Promise<void> {
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
    if (!kind) throw new FaultError(`There is no such fault; the faults are ${FAULT_NAMES.join(", ")}.`);
    if (!isOfKind(kind, value)) throw new FaultError(`The fault ${name} takes ${WANTED[kind]}.`);
    if (limit.times !== undefined && !isCount(limit.times)) throw new FaultError(`The "times" of a fault is a whole number.`);
    if (name === "refuse") return this.#refuse(value as true | number);
    this.#active.set(name, { ...limit, value, left: limit.times ?? Number.POSITIVE_INFINITY });
  }

  /** Switches one fault off, or all. */
  async clear(name?: FaultName): Promise<void> {
    if (name) this.#active.delete(name);
    else this.#active.clear();
    if (name === undefined || name === "refuse") await this.#refuse(undefined);
  }

  /** Makes changes as they come from outside, checked one by one. */
  async apply(changes: Readonly<Record<string, unknown>>): Promise<void> {
    for (const [name, change] of Object.entries(changes)) {
      if (change === false || change === null) await this.clear(name as FaultName);
      else if (isObject(change) && "value" in change)
        await this.set(name as FaultName, change["value"] as never, limitOf(change));
      else await this.set(name as FaultName, change as never);
    }
  }

  /** The faults in force, as JSON. */
  show(): Readonly<Record<string, unknown>> {
    const rows = [...this.#active].map(([name, fault]) => {
      const times = Number.isFinite(fault.left) ? { times: fault.left } : {};
      return [name, { value: fault.value, on: placeOf(name, fault), ...times }];
    });
    return Object.fromEntries(rows);
  }

  /** The faults that meet a request on this path; each use counts. */
  claim(path: string): Partial<Faults> {
    const claimed: Partial<Record<FaultName, unknown>> = {};
    for (const [name, fault] of this.#active) {
      if (!this.#isMeant(placeOf(name, fault), path)) continue;
      claimed[name] = fault.value;
      fault.left -= 1;
      if (fault.left <= 0) this.#active.delete(name);
    }
    return claimed as Partial<Faults>;
  }

  #isMeant(on: string, path: string): boolean {
    return on === "all" || on === path || (on === "apis" && this.#apiPaths.has(path));
  }
}

function placeOf(name: FaultName, fault: FaultLimit): string {
  return fault.on ?? (name === "loading" ? "all" : "apis");
}

function limitOf(change: Readonly<Record<string, unknown>>): FaultLimit {
  const { times, on } = change;
  return {
    ...(times === undefined ? {} : { times: times as number }),
    ...(typeof on === "string" ? { on } : {}),
  };
}
