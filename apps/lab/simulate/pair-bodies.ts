const KEY = Buffer.from('"kv_transfer_params"');
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Which part of a request its body asks for, as in vLLM's NIXL connector: to compute the prompt for another replica, or to fetch it. */
export type PairPart = { readonly kind: "prefill" } | { readonly kind: "decode"; readonly transfer: string };

/** Undefined: all of it. The prompts of simulated bodies have no quotes, and the router writes a key and its value as parts of their own. */
export function pairPartOf(body: readonly Uint8Array[]): PairPart | undefined {
  const part = body.findIndex((bytes) => bufferOf(bytes).includes(KEY));
  if (part < 0) return undefined;
  const bytes = Buffer.concat(body.slice(part, part + 2));
  const at = bytes.indexOf(KEY);
  const start = bytes.indexOf(OPEN, at);
  const end = bytes.indexOf(CLOSE, start) + 1;
  const told = JSON.parse(bytes.toString("utf8", start, end)) as Record<string, unknown>;
  if (told.do_remote_decode === true) return { kind: "prefill" };
  return told.do_remote_prefill === true ? { kind: "decode", transfer: String(told.remote_request_id) } : undefined;
}

const bufferOf = ({ buffer, byteOffset, length }: Uint8Array) => Buffer.from(buffer, byteOffset, length);

/** The response to a prefill request, which names what may be fetched now. */
export function prefillResponse(
  replica: string,
  transfer: string,
  promptTokens: number,
  cachedTokens: number | undefined,
): string {
  const details = cachedTokens === undefined ? undefined : { cached_tokens: cachedTokens };
  return JSON.stringify({
    object: "text_completion",
    choices: [{ index: 0, text: "", finish_reason: "length" }],
    usage: { prompt_tokens: promptTokens, completion_tokens: 1, prompt_tokens_details: details },
    kv_transfer_params: {
      do_remote_prefill: true,
      do_remote_decode: false,
      remote_engine_id: replica,
      remote_request_id: transfer,
      remote_block_ids: [],
      remote_host: replica,
      remote_port: 5600,
      tp_size: 1,
    },
  });
}
