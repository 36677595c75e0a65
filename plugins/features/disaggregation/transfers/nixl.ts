import { readJsonBody } from "../../../../core/body/json-body.ts";
import { spliceMembers } from "../../../../core/body/splice.ts";
import type { BodyMember } from "../../../../core/contract/body-member.ts";
import type { RequestBody, RequestRun } from "../../../../core/contract/slots/request-run.ts";
import type { Transfer } from "../transfer.ts";
import { member, memberIfThere } from "./members.ts";

const PARAMETERS = "kv_transfer_params";
const SAMPLING = "sampling_params";
/** What vLLM hands to its connectors. */
const EXTRA = "extra_args";
const UTF8 = new TextEncoder();
/** Deeper responses are of no engine. */
const MOST_DEPTH = 64;
const OPENING_BRACE = 0x7b;

/** As vLLM's NixlConnector wants it of a request whose cache another engine will fetch. */
const REMOTE_DECODE = JSON.stringify({
  do_remote_decode: true,
  do_remote_prefill: false,
  remote_engine_id: null,
  remote_block_ids: null,
  remote_host: null,
  remote_port: null,
});

/** Limits of generated tokens; what an API does not have is not added, but for one of them. */
const LIMITS = ["max_tokens", "max_completion_tokens", "max_output_tokens"] as const;

/** The same inside of sampling parameters. */
const ONE_TOKEN = { max_tokens: 1, min_tokens: 0, n: 1 };

/** Members that would make a response of one token fail, or be kept, or be another kind of response. */
const QUIET: Readonly<Record<string, string>> = {
  stream_options: "null",
  min_tokens: "0",
  n: "1",
  best_of: "null",
  store: "false",
  background: "false",
};

/** vLLM's NIXL connector: the prompt's response says where its blocks are, and the answer's engine fetches them. */
export const nixl: Transfer = {
  type: "nixl",
  order: "first",
  answersAlone: true,
  keys: ["stream", SAMPLING, PARAMETERS, ...LIMITS, ...Object.keys(QUIET)],
  reservedKeys: [PARAMETERS],
  reservedIn(body) {
    const sampling = objectAt(body, SAMPLING);
    const extra = sampling && objectAt(readJsonBody(sampling, { keys: [EXTRA] }, MOST_DEPTH), EXTRA);
    const said = extra && readJsonBody(extra, { keys: [PARAMETERS] }, MOST_DEPTH).span(PARAMETERS);
    return said && [SAMPLING, EXTRA, PARAMETERS].join(".");
  },
  prefillMembers(run) {
    const body = run.body!;
    return [
      member(body, PARAMETERS, REMOTE_DECODE),
      member(body, "stream", "false"),
      ...oneToken(body, run),
      ...Object.entries(QUIET).flatMap(([key, value]) => memberIfThere(body, key, value)),
    ];
  },
  decodeMembers(run, _pair, response) {
    const parameters = parametersIn(response);
    return parameters && [member(run.body!, PARAMETERS, parameters)];
  },
};

/** The bytes of a member's value, if that is an object. */
function objectAt(body: RequestBody, key: string): Uint8Array | undefined {
  const span = body.span(key);
  return span !== undefined && body.bytes[span[0]] === OPENING_BRACE ? body.bytes.subarray(span[0], span[1]) : undefined;
}

function oneToken(body: RequestBody, { ticket }: RequestRun): readonly BodyMember[] {
  if (ticket.api === "generate") return [member(body, SAMPLING, samplingOfOneToken(body))];
  const there = LIMITS.flatMap((key) => memberIfThere(body, key, "1"));
  if (there.length > 0) return there;
  return [member(body, ticket.api === "responses" ? "max_output_tokens" : "max_tokens", "1")];
}

/** The limit of the token API stands inside of its sampling parameters, whose other bytes stay: a seed may have 64 bits. */
function samplingOfOneToken(body: RequestBody): Uint8Array {
  const bytes = objectAt(body, SAMPLING);
  if (bytes === undefined) return UTF8.encode(JSON.stringify(ONE_TOKEN));
  const entries = Object.entries(ONE_TOKEN);
  const sampling = readJsonBody(bytes, { keys: Object.keys(ONE_TOKEN) }, MOST_DEPTH);
  return Buffer.concat(
    spliceMembers(
      bytes,
      entries.map(([key, value]) => member(sampling, key, String(value))),
    ),
  );
}

/** The parameters' bytes as the response has them: numbers in them may be longer than those of JavaScript. */
function parametersIn(response: Uint8Array): Uint8Array | undefined {
  try {
    const span = readJsonBody(response, { keys: [PARAMETERS] }, MOST_DEPTH).span(PARAMETERS);
    return span === undefined || response[span[0]] !== OPENING_BRACE ? undefined : response.slice(span[0], span[1]);
  } catch {
    return undefined;
  }
}
