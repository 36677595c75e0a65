import type { ErrorCode, RouterError } from "../../../core/contract/errors.ts";
import type { AttemptFailure } from "../../../core/contract/outcome.ts";
import type { TargetDraw } from "../../../core/contract/rewriter.ts";
import { targetLabel } from "../../../core/report/target-label.ts";
import { redistributes } from "../../../core/request/draw-target.ts";
import type { MeantTarget } from "../../../core/router.ts";
import type { Run } from "../../../core/run.ts";
import { tellFeatures } from "../../../core/tell-features.ts";
import type { Ticket } from "../../../core/ticket.ts";
import type { AskedPlace, Places } from "./pool-choice.ts";
import type { PoolPlace } from "./pool-place.ts";
import type { PoolTally, Reason } from "./pool-tally.ts";

/** The pools that one request was in. */
interface Journey {
  readonly asked: AskedPlace;
  readonly why: string;
  /** The newest last. */
  readonly places: PoolPlace[];
  /** Why it left each pool but the last. */
  readonly reasons: Reason[];
  /** What its rule drew for it, where it gets something else in its place. */
  meant: MeantTarget | undefined;
}

const NOBODY: ReadonlySet<ErrorCode> = new Set(["no_ready_endpoint", "target_unavailable", "upstream_unreachable"]);
/** A pool is full, or has nobody. */
const LEAVES: ReadonlySet<ErrorCode> = new Set([...NOBODY, ...(["queue_full", "queue_timeout", "saturated"] as const)]);
/** Tries that no replica has worked on: it got no byte of them, or refused them because it is full. */
const UNDONE: ReadonlySet<number | AttemptFailure> = new Set([
  ...(["connect-failed", "connect-timeout", "saturated", "removed"] as const),
  ...[429, 503],
]);

/** Brings requests into pools, and on into others. It outlives configs, because requests of an older one still go on. */
export class Journeys {
  readonly #tally: PoolTally;
  readonly #open = new WeakMap<object, Journey>();

  constructor(tally: PoolTally) {
    this.#tally = tally;
  }

  choose(run: Run, places: Places): void {
    const { ticket, head } = run;
    const asked = { parsed: run.parsed!, head, key: ticket.principal?.name ?? "" };
    const { place, draw, why } = places.choose(asked);
    this.#open.set(ticket, { asked, why, places: [place], reasons: [], meant: undefined });
    enter(run, place, draw);
    run.admissions = 0;
  }

  /** Whether the request goes on in another pool. `why`: see PoolSlot. */
  fallBack(run: Run, why: RouterError | number, places: Places): boolean {
    const { ticket } = run;
    const code = typeof why === "number" ? why : why.code;
    const journey = this.#open.get(ticket);
    if (journey === undefined || !(typeof code === "number" || LEAVES.has(code)) || !mayLeave(run)) return false;
    const next = nextOf(run, code, journey, places);
    if (next === undefined) return false;
    const { place, draw } = next;
    const from = journey.places.at(-1)!;
    this.#tally.fellBack(from.name, place.name, code);
    journey.reasons.push(code);
    journey.places.push(place);
    journey.meant = draw?.rule === "" ? (journey.meant ?? drawnFor(run)) : undefined;
    enter(run, place, draw);
    run.admissions = place.admittedAlready;
    run.placedAt = -1;
    return true;
  }

  /** Tells the features of those pools that it has left: their own slots are those of the last pool. */
  settled(ticket: Ticket, log: Run["parts"]["services"]["log"]): void {
    const journey = this.#open.get(ticket);
    if (journey === undefined) return;
    this.#tally.ended(journey.places.at(-1)!.name, ticket);
    for (const place of journey.places.slice(0, -1)) tellFeatures(place.settled, log, (plugin) => plugin.settled(ticket));
  }

  /** See PoolsFeature. */
  meantFor(ticket: object): MeantTarget | undefined {
    return this.#open.get(ticket)?.meant;
  }

  /** Why it went where it went, in sentences. */
  explain(ticket: object): readonly string[] {
    const journey = this.#open.get(ticket);
    if (journey === undefined) return [];
    const moves = journey.reasons.map((code, index) => {
      const [from, to] = [journey.places[index]!, journey.places[index + 1]!];
      const what = typeof code === "number" ? `a replica said ${code}` : code;
      return `The pool "${from.name}" could not take it (${what}), so it went on to "${to.name}".`;
    });
    return [journey.why, ...moves];
  }
}

/** What one replica keeps is nowhere else, and what a replica may have got is not sent again. */
function mayLeave({ parsed, ticket, response }: Run): boolean {
  if (parsed!.names !== undefined || parsed!.isLookup === true || parsed!.isFollowUp === true || response.gateway !== undefined)
    return false;
  const tries = [...ticket.attempts, ...(ticket.prefill?.attempts ?? [])];
  return tries.every(({ result }) => UNDONE.has(result));
}

/** What a rule has drawn for it so far. */
function drawnFor({ draw, ticket }: Run): MeantTarget | undefined {
  const { rule, target } = draw ?? ticket.request ?? { rule: "", target: "" };
  return rule === "" ? undefined : { rule, label: targetLabel({ name: target, pool: draw?.pool }) };
}

/** Another target of its rule, where that redistributes; else the next fallback of the first pool that it was not in yet. */
function nextOf(
  { ticket, draw: drawn }: Run,
  reason: Reason,
  { asked, places: been }: Journey,
  places: Places,
): { readonly place: PoolPlace; readonly draw: TargetDraw | undefined } | undefined {
  const names = been.map(({ name }) => name);
  const rule = drawn?.rule ?? ticket.request?.rule ?? "";
  if (NOBODY.has(reason as ErrorCode) && rule !== "" && redistributes(rule, places.own.config)) {
    const found = places.choose(asked, false, names);
    if (!names.includes(found.place.name)) return found;
  }
  for (const { pool, model } of been[0]!.fallback) {
    const place = names.includes(pool) ? undefined : places.named(pool);
    // A rule that stays inside of one pool draws again there.
    const target = model ?? drawn?.target;
    // A pool without the model would only hide why the first one could not serve it.
    if (place === undefined || !places.mayServe(place, asked, target)) continue;
    return { place, draw: target === undefined ? undefined : { target, rule: "" } };
  }
  return undefined;
}

function enter(run: Run, { name, config, parts }: PoolPlace, draw: TargetDraw | undefined): void {
  run.config = config;
  run.parts = parts;
  run.pool = parts.pool;
  run.draw = draw;
  run.ticket.pool = name;
}
