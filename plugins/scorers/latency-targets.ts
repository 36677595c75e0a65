import { RouterError } from "../../core/contract/errors.ts";
import type { LatencyTargets } from "../../core/contract/latency-estimator.ts";
import { z } from "../../core/contract/options.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";

const ms = z.number().positive().max(86_400_000);

/** The longest times that requests should take, in milliseconds. */
export const targetOptions = {
  /** To the first token, and for each further one, where neither the request's headers nor its model say otherwise. */
  ttftMs: ms.optional(),
  tpotMs: ms.optional(),
  /** The same by the model that the client asks for. */
  models: z.record(z.string(), z.strictObject({ ttftMs: ms.optional(), tpotMs: ms.optional() })).default({}),
};

interface TargetOptions {
  readonly ttftMs?: number | undefined;
  readonly tpotMs?: number | undefined;
  readonly models: Readonly<Record<string, { readonly ttftMs?: number | undefined; readonly tpotMs?: number | undefined }>>;
}

/** The reference router's headers: its own names, then their older ones. */
const TTFT_HEADERS = ["x-llm-d-slo-ttft-ms", "x-slo-ttft-ms"];
const TPOT_HEADERS = ["x-llm-d-slo-tpot-ms", "x-slo-tpot-ms"];
/** As the languages of clients print doubles: 500, 500.0, 33.333333333333336, 1e3. */
const NUMBER = /^\d{1,12}(?:\.\d{0,32})?(?:[eE][+-]?\d{1,2})?$/;

const NO_TARGETS: LatencyTargets = { firstTokenMs: Number.POSITIVE_INFINITY, tokenMs: Number.POSITIVE_INFINITY };

/** The request's targets: by its headers, else by its model, else those of all. NaN for a header that is no number. */
export function targetReader({ ttftMs, tpotMs, models }: TargetOptions): (request: InferenceRequest) => LatencyTargets {
  const ofAll = targets(ttftMs, tpotMs);
  const byModel = new Map(
    Object.entries(models).map(([model, own]) => [model, targets(own.ttftMs ?? ttftMs, own.tpotMs ?? tpotMs)]),
  );
  return ({ headers, model }) => {
    const configured = byModel.get(model) ?? ofAll;
    const ttft = headerOf(headers, TTFT_HEADERS);
    const tpot = headerOf(headers, TPOT_HEADERS);
    if (ttft === undefined && tpot === undefined) return configured;
    return {
      firstTokenMs: ttft === undefined ? configured.firstTokenMs : targetIn(ttft),
      tokenMs: tpot === undefined ? configured.tokenMs : targetIn(tpot),
    };
  };
}

export const hasTargets = ({ firstTokenMs, tokenMs }: LatencyTargets) =>
  firstTokenMs !== Number.POSITIVE_INFINITY || tokenMs !== Number.POSITIVE_INFINITY;

export const isInvalid = ({ firstTokenMs, tokenMs }: LatencyTargets) => Number.isNaN(firstTokenMs) || Number.isNaN(tokenMs);

/** Why the request is refused whose header is no number. */
export function invalidTarget({ firstTokenMs }: LatencyTargets): RouterError {
  const [name] = Number.isNaN(firstTokenMs) ? TTFT_HEADERS : TPOT_HEADERS;
  return new RouterError(
    "invalid_value",
    `The header ${name} (or ${name!.replace("llm-d-", "")}) must be a number of milliseconds, such as 500; 0 means no target.`,
  );
}

function targets(ttftMs = Number.POSITIVE_INFINITY, tpotMs = Number.POSITIVE_INFINITY): LatencyTargets {
  if (ttftMs === Number.POSITIVE_INFINITY && tpotMs === ttftMs) return NO_TARGETS;
  return { firstTokenMs: ttftMs, tokenMs: tpotMs };
}

function headerOf(headers: InferenceRequest["headers"], names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers.get(name);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** 0 is no target, as in the reference. NaN for what is no number from 0. */
function targetIn(value: string): number {
  if (!NUMBER.test(value.trim())) return Number.NaN;
  return Number(value) || Number.POSITIVE_INFINITY;
}
