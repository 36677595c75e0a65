import type { ActiveConfig, Named, Profile } from "../active-config.ts";
import { JsonBody, readJsonBody } from "../body/json-body.ts";
import { NO_KEYS } from "../body/noted-keys.ts";
import { bodyTooLarge } from "../body/receive.ts";
import type { Clock } from "../contract/clock.ts";
import type { Decision } from "../contract/decision.ts";
import type { LoadView } from "../contract/load-view.ts";
import type { Random } from "../contract/profile-plugin.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { Rewriter } from "../contract/rewriter.ts";
import { decide } from "../decide/decide.ts";
import { errorOf } from "../errors/wire-errors.ts";
import type { Incoming } from "../request/incoming.ts";
import { type AskedPool, parse, withTarget } from "../request/parse.ts";
import type { Head } from "../wire/head.ts";
import { HeadParser } from "../wire/head-parser.ts";
import { splitTarget } from "../wire/request-target.ts";
import { WireError } from "../wire/wire-error.ts";
import { checkContentType } from "./check-head.ts";
import { noSuchRoute } from "./served-routes.ts";

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
}

/** What a dry run reads; it changes nothing of it. */
export interface DryRunParts {
  readonly pool: AskedPool & { readonly load: { at(nowMs: number): LoadView } };
  readonly services: { readonly clock: Pick<Clock, "now">; readonly random: Random };
  readonly plugins: { readonly times: { untimed(profile: Profile): Profile } };
}

/**
 * Parses and decides as for a client's request that came now, by the same code. Sends nothing and books nothing: no share is drawn, no
 * prompt counts as cached, no load is claimed, no observer is told. Throws the RouterError that the client would get; a decision
 * that refuses has it in `refusal`.
 */
export function dryRun(asked: DryRunRequest, config: ActiveConfig, { pool, services, plugins }: DryRunParts): DryRun {
  try {
    const { rewriters, targets, settings, profile } = config;
    const nowMs = services.clock.now();
    const incoming = incomingOf(asked, config);
    const quiet = { rewriters: rewriters.map(withoutCount), targets, settings };
    const request = withTarget(parse(incoming), incoming, quiet, pool, nowMs);
    const { facts, load } = pool;
    return { request, decision: decide(request, facts, plugins.times.untimed(profile), load.at(nowMs), services.random) };
  } catch (thrown) {
    throw errorOf(thrown);
  }
}

/** The same checks in the same order as for a client's request. */
function incomingOf(asked: DryRunRequest, config: ActiveConfig): Incoming {
  const { limits } = config.settings;
  const head = headOf(asked, config);
  const { path, query } = splitTarget(head.target);
  const parser = config.routes.get(path)?.get(head.method);
  if (parser === undefined) throw noSuchRoute(path, config);
  if (asked.body.length > limits.bodyBytes) throw bodyTooLarge(limits.bodyBytes);
  const { keys } = parser.plugin;
  if (keys.length > 0) checkContentType(head);
  const body =
    keys.length > 0
      ? readJsonBody(asked.body, parser.plugin, limits.bodyDepth)
      : new JsonBody(asked.body, asked.body.length, NO_KEYS);
  return { id: "dry-run", head, path, query, peer: "", parser, body };
}

/** Throws WireError for headers that no client may send. */
function headOf({ path, headers }: DryRunRequest, { settings }: ActiveConfig): Head {
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
