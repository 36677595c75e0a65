import type { Reply } from "../call.ts";
import type { Exchange } from "../exchange.ts";
import { isObject, type JsonObject } from "../fields.ts";
import { badRequest, invalidField } from "../problem.ts";
import type { ReplicaState } from "../state.ts";
import type { Leg } from "./leg.ts";
import { NixlDecode } from "./nixl-decode.ts";
import { NixlPrefill } from "./nixl-prefill.ts";
import { SglangDecode, SglangPrefill } from "./sglang.ts";
import { prefillerIn, SideCar } from "./side-car.ts";

/** What a request is a leg of; undefined for one that this replica does alone. Throws a Problem for what it can't be. */
export function legOf(exchange: Exchange, state: ReplicaState, body: JsonObject, reply: Reply): Leg | undefined {
  const { transfer, role } = state.settings;
  if (transfer === "none") return undefined;
  const { prompt } = reply.choices[0]!;
  const key = cacheKeyOf(reply);
  if (transfer === "sglang") {
    const SglangLeg = role === "prefill" ? SglangPrefill : SglangDecode;
    return new SglangLeg(exchange, state, body, prompt, key);
  }
  const prefiller = transfer === "side-car" ? prefillerIn(exchange) : undefined;
  if (prefiller) return new SideCar(exchange, state, prefiller, body, prompt, key);
  const params = body["kv_transfer_params"] ?? undefined;
  if (params === undefined) return undefined;
  if (!isObject(params)) throw invalidField("dict_type", "body.kv_transfer_params", "Input should be a valid dictionary", params);
  if (params["do_remote_prefill"] === true) {
    if (role === "prefill") throw wrongRole("decode", "do_remote_prefill");
    return new NixlDecode(exchange, state, params, prompt, key);
  }
  if (params["do_remote_decode"] !== true) return undefined;
  if (role === "decode") throw wrongRole("prefill", "do_remote_decode");
  return new NixlPrefill(exchange, state, key);
}

/** Prompts share prefixes only where these are equal. */
export const cacheKeyOf = (reply: Reply) => `${reply.model}\n${reply.call.cacheSalt}`;

const wrongRole = (leg: string, field: string) =>
  badRequest(`This replica takes no ${leg} leg (${field}): it was started with another --role.`, "kv_transfer_params");
