import type { ActiveConfig } from "../active-config.ts";
import type { NameSet } from "../contract/name-set.ts";
import type { ParsedBody } from "../contract/request.ts";
import type { TargetDraw, TargetQuestion } from "../contract/rewriter.ts";
import { failedPlugin } from "../plugin-watch/plugin-faults.ts";
import type { Head } from "../wire/head.ts";
import { mayBeLoaded, type NamesConfig, type NamesPool } from "./on-demand.ts";

/** What of the config decides about a request's target. */
export type DrawConfig = Pick<ActiveConfig, "rewriters" | "targets" | "settings">;

/** Asks the rewriters in order for the target of the model name; the first draw counts. Undefined if no rewriter has a rule. */
export function drawTarget(
  { model, modelSpan }: ParsedBody,
  head: Head,
  config: DrawConfig,
  pool: NamesPool,
  nowMs: number,
): TargetDraw | undefined {
  if (modelSpan[0] < 0 || config.rewriters.length === 0) return undefined;
  const asked = new Question(model, head, config, pool, nowMs);
  for (const rewriter of config.rewriters) {
    const draw = drawBy(rewriter, asked);
    if (draw === undefined) continue;
    if (draw.target === "") throw failedPlugin("rewriter", rewriter, "it drew an empty target", "drew an empty target");
    return draw;
  }
  return undefined;
}

function drawBy(rewriter: DrawConfig["rewriters"][number], asked: TargetQuestion): TargetDraw | undefined {
  try {
    return rewriter.plugin.draw(asked);
  } catch (thrown) {
    throw failedPlugin("rewriter", rewriter, thrown);
  }
}

/** Whether the rule draws another target where the first one has nobody to serve it. */
export function redistributes(rule: string, { rewriters }: Pick<ActiveConfig, "rewriters">): boolean {
  return rewriters.some(({ plugin }) =>
    plugin.mappings?.some(({ name, onUnavailable }) => name === rule && onUnavailable === "redistribute"),
  );
}

/** A class, because a closure made for each request costs more than the draw. */
class Question implements TargetQuestion {
  readonly model: string;
  readonly headers: TargetQuestion["headers"];
  readonly served: NameSet;
  readonly #config: NamesConfig;
  readonly #pool: NamesPool;
  readonly #nowMs: number;

  constructor(model: string, headers: TargetQuestion["headers"], config: NamesConfig, pool: NamesPool, nowMs: number) {
    this.model = model;
    this.headers = headers;
    this.served = pool.facts.served;
    this.#config = config;
    this.#pool = pool;
    this.#nowMs = nowMs;
  }

  mayBeLoaded(target: string): boolean {
    return mayBeLoaded(target, this.#config, this.#pool, this.#nowMs);
  }
}
