import type { Room } from "../../contract/admission.ts";
import type { BodyView } from "../../contract/body-view.ts";
import type { Clock } from "../../contract/clock.ts";
import type { LoadView } from "../../contract/load-view.ts";
import type { Log } from "../../contract/log.ts";
import type { PrefixMatch } from "../../contract/prefix-match.ts";
import type { HeaderView } from "../../contract/request.ts";
import type { TargetQuestion } from "../../contract/rewriter.ts";

type MethodsOf<View> = {
  [Key in keyof View]-?: NonNullable<View[Key]> extends (...given: never[]) => unknown ? Key : never;
}[keyof View];
type Called =
  | MethodsOf<BodyView>
  | MethodsOf<Clock>
  | MethodsOf<HeaderView>
  | MethodsOf<LoadView>
  | MethodsOf<Log>
  | MethodsOf<PrefixMatch>
  | MethodsOf<Room>
  | MethodsOf<TargetQuestion>
  | "has"
  | "print"
  | "insert";

/** What plugins may call of the router's classes, by the contracts. Other methods are not in the contracts, and may change something. */
const CALLED: Readonly<Record<Called, true>> = {
  ...{ span: true, kind: true, text: true, textIn: true, flag: true, count: true, countElements: true },
  ...{ now: true, wall: true, after: true, every: true, info: true, warn: true, error: true, print: true },
  ...{ get: true, has: true, isFor: true, mayBeLoaded: true, isAvailable: true, insert: true },
  ...{ matchedBlocks: true, matchedTokens: true, matchedFraction: true, displacedTokens: true, tokensIn: true },
  ...{ inFlight: true, prefillTokens: true, remainingPrefill: true, waitingPrompts: true, prefillRate: true, isRateKnown: true },
  ...{ waiting: true, running: true, kvUsage: true, attributes: true, scrapedAtMs: true, freshness: true },
  ...{ isPaused: true, isFull: true, adapters: true, unlisted: true, adapterMs: true },
};

type Method = (...given: unknown[]) => unknown;
type Bytes = Uint8Array | Float64Array;

/** What is known of one object that a plugin sees. */
interface Seen {
  readonly view: object;
  /** Its methods, as they are called through the view. */
  readonly methods: Map<PropertyKey, Method>;
  /** Its bytes, and the copy that the plugin has of them. */
  bytes: Bytes | undefined;
  copy: Bytes | undefined;
}

/**
 * What the plugins of one author see of the router's objects: views that show what is there at the moment of reading, and can't be written. Lists and
 * bytes are copies. A write into a view throws a TypeError that names what was written, so that the plugin is told of as one that
 * broke its contract. What is frozen, as endpoints are, needs no view.
 */
export class ReadOnlyViews {
  readonly #seen = new WeakMap<object, Seen>();
  readonly #reals = new WeakMap<object, object>();
  readonly #handler: ProxyHandler<object>;
  /** The object behind a view's target, where these are two. */
  readonly #behind = new WeakMap<object, object>();

  constructor() {
    const real = (target: object) => this.#behind.get(target) ?? target;
    this.#handler = {
      get: (target, key) => this.#read(real(target), key),
      getOwnPropertyDescriptor: (target, key) => {
        const { enumerable } = Reflect.getOwnPropertyDescriptor(target, key) ?? {};
        if (enumerable === undefined) return undefined;
        return { value: this.#read(real(target), key), enumerable, writable: true, configurable: true };
      },
      // The methods of a class that its prototype has would pass by the view.
      getPrototypeOf: (target) => (real(target) instanceof Error ? Object.getPrototypeOf(real(target)) : Object.prototype),
      set: (_target, key) => refuseWrite(key),
      defineProperty: (_target, key) => refuseWrite(key),
      deleteProperty: (_target, key) => refuseWrite(key),
      setPrototypeOf: () => refuseWrite("its prototype"),
      preventExtensions: () => refuseWrite("whether it may be written"),
    };
  }

