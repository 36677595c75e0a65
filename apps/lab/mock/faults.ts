import { isObject } from "./fields.ts";

/** What each kind of fault takes. */
interface KindValues {
  readonly on: true;
  readonly count: number;
  readonly refuse: true | number;
  readonly status: number | StatusFault;
}

type Kind = keyof KindValues;

/** All faults. Those that count events count a body that is not streamed as event 0. */
const KINDS = {
  /** Refuses connections: for that many milliseconds, or, if true, until cleared from inside the process. */
  refuse: "refuse",
  /** Reads the request and never responds. */
  hang: "on",
  /** Resets the connection after reading the request. */
  reset: "on",
  /** Resets a connection at its second request, before any byte of a response to it. */
  resetOnReuse: "on",
  /** Waits that many milliseconds before responding. */
  slowMs: "count",
  /** Closes the connection after that many events. */
  dieAfterEvents: "count",
  /** Closes the connection in the middle of the event after that many. */
  dieInsideEvent: "count",
  /** Resets the connection after that many events. */
  resetAfterEvents: "count",
  /** After that many events, sends nothing more and keeps the connection open. */
  silentAfterEvents: "count",
  /** Responds with this status. */
  status: "status",
  /** Responds with 503 on every path but /health, as while a model loads. By default it applies to all paths. */
  loading: "on",
  /** Responds with an invalid status line. */
  malformedHead: "on",
  /** Closes the connection that many milliseconds after each response. */
  dropAfterResponseMs: "count",
  /** A prefill leg's response says nothing of a transfer, and no blocks are held. */
  noTransferParams: "on",
  /** Ends a replica after a prefill leg, as `refuse`; what it held is lost, and it is another engine when it is back. */
  dieAfterPrefill: "refuse",
  /** Responds with this status to a decode leg, before its blocks are asked for. */
  refuseTransfer: "status",
  /** A transfer takes that many milliseconds more, whatever the time scale. */
  slowTransferMs: "count",
} as const satisfies Readonly<Record<string, Kind>>;

export type FaultName = keyof typeof KINDS;

/** The value of each fault. */
export type Faults = { readonly [Name in FaultName]: KindValues[(typeof KINDS)[Name]] };

export interface StatusFault {
  readonly status: number;
  readonly retryAfterS?: number;
  readonly body?: unknown;
}

/** Which requests a fault applies to. */
export interface FaultLimit {
  /** Only to that many requests. */
  readonly times?: number;
  /**
   * "apis": the inference APIs, the default. "all": every path but /mock/. Otherwise one path, or "prefill" or "decode": one leg of a
   * pair, where the faults of transfers apply by default.
   */
  readonly on?: string;
}

/** Faults as options, POST /mock/faults and --fault take them: a value, a value with its limits, or false for off. */
export type FaultChanges = {
  readonly [Name in FaultName]?: Faults[Name] | false | ({ readonly value: Faults[Name] } & FaultLimit);
};

/** An unknown fault or an invalid value; the message says what is valid. */
export class FaultError extends Error {}

/** A description of each kind of value, for messages. */
const WANTED: Readonly<Record<Kind, string>> = {
  on: "true",
  count: "a whole number",
  refuse: "true, or a number of milliseconds",
  status: "a status from 200 to 599, or {status, retryAfterS, body}",
};

/** Where faults apply unless they are said to apply elsewhere; the others to the inference APIs. */
const PLACES: Partial<Record<FaultName, string>> = {
  loading: "all",
  noTransferParams: "prefill",
  dieAfterPrefill: "prefill",
  refuseTransfer: "decode",
  slowTransferMs: "decode",
};

/** The names of all faults, for messages and help. */
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

/** Switches faults on and off. Each request claims, on arrival, the faults that apply to it. */
export class FaultSwitch {
  readonly #active = new Map<FaultName, ActiveFault>();
  readonly #apiPaths: ReadonlySet<string>;
  readonly #refuse: (value: true | number | undefined) => Promise<void>;

  constructor(apiPaths: Iterable<string>, refuse: (value: true | number | undefined) => Promise<void>) {
    this.#apiPaths = new Set(apiPaths);
    this.#refuse = refuse;
  }

  /** Switches one fault on. `refuse` takes effect when the promise resolves, the others at once. Rejects with a FaultError. */
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

  /** Applies changes from outside, one by one. Rejects with a FaultError at the first invalid one. */
  async apply(changes: Readonly<Record<string, unknown>>): Promise<void> {
    for (const [name, change] of Object.entries(changes)) {
      if (change === false || change === null) await this.clear(name as FaultName);
      else if (isObject(change) && "value" in change)
        await this.set(name as FaultName, change["value"] as never, limitOf(change));
      else await this.set(name as FaultName, change as never);
    }
  }

  /** The active faults as JSON. */
  show(): Readonly<Record<string, unknown>> {
    const rows = [...this.#active].map(([name, fault]) => {
      const times = Number.isFinite(fault.left) ? { times: fault.left } : {};
      return [name, { value: fault.value, on: placeOf(name, fault), ...times }];
    });
    return Object.fromEntries(rows);
  }

  /** The faults for a request on this path, or for a leg of a pair; reduces the count of those with a limit. */
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
    return on === path || (on === "all" && path.startsWith("/")) || (on === "apis" && this.#apiPaths.has(path));
  }
}

function placeOf(name: FaultName, fault: FaultLimit): string {
  return fault.on ?? PLACES[name] ?? "apis";
}

function limitOf(change: Readonly<Record<string, unknown>>): FaultLimit {
  const { times, on } = change;
  return {
    ...(times === undefined ? {} : { times: times as number }),
    ...(typeof on === "string" ? { on } : {}),
  };
}
