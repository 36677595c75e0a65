import type { HeaderView } from "../../core/contract/request.ts";
import type { Trace } from "../../core/contract/trace.ts";

/** Version, trace, parent, flags; later versions may have more behind them. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = "0".repeat(32);
const NO_SPAN = "0".repeat(16);
const SAMPLED = 1;

/** The least that every part of a trace must pass on (W3C Trace Context 3.3.1.5). */
const MOST_STATE_CHARS = 512;

/** The span of a caller. */
export interface Parent {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the caller records the trace. */
  readonly isSampled: boolean;
}

/** Reads a `traceparent` header. Undefined for one that is not valid: the request is then treated as if it had none. */
export function readTraceparent(value: string | undefined): Parent | undefined {
  const [, version, traceId = "", spanId = "", flags = "", rest] = TRACEPARENT.exec(value ?? "") ?? [];
  const isVersion = version === "00" ? rest === undefined : version !== undefined && version !== "ff";
  if (!isVersion || traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

export interface Sampling {
  /** Share of the requests that are traced, in [0, 1]. */
  readonly ratio: number;
  /** Whether the caller's decision counts, if there is one, instead of the ratio. */
  readonly followParent: boolean;
}

/** A request's trace; undefined if it is not one of the sample. It goes on in the caller's trace, or else begins one. */
export function sampledTrace(headers: HeaderView, { ratio, followParent }: Sampling, random: () => number): Trace | undefined {
  const parent = readTraceparent(headers.get("traceparent"));
  const isSampled = parent !== undefined && followParent ? parent.isSampled : random() < ratio;
  if (!isSampled) return undefined;
  const spanId = randomHex(16, random);
  if (parent === undefined) return { traceId: randomHex(32, random), spanId, parentId: "", state: "" };
  return { traceId: parent.traceId, spanId, parentId: parent.spanId, state: readState(headers.get("tracestate")) };
}

function readState(state = ""): string {
  return state.length <= MOST_STATE_CHARS && /^[\x20-\x7e]*$/.test(state) ? state : "";
}

/** Random digits, a multiple of 8. The first is never 0, because ids of zeros alone are not valid. */
function randomHex(digits: number, random: () => number): string {
  let text = (0x1000_0000 + Math.floor(random() * 0xf000_0000)).toString(16);
  while (text.length < digits)
    text += Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, "0");
  return text;
}
