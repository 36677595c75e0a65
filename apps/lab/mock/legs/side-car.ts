import type { Exchange } from "../exchange.ts";
import { isObject, type JsonObject } from "../fields.ts";
import { badRequest } from "../problem.ts";
import type { ReplicaState } from "../state.ts";
import { type Address, type Asked, addressIn, objectIn, type RemoteAnswer } from "../transfer/remote.ts";
import type { Arrival, Leg } from "./leg.ts";
import { NixlDecode } from "./nixl-decode.ts";

/** The header that names the prefill replica. Of several, the reference's side-car takes the first. */
const HEADER = "x-prefiller-host-port";
/** Longest prefill leg. */
const PREFILL_LIMIT_MS = 600_000;
const PASSED_ON: readonly string[] = ["authorization", "x-request-id"];

const NO_TRANSFER_YET = {
  do_remote_decode: true,
  do_remote_prefill: false,
  remote_engine_id: null,
  remote_block_ids: null,
  remote_host: null,
  remote_port: null,
};

/** The prefill replica that a request's header names; undefined without one. Throws a Problem for what is no address. */
export function prefillerIn({ record: { headers } }: Exchange): Address | undefined {
  const value =
    headers
      .find(([name]) => name.toLowerCase() === HEADER)?.[1]
      .split(",")[0]
      ?.trim() ?? "";
  if (value === "") return undefined;
  const address = addressIn(value);
  if (address === undefined) throw badRequest(`${HEADER} has to be HOST:PORT, not "${value}".`);
  return address;
}

/**
 * Both legs, as the reference's side-car has them: prefill first, then decode with what it answered. A prefill replica that is gone or
 * answers with 5xx: decode alone. Its 4xx is the response.
 */
export class SideCar implements Leg {
  readonly isPrefillOnly = false;
  readonly #exchange: Exchange;
  readonly #state: ReplicaState;
  readonly #prefiller: Address;
  readonly #body: JsonObject;
  readonly #prompt: readonly number[];
  readonly #cacheKey: string;
  #asked: Asked | undefined;
  #decode: NixlDecode | undefined;

  constructor(
    exchange: Exchange,
    state: ReplicaState,
    prefiller: Address,
    body: JsonObject,
    prompt: readonly number[],
    cacheKey: string,
  ) {
    this.#exchange = exchange;
    this.#state = state;
    this.#prefiller = prefiller;
    this.#body = body;
    this.#prompt = prompt;
    this.#cacheKey = cacheKey;
  }

  async prepare(): Promise<boolean> {
    const answer = await this.#prefill();
    if (answer === undefined || answer.status >= 500) return true;
    if (answer.status < 200 || answer.status >= 300) {
      this.#exchange.send(answer.status, answer.text, answer.contentType);
      return false;
    }
    const params = objectIn(answer)["kv_transfer_params"];
    if (!isObject(params) || params["do_remote_prefill"] !== true) return true;
    this.#decode = new NixlDecode(this.#exchange, this.#state, params, this.#prompt, this.#cacheKey);
    return this.#decode.prepare();
  }

  async arrive(): Promise<Arrival | undefined> {
    return this.#decode?.arrive();
  }

  async depart(): Promise<void> {}

  end(): void {
    this.#asked?.cancel();
    this.#decode?.end();
  }

  async #prefill(): Promise<RemoteAnswer | undefined> {
    const { path, headers } = this.#exchange.record;
    const passed = headers.filter(([name]) => PASSED_ON.includes(name.toLowerCase()));
    const { remote } = this.#state.transfers;
    this.#asked = remote.post(this.#prefiller, path, prefillBody(path, this.#body), PREFILL_LIMIT_MS, Object.fromEntries(passed));
    return this.#asked.answer.catch(() => undefined);
  }
}

/** The client's body, for one token. */
function prefillBody(path: string, body: JsonObject): object {
  const { stream_options: _, ...rest } = body;
  const leg = { ...rest, stream: false, kv_transfer_params: NO_TRANSFER_YET };
  if (path === "/v1/responses") return { ...leg, max_output_tokens: 1 };
  if (path === "/v1/messages") return { ...leg, max_tokens: 1 };
  if (path !== "/inference/v1/generate") return { ...leg, max_tokens: 1, max_completion_tokens: 1 };
  const sampling = isObject(body["sampling_params"]) ? body["sampling_params"] : {};
  return { ...leg, sampling_params: { ...sampling, max_tokens: 1 } };
}
