import type { Exchange } from "../exchange.ts";
import type { JsonObject } from "../fields.ts";
import { badRequest, Problem } from "../problem.ts";
import type { ReplicaState } from "../state.ts";
import { type Address, objectIn } from "../transfer/remote.ts";
import type { Reception } from "../transfer/shared-blocks.ts";
import { digestOf } from "../transfer/transfers.ts";
import { claimedSlowMs } from "./decode-faults.ts";
import type { Arrival, Leg } from "./leg.ts";

/** Until a real one gave up: an engine that is not where it should be, and a server that is gone, before and after a handshake with it. */
const OTHER_ENGINE_MS = 100;
const NEVER_MET_MS = 5000;
const GONE_MS = 6600;
/** How long another mock may take for what it does at once. */
const ANSWER_LIMIT_MS = 10_000;

/** What a prefill leg's response said. */
interface Promised extends Address {
  readonly engineId: string;
  readonly requestId: string;
  readonly cachedTokens: number | undefined;
}

/** How a transfer will go: with blocks to read, with nothing checked ("blind", as vLLM), or not at all. */
type Outlook = "read" | "blind" | "unknown engine" | "gone";

/** The decode leg as in vLLM with NIXL: it fetches the prompt's blocks from the replica that holds them, and computes nothing of it. */
export class NixlDecode implements Leg {
  readonly isPrefillOnly = false;
  readonly #exchange: Exchange;
  readonly #state: ReplicaState;
  readonly #prompt: readonly number[];
  readonly #cacheKey: string;
  readonly #promised: Promised;
  #outlook: Outlook = "read";
  #slowMs = 0;
  #cancelWait = () => {};

  constructor(exchange: Exchange, state: ReplicaState, params: JsonObject, prompt: readonly number[], cacheKey: string) {
    this.#exchange = exchange;
    this.#state = state;
    this.#prompt = prompt;
    this.#cacheKey = cacheKey;
    this.#promised = promisedIn(params);
  }

  async prepare(): Promise<boolean> {
    const slowMs = claimedSlowMs(this.#exchange, this.#state);
    if (slowMs === undefined) return false;
    this.#slowMs = slowMs;
    const digest = digestOf(this.#prompt, this.#cacheKey);
    const answer = await this.#ask("claim", { digest }, ANSWER_LIMIT_MS).catch(() => undefined);
    const { refusal, error } = answer === undefined ? {} : objectIn(answer);
    if (answer === undefined) this.#outlook = "gone";
    else if (answer.status === 200) this.#outlook = "read";
    else if (this.#state.settings.transferCheck === "strict")
      throw badRequest(String(error ?? "No replica is at remote_host and remote_port."), "kv_transfer_params");
    else this.#outlook = refusal === undefined || refusal === "engine" ? "unknown engine" : "blind";
    return true;
  }

  async arrive(): Promise<Arrival | undefined> {
    const { transfers, engine } = this.#state;
    if (this.#outlook === "gone") throw await this.#failed(transfers.hasMet(this.#promised.engineId) ? GONE_MS : NEVER_MET_MS);
    if (this.#outlook === "unknown engine") throw await this.#failed(OTHER_ENGINE_MS);
    if (this.#exchange.isOver) return this.#giveUp();
    const { room, cancel } = engine.shared.receive(this.#prompt, this.#cacheKey);
    this.#cancelWait = cancel;
    const reception = await room;
    if (reception !== undefined) await transfers.meet(this.#promised.engineId);
    if (reception !== undefined && !this.#exchange.isOver) return this.#fetch(reception);
    reception?.drop();
    return this.#giveUp();
  }

  async depart(): Promise<void> {}

  end(): void {
    this.#cancelWait();
  }

  /** As vLLM: a request that was given up before its transfer has the other side free the blocks. */
  #giveUp(): undefined {
    void this.#read(0).catch(() => {});
  }

  /** Goes on when the client leaves, as in vLLM. */
  async #fetch(reception: Reception): Promise<Arrival> {
    const { transfers, settings } = this.#state;
    const startedMs = settings.clock.now();
    const external = this.#prompt.length - reception.localTokens;
    try {
      await this.#read(transfers.takesMs(external, this.#slowMs));
    } catch {
      reception.drop();
      throw await this.#failed(GONE_MS);
    }
    transfers.transferS.add((settings.clock.now() - startedMs) / 1000);
    reception.finish();
    return { local: reception.localTokens, external, reported: this.#promised.cachedTokens };
  }

  async #read(takesMs: number): Promise<void> {
    if (this.#outlook === "blind") return this.#state.transfers.wait(takesMs);
    const answer = await this.#ask("read", { takesMs }, takesMs + ANSWER_LIMIT_MS);
    if (answer.status !== 200) throw new Error("The blocks are gone.");
  }

  #ask(what: "claim" | "read", more: object, limitMs: number) {
    const { engineId, requestId } = this.#promised;
    const body = { engineId, requestId, ...more };
    return this.#state.transfers.remote.post(this.#promised, `/mock/transfer/${what}`, body, limitMs).answer;
  }

  async #failed(afterMs: number): Promise<Problem> {
    const { transfers, settings } = this.#state;
    await transfers.wait(afterMs * settings.timeScale);
    transfers.failed += 1;
    return new Problem(500, "InternalServerError", "Internal server error");
  }
}

/** Throws a Problem for parameters that no prefill leg gives. */
function promisedIn(params: JsonObject): Promised {
  const cached = params["remote_prefill_cached_tokens"];
  const port = params["remote_port"];
  if (typeof port !== "number" || !Number.isInteger(port) || port < 1 || port > 65_535) throw missing("remote_port");
  return {
    engineId: text(params, "remote_engine_id"),
    requestId: text(params, "remote_request_id"),
    host: text(params, "remote_host"),
    port,
    cachedTokens: typeof cached === "number" && Number.isInteger(cached) ? cached : undefined,
  };
}

function text(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== "string" || value === "") throw missing(name);
  return value;
}

const missing = (name: string) =>
  badRequest(
    `kv_transfer_params says do_remote_prefill, and has no ${name}. Pass on what the prefill leg answered.`,
    "kv_transfer_params",
  );
