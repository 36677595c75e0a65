import type { ActiveConfig, Named, Profile } from "../active-config.ts";
import { JsonBody } from "../body/json-body.ts";
import { NO_KEYS } from "../body/noted-keys.ts";
import { bodyTooLarge } from "../body/receive.ts";
import type { Decision } from "../contract/decision.ts";
import type { LoadView } from "../contract/load-view.ts";
import type { Random } from "../contract/profile-plugin.ts";
import type { InferenceRequest, ParsedBody } from "../contract/request.ts";
import type { Rewriter, TargetDraw } from "../contract/rewriter.ts";
import { plan } from "../decide/plan.ts";
import { errorOf } from "../errors/wire-errors.ts";
import type { AskedPool } from "../pool/pool.ts";
import { parse, withTarget } from "../request/parse.ts";
import type { AskedRun } from "../run.ts";
import { Ticket } from "../ticket.ts";
import { codedBody } from "../wire/content-type.ts";
import type { Head } from "../wire/head.ts";
import { HeadParser } from "../wire/head-parser.ts";
import { isCoded } from "../wire/media-type.ts";
import { splitTarget } from "../wire/request-target.ts";
import { WireError } from "../wire/wire-error.ts";
import { bodyReader } from "./body-reader.ts";
import { noSuchRoute, parsersAt } from "./served-routes.ts";

/** A request that is decided on and not sent. */
export interface DryRunRequest {
  /** The path of a POST, perhaps with a query. */
  readonly path: string;
  /** Names and values; content-type is application/json if it is left out. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

export interface DryRun {
  readonly request: InferenceRequest;
  readonly decision: Decision;
  /** Where there are several pools. */
  readonly place?: DryRunPlace | undefined;
}

/** What a dry run reads; it changes nothing of it. */
export interface DryRunParts {
  readonly pool: AskedPool;
  readonly load: LoadView;
  readonly random: Random;
  readonly profile: Profile;
  /** The pool of the request, where there are several: its parts and its config. Throws RouterError for a request that no pool is for. */
  readonly choosePool?: ((run: AskedRun, parsed: ParsedBody) => DryRunPlace) | undefined;
}

/** Where a dry run decides. */
export interface DryRunPlace extends Pick<DryRunParts, "pool" | "load" | "profile"> {
  readonly config: ActiveConfig;
  /** The target, where choosing the pool has drawn it. */
  readonly draw: TargetDraw | undefined;
  /** Why there, in a sentence. */
  readonly why: string;
}

/**
 * Parses and decides as for a client's request that came now, by the same code. Sends nothing and books nothing: no share is drawn, no
 * prompt counts as cached, no load is claimed, no observer is told. Throws the RouterError that the client would get; a decision
 * that refuses has it in `refusal`. A compressed body is made plain before, by `withPlainBody`.
 */
export function dryRun(asked: DryRunRequest, front: ActiveConfig, parts: DryRunParts): DryRun {
  try {
    const run = runOf(asked, front, parts.load.nowMs);
    const parsed = parse(run);
    const place = parts.choosePool?.(run, parsed);
    const { config, pool, load, profile, draw } = { ...parts, config: front, draw: undefined, ...place };
    const quiet = { ...config, rewriters: config.rewriters.map(withoutCount) };
    const request = withTarget(parsed, { ...run, draw }, quiet, pool, load);
    return { request, decision: plan(config.slots, request, pool.facts, profile, load, parts.random), place };
  } catch (thrown) {
    throw errorOf(thrown);
  }
}

/** The same checks in the same order as for a client's request. */
function runOf(asked: DryRunRequest, config: ActiveConfig, nowMs: number): AskedRun {
  const { limits } = config.settings;
  const head = headOf(asked, config);
  const { path, query } = splitTarget(head.target);
  const parser = parsersAt(path, config)?.get(head.method);
  if (parser === undefined) throw noSuchRoute(path, config);
  if (asked.body.length > limits.bodyBytes) throw bodyTooLarge(limits.bodyBytes);
  const reader = bodyReader(parser, head, path, limits.bodyDepth);
  if (reader !== undefined && isCoded(head)) throw codedBody();
  reader?.finish(asked.body, asked.body.length);
  const body = new JsonBody(asked.body, asked.body.length, reader ?? NO_KEYS);
  const ticket = new Ticket("dry-run", head.method, nowMs);
  ticket.path = path;
  return { ticket, head, query, parser, body, placedAt: -1 };
}

/** Throws WireError for headers that no client may send. */
export function headOf({ path, headers }: DryRunRequest, { settings }: ActiveConfig): Head {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const defaults = { host: "localhost", "content-type": "application/json" };
  const missing = Object.entries(defaults).filter(([name]) => !names.has(name));
  const lines = [...missing, ...headers].map(([name, value]) => `${name}: ${value}\r\n`);
  if ([path, ...headers.flat()].some((text) => LINE_END.test(text)))
    throw new WireError("bad_head", "A path, or a header's name or value, has a line end in it; take it out.");
  const parser = new HeadParser("request", settings.limits);
  parser.push(Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`), 0);
  return parser.head;
}

const LINE_END = /[\r\n]/;

/** The rewriter, whose draws count nothing. */
function withoutCount(named: Named<Rewriter>): Named<Rewriter> {
  const { plugin } = named;
  const draw = plugin.preview?.bind(plugin) ?? plugin.draw.bind(plugin);
  return { ...named, plugin: { clientModels: plugin.clientModels, draw } };
}
