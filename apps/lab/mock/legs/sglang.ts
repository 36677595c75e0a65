import type { Exchange } from "../exchange.ts";
import { type JsonObject, optionalInteger, optionalString } from "../fields.ts";
import { badRequest, Problem } from "../problem.ts";
import type { ReplicaState } from "../state.ts";
import { type Address, type Asked, objectIn } from "../transfer/remote.ts";
import type { Place } from "../transfer/rooms.ts";
import { digestOf } from "../transfer/transfers.ts";
import { claimedSlowMs } from "./decode-faults.ts";
import type { Arrival, Leg } from "./leg.ts";

/** SGLang's own, for a body without bootstrap_port. */
const DEFAULT_BOOTSTRAP_PORT = 8998;
/** Until a real one gave up a prefill server that is gone: 15 tries, one a second. */
const GONE_MS = 15_000;
/** Beyond the time that the other side needs. */
const SLACK_MS = 10_000;

/** The prefill leg of SGLang: it waits in the room for the decode leg, computes one token, and ends when the blocks have moved. */
export class SglangPrefill implements Leg {
  readonly isPrefillOnly = true;
  readonly #exchange: Exchange;
  readonly #state: ReplicaState;
  readonly #place: Place;

  constructor(exchange: Exchange, state: ReplicaState, body: JsonObject, prompt: readonly number[], cacheKey: string) {
    this.#exchange = exchange;
    this.#state = state;
    const place = state.transfers.rooms.enter(roomIn(body), "prefill", digestOf(prompt, cacheKey));
    if (typeof place === "string") throw badRequest(place, "bootstrap_room");
    this.#place = place;
  }

  async prepare(): Promise<boolean> {
    await this.#place.met.catch(failed);
    return true;
  }

  async arrive(): Promise<undefined> {}

  async depart(): Promise<void> {
    const { dieAfterPrefill } = this.#state.faults.claim("prefill");
    if (dieAfterPrefill !== undefined && !this.#exchange.isOver) await this.#state.transfers.die(dieAfterPrefill);
    else this.#place.setComputed();
    await this.#place.moved.catch(failed);
  }

  end(): void {
    this.#place.leave("The prefill leg is gone.");
  }
}

/** The decode leg of SGLang: its blocks come from the prefill leg that it meets in the room. */
export class SglangDecode implements Leg {
  readonly isPrefillOnly = false;
  readonly #exchange: Exchange;
  readonly #state: ReplicaState;
  readonly #prompt: readonly number[];
  readonly #cacheKey: string;
  readonly #room: string;
  readonly #prefill: Address;
  #arrival: Arrival | undefined;
  #cancelWait = () => {};
  #asked: Asked | undefined;

  constructor(exchange: Exchange, state: ReplicaState, body: JsonObject, prompt: readonly number[], cacheKey: string) {
    this.#exchange = exchange;
    this.#state = state;
    this.#prompt = prompt;
    this.#cacheKey = cacheKey;
    this.#room = roomIn(body);
    const host = optionalString(body, "bootstrap_host");
    if (host === undefined || host === "") throw badRequest("bootstrap_host is missing.", "bootstrap_host");
    const port = optionalInteger(body, "bootstrap_port") ?? DEFAULT_BOOTSTRAP_PORT;
    if (port < 1 || port > 65_535) throw badRequest("bootstrap_port has to be from 1 to 65535.", "bootstrap_port");
    this.#prefill = { host: host.replace(/^\[(.*)\]$/, "$1"), port };
  }

  /** All of it before the head: SGLang sends that with the first token, so that what fails here has its status. */
  async prepare(): Promise<boolean> {
    const { engine, transfers } = this.#state;
    const slowMs = claimedSlowMs(this.#exchange, this.#state);
    if (slowMs === undefined) return false;
    const { room, cancel } = engine.shared.receive(this.#prompt, this.#cacheKey);
    this.#cancelWait = cancel;
    const reception = await room;
    if (reception === undefined) return false;
    const local = reception.localTokens;
    const external = this.#prompt.length - local;
    try {
      await transfers.meet(`${this.#prefill.host}:${this.#prefill.port}`);
      await this.#meet(transfers.takesMs(external, slowMs));
    } catch (error) {
      reception.drop();
      transfers.failed += 1;
      throw error;
    }
    reception.finish();
    this.#arrival = { local, external, reported: local };
    return true;
  }

  async arrive(): Promise<Arrival | undefined> {
    return this.#arrival;
  }

  async depart(): Promise<void> {}

  end(): void {
    this.#cancelWait();
    this.#asked?.cancel();
  }

  async #meet(takesMs: number): Promise<void> {
    const { transfers, settings } = this.#state;
    if (this.#exchange.isOver) throw new Problem(499, "AbortError", "The client has left.");
    const startedMs = settings.clock.now();
    const body = { room: this.#room, digest: digestOf(this.#prompt, this.#cacheKey), takesMs };
    const limitMs = settings.holdMs + takesMs + SLACK_MS;
    this.#asked = transfers.remote.post(this.#prefill, "/mock/transfer/room", body, limitMs);
    const answer = await this.#asked.answer.catch(() => undefined);
    if (answer === undefined) {
      if (!this.#exchange.isOver) await transfers.wait(GONE_MS * settings.timeScale);
      const { host, port } = this.#prefill;
      throw failure(`Could not fetch prefill parallel info from bootstrap_addr: ${host}:${port}`);
    }
    const { error } = objectIn(answer);
    if (answer.status === 409) throw badRequest(String(error), "bootstrap_room");
    if (answer.status !== 200) throw failure(String(error ?? `HTTP ${answer.status}`));
    transfers.transferS.add((settings.clock.now() - startedMs) / 1000);
  }
}

/** Rooms are whole numbers of 63 bits; those that JavaScript rounds to the same number are the same here. */
function roomIn(body: JsonObject): string {
  const room = body["bootstrap_room"] ?? undefined;
  if (room === undefined) throw badRequest("Disaggregated request received without bootstrap room id.", "bootstrap_room");
  if (typeof room === "number" && Number.isInteger(room) && room >= 0 && room < 2 ** 63) return String(room);
  throw badRequest("bootstrap_room has to be a whole number from 0 to 2^63 - 1.", "bootstrap_room");
}

const failure = (why: string) => new Problem(500, "InternalServerError", `KVTransferError: ${why}`);

function failed(error: unknown): never {
  throw failure(error instanceof Error ? error.message : String(error));
}
