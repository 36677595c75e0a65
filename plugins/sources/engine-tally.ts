import type { SampleLabels } from "./prometheus-text.ts";

/**
 * Labels of processes that publish the numbers of one engine together: each has the same requests. SGLang's schedulers have a rank with
 * --enable-metrics-for-all-schedulers (srt/observability/metrics_collector.py; its dp_rank is an engine of its own). TensorRT-LLM's
 * gauges have the pid that prometheus_client gives to each process, also to those that have ended.
 */
const COPIES: ReadonlySet<string> = new Set(["tp_rank", "pp_rank", "moe_ep_rank", "pid"]);
/** SGLang writes the total with an empty priority, and one sample for each priority beside it (--enable-priority-scheduling). */
const PRIORITY = "priority";

/** What one process says: a total, or the sum of its parts until there is one. */
interface Copy {
  value: number;
  isTotal: boolean;
}

/** The samples of one series, by engine. Engines behind a port are told apart by any other label, such as vLLM's "engine". */
export class EngineTally {
  readonly #engines = new Map<string, Map<string, Copy>>();

  /** `without`: a label that tells no engines apart. */
  add(labels: SampleLabels, value: number, without?: string): void {
    let engine = "";
    let process = "";
    for (const [label, text] of labels) {
      if (label === PRIORITY || label === without) continue;
      const part = `${label}=${text}\n`;
      if (COPIES.has(label)) process += part;
      else engine += part;
    }
    const copies = this.#engines.get(engine) ?? new Map<string, Copy>();
    this.#engines.set(engine, copies);
    const copy = copies.get(process);
    const isTotal = (labels.get(PRIORITY) ?? "") === "";
    if (copy === undefined || (isTotal && !copy.isTotal)) copies.set(process, { value, isTotal });
    else if (isTotal === copy.isTotal) copy.value += value;
  }

  /** One number for each engine: the highest of its processes, since some may be behind. */
  byEngine(): ReadonlyMap<string, number> {
    return new Map([...this.#engines].map(([engine, copies]) => [engine, highest(copies.values())]));
  }

  /** Undefined without a sample. */
  sum(): number | undefined {
    const values = [...this.byEngine().values()];
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
  }

  /** The mean of the engines; undefined without a sample. */
  mean(): number | undefined {
    const sum = this.sum();
    return sum === undefined ? undefined : sum / this.#engines.size;
  }
}

function highest(copies: Iterable<Copy>): number {
  let most = 0;
  for (const { value } of copies) if (value > most) most = value;
  return most;
}
