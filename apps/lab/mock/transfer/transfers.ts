import type { Clock } from "../../../../core/contract/clock.ts";
import { Bounds, Histogram } from "../../../../core/contract/histogram.ts";
import { hashNumbers, hashText } from "../tokens.ts";
import { HeldBlocks } from "./held.ts";
import type { TransferOptions } from "./options.ts";
import { type Address, LONGEST_TIMER_MS, Remote } from "./remote.ts";
import { Rooms } from "./rooms.ts";
import type { SharedBlocks } from "./shared-blocks.ts";

/** Upper bounds of the transfer-time histogram, in seconds, as vLLM's. */
export const TRANSFER_BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 5];

/** Engines whose handshake is remembered. */
const MAX_PEERS = 256;

type TransferSettings = Required<TransferOptions> & { readonly host: string; readonly timeScale: number; readonly clock: Clock };

/** The process that a replica stands for. */
interface OwnProcess {
  port(): number;
  /** Ends all connections and refuses others, for that many milliseconds or for good. */
  die(value: true | number): Promise<void>;
}

/** What a replica shares with others: blocks that it holds for them, rooms, and those it has met. */
export class Transfers {
  readonly remote = new Remote();
  readonly held: HeldBlocks;
  readonly rooms: Rooms;
  readonly transferS = new Histogram(new Bounds(TRANSFER_BOUNDS_S));
  /** Transfers to this replica that failed. */
  failed = 0;
  readonly #settings: TransferSettings;
  readonly #process: OwnProcess;
  readonly #peers = new Map<string, Promise<void>>();
  readonly #waits = new Set<() => void>();
  #engineId: string = crypto.randomUUID();

  constructor(settings: TransferSettings, shared: SharedBlocks, process: OwnProcess, onChange: () => void) {
    this.#settings = settings;
    this.#process = process;
    this.held = new HeldBlocks(shared, settings.clock, settings.holdMs, onChange);
    this.rooms = new Rooms(settings.clock, settings.holdMs, onChange);
  }

  /** Another one after each start of the engine. */
  get engineId(): string {
    return this.#engineId;
  }

  /** Where other replicas ask for blocks. */
  get address(): Address {
    const { transferHost, host } = this.#settings;
    const own = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
    return { host: transferHost || own, port: this.#process.port() };
  }

  /** How long so many tokens are on their way. */
  takesMs(tokens: number, extraMs: number): number {
    const { transferMs, transferTokensPerS, timeScale } = this.#settings;
    return (transferMs + (tokens / transferTokensPerS) * 1000) * timeScale + extraMs;
  }

  /** Resolves when these two engines know each other: at once, but for the first time. */
  meet(peer: string): Promise<void> {
    const known = this.#peers.get(peer);
    if (known) return known;
    const meeting = this.wait(this.#settings.handshakeMs * this.#settings.timeScale);
    this.#peers.set(peer, meeting);
    const oldest = this.#peers.keys().next().value;
    if (this.#peers.size > MAX_PEERS && oldest !== undefined) this.#peers.delete(oldest);
    return meeting;
  }

  hasMet(peer: string): boolean {
    return this.#peers.has(peer);
  }

  /** Never resolves once this replica is closed. */
  wait(ms: number): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#settings.clock.after(Math.min(ms, LONGEST_TIMER_MS), () => {
        this.#waits.delete(cancel);
        resolve();
      });
      this.#waits.add(cancel);
    });
  }

  /** The process dies: what it held is lost. It comes back as another engine after so many milliseconds, or never. */
  async die(value: true | number): Promise<void> {
    this.forget();
    this.#engineId = crypto.randomUUID();
    await this.#process.die(value);
  }

  forget(): void {
    this.held.clear();
    this.rooms.clear();
    this.#peers.clear();
  }

  close(): void {
    for (const cancel of this.#waits) cancel();
    this.forget();
    this.remote.close();
  }
}

/** The same for equal prompts of the same model and salt. */
export function digestOf(prompt: readonly number[], cacheKey: string): string {
  const left = hashNumbers(prompt, hashText(cacheKey, 0x811c9dc5));
  const right = hashNumbers(prompt, hashText(cacheKey, 0x2c1b3c6d));
  return `${left.toString(16)}-${right.toString(16)}-${prompt.length}`;
}