  /** What the plugin gets in place of a value of the router. */
  of<Value>(value: Value): Value {
    if (typeof value === "function") return this.#called(value as unknown as Method, undefined) as Value;
    return typeof value === "object" && value !== null ? (this.#viewOf(value) as Value) : value;
  }

  /** What the router gets in place of a value that the plugin gives: for a view what is behind it, also in a list. */
  real<Value>(value: Value): Value {
    if (typeof value !== "object" || value === null) return value;
    const known = this.#reals.get(value);
    if (known !== undefined) return known as Value;
    if (!Array.isArray(value)) return value;
    const hasViews = value.some((each) => typeof each === "object" && each !== null && this.#reals.has(each));
    return hasViews ? (value.map((each) => this.real(each)) as Value) : value;
  }

  /** The plugin's method, called with views and giving what is behind them. */
  method(method: Method, plugin: object): Method {
    return (...given) => {
      for (let at = 0; at < given.length; at++) given[at] = this.of(given[at]);
      try {
        return this.real(method.apply(plugin, given));
      } catch (thrown) {
        throw this.thrown(thrown);
      }
    };
  }

  /** What a plugin has thrown, or an Error in the place of what can't be read. */
  thrown(value: unknown): unknown {
    try {
      return this.real(value);
    } catch {
      return new TypeError("it threw what can't be read");
    }
  }

  #viewOf(value: object): unknown {
    if (fixed.has(value)) return value;
    const known = this.#seen.get(value)?.view;
    if (known !== undefined) return known;
    if (ArrayBuffer.isView(value)) return bytesOf(value as Bytes);
    if (Array.isArray(value)) return value.map((each) => this.of(each));
    if (value instanceof Map || value instanceof Set) return this.#copyOf(value);
    // The plugin gets its own objects back as they are. Objects of the language and the runtime need no view.
    if (this.#reals.has(value) || isForeign(value) || isFixed(value)) return value;
    // A proxy must show what is frozen in its target as it is, and so can't have that as its target.
    const target = Object.isExtensible(value) ? value : { ...value };
    if (target !== value) this.#behind.set(target, value);
    const view = new Proxy(target, this.#handler);
    this.#seen.set(value, { view, methods: new Map(), bytes: undefined, copy: undefined });
    this.#reals.set(view, value);
    return view;
  }

  #read(target: object, key: PropertyKey): unknown {
    // Private fields are found by the object itself only.
    const value: unknown = Reflect.get(target, key, target);
    if (typeof value === "function") return this.#methodOf(target, key, value as Method);
    if (typeof value !== "object" || value === null) return value;
    if (ArrayBuffer.isView(value)) return this.#bytesOf(target, value as Bytes);
    return Array.isArray(value) ? Object.freeze(this.#viewOf(value)) : this.#viewOf(value);
  }

  #methodOf(target: object, key: PropertyKey, method: Method): unknown {
    // Those that every object has get the view itself.
    if (key in Object.prototype) return Reflect.get(Object.prototype, key);
    if (typeof key === "string" && !Object.hasOwn(target, key) && !Object.hasOwn(CALLED, key)) return undefined;
    const { methods } = this.#seen.get(target)!;
    const known = methods.get(key) ?? this.#called(method, target);
    methods.set(key, known);
    return known;
  }

  /** A function of the router, as the plugin calls it. */
  #called(method: Method, owner: object | undefined): Method {
    return (...given) => this.of(method.apply(owner, given.length === 0 ? given : given.map((each) => this.real(each))));
  }

  /** One copy, as long as the object has the same bytes: the memory of a request's body is used again after its end. */
  #bytesOf(target: object, bytes: Bytes): Bytes {
    const seen = this.#seen.get(target)!;
    if (seen.bytes !== bytes) Object.assign(seen, { bytes, copy: bytesOf(bytes) });
    return seen.copy!;
  }

  #copyOf(value: ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>): unknown {
    if (value instanceof Set) return new Set([...value].map((each) => this.of(each)));
    return new Map([...(value as ReadonlyMap<unknown, unknown>)].map(([key, each]) => [key, this.of(each)]));
  }
}

const { slice } = Uint8Array.prototype;

/** A copy. A Buffer's own `slice` shares the memory. */
export function bytesOf<Copied extends Bytes>(bytes: Copied): Copied {
  return slice.call(bytes) as Copied;
}

function refuseWrite(key: PropertyKey): never {
  throw new TypeError(`"${String(key)}" was written: what plugins are given is for reading; write into a copy, as { ...it }`);
}

/** Known to be frozen all the way down. */
const fixed = new WeakSet<object>();

/** Whether nothing of it can be written. A class whose instances are frozen promises that its methods change nothing. */
function isFixed(value: object): boolean {
  if (!Object.isFrozen(value)) return false;
  const isWhole = Object.values(value).every((each) =>
    typeof each === "object" && each !== null
      ? !ArrayBuffer.isView(each) && (fixed.has(each) || isFixed(each))
      : typeof each !== "function",
  );
  if (isWhole) fixed.add(value);
  return isWhole;
}

function isForeign(value: object): boolean {
  return value instanceof Promise || value instanceof AbortSignal || value instanceof URLSearchParams || value instanceof Date;
}
