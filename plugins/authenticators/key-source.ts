import type { Clock } from "../../core/contract/clock.ts";
import type { Log } from "../../core/contract/log.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";

/** What was read last, and where; another config goes on with it. */
export class KeptKeys<Keys> {
  from = "";
  keys: Keys | undefined;
  readAtMs = Number.NEGATIVE_INFINITY;
}

export interface KeySourceOptions<Keys> {
  /** Where they come from. */
  readonly from: string;
  readonly kept: KeptKeys<Keys>;
  /** Rejects with an Error that says what is wrong. */
  readonly read: () => Promise<Keys>;
  /** Keys that are older are read anew when somebody asks for them. */
  readonly maxAgeMs: number;
  /** They are never read more often, whoever asks: anybody can make up the id of a key. */
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The keys of an issuer, which may change them at any time. Those that were read last stay while no newer ones can be read. */
export class KeySource<Keys> {
  readonly #options: KeySourceOptions<Keys>;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #fault = "";

  constructor(options: KeySourceOptions<Keys>) {
    this.#options = options;
  }

  /** Those that are known; reads them anew, in the background, when they are old. Undefined before they were read. */
  latest(): Keys | undefined {
    const { kept, clock, maxAgeMs } = this.#options;
    if (clock.now() - kept.readAtMs >= maxAgeMs || this.#known() === undefined) void this.refresh();
    return this.#known();
  }

  /** Reads them anew, unless that was done a moment ago. Never rejects. */
  async refresh(): Promise<Keys | undefined> {
    const { clock, pauseMs } = this.#options;
    if (this.#reading === undefined && clock.now() - this.#triedAtMs >= pauseMs)
      this.#reading = this.#read().finally(() => {
        this.#reading = undefined;
      });
    await this.#reading;
    return this.#known();
  }

  /** Why they can't be read; "" if they were, or nobody has asked yet. Reads old ones anew, in the background. */
  trouble(): string {
    const isKnown = this.latest() !== undefined;
    if (this.#fault === "") return "";
    return `the issuer's keys can't be read (${this.#fault})${isKnown ? ", so those before are used on" : ", so its tokens get 503"}`;
  }

  #known(): Keys | undefined {
    const { from, kept } = this.#options;
    return kept.from === from ? kept.keys : undefined;
  }

  async #read(): Promise<void> {
    const { from, kept, read, clock, log } = this.#options;
    this.#triedAtMs = clock.now();
    try {
      kept.keys = await read();
      kept.from = from;
      kept.readAtMs = clock.now();
      if (this.#fault !== "") log.info("An issuer's keys can be read again", { keys: from });
      this.#fault = "";
    } catch (thrown) {
      const cause = thrownMessage(thrown);
      if (cause !== this.#fault) log.warn("An issuer's keys can't be read; those before stay", { keys: from, cause });
      this.#fault = cause;
    }
  }
}
