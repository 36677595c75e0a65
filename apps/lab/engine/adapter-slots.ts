/** How many adapters an engine holds, and how long it takes to get one there. */
export interface AdapterTimes {
  /** Most adapters that run at the same time. */
  readonly maxLoras: number;
  /** Most adapters in the host's memory, those that run included; 0 for as many as run. */
  readonly maxCpuLoras: number;
  /** To load one from the disk, and from the host's memory. */
  readonly adapterColdMs: number;
  readonly adapterWarmMs: number;
}

/** The adapters that an engine holds. As in vLLM, in both places the least recently used one gives way. */
export class AdapterSlots {
  /** How often one was loaded from the disk, and from the host's memory. */
  readonly loads = { cold: 0, warm: 0 };
  readonly #times: AdapterTimes;
  /** The least recently used one first. */
  readonly #kept = new Set<string>();

  constructor(times: AdapterTimes) {
    this.#times = times;
  }

  /** Whether a request for it waits until one of those that run has no request left. */
  isDeferred(name: string, running: ReadonlySet<string>): boolean {
    return name !== "" && !running.has(name) && running.size >= this.#times.maxLoras;
  }

  /** A step runs with these. Returns how many milliseconds it takes to load those that are not there. */
  useAll(names: ReadonlySet<string>): number {
    let loadMs = 0;
    for (const name of names) loadMs += this.use(name);
    return loadMs;
  }

  /** A step runs with it. Returns how many milliseconds it takes to load. */
  use(name: string): number {
    const { maxLoras, maxCpuLoras, adapterColdMs, adapterWarmMs } = this.#times;
    const running = [...this.#kept].slice(-maxLoras);
    const isWarm = this.#kept.delete(name);
    this.#kept.add(name);
    for (const oldest of this.#kept) {
      if (this.#kept.size <= Math.max(maxLoras, maxCpuLoras)) break;
      this.#kept.delete(oldest);
    }
    if (running.includes(name)) return 0;
    this.loads[isWarm ? "warm" : "cold"] += 1;
    return isWarm ? adapterWarmMs : adapterColdMs;
  }
}
