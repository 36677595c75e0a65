import type { Time } from "../../../core/contract/clock.ts";
import type { Ejection, Endpoint } from "../../../core/contract/endpoint.ts";
import { BadFact, moment, text } from "../../../core/contract/fact-fields.ts";
import type { OperatorIntent } from "../../../core/pool/operator-intents.ts";
import type { RouterAccess } from "../../../core/router-host.ts";
import type { Outbox } from "./outbox.ts";

/** The newest word of an operator on a replica, from wherever it came. Times are in milliseconds since 1970, by this router's clock. */
interface Word {
  readonly intent: "serve" | "cordon" | "drain";
  /** By the clock of the router where it was said: it only tells which of two is newer. */
  readonly saidMs: number;
  readonly reason: string;
  readonly by: string;
  /** 0: until the operator ends it. */
  readonly untilMs: number;
  readonly graceUntilMs: number;
}

interface Known {
  readonly word: Word;
  /** What this router wants because of it. Anything else is news, of its own operators. */
  readonly wanted: OperatorIntent | undefined;
}

/** An operator's word of later than this has a wrong clock. */
const MOST_AHEAD_MS = 60_000;
const MOST_CHARS = 200;
/** Of the newest words, in one summary. */
const MOST_SAID = 200;
/** Of replicas that have gone too: one that returns is still drained. */
const MOST_WORDS = 4_096;
/** The router that ejected a replica tries it first, and says what came of it. */
const LATER_TRIAL_MS = 2_000;
const MOST_TIMER_MS = 2 ** 31 - 1;
/** What ends so shortly before its time ends by it: the others end it themselves. */
const END_SLACK_MS = 1_000;

/** Which replicas are cordoned, drained or ejected: what this router's operators and judge say, and what others have said. */
export class Standings {
  readonly #access: Pick<RouterAccess, "control">;
  readonly #clock: Time;
  readonly #outbox: Outbox;
  readonly #words = new Map<string, Known>();
  /** Until when each ejected endpoint is, by its address; on this router's clock. */
  readonly #ejected = new Map<string, number>();
  #isHearing = false;
  /** How many words of operators have come, from wherever. */
  wordCount = 0;

  constructor(access: Pick<RouterAccess, "control">, clock: Time, outbox: Outbox) {
    this.#access = access;
    this.#clock = clock;
    this.#outbox = outbox;
  }

  /** Says what has changed here since it was last asked. Returns whether anything has. */
  look(endpoints: readonly Endpoint[]): boolean {
    let hasChanged = false;
    for (const endpoint of endpoints) {
      if (this.#lookAtIntent(endpoint)) hasChanged = true;
      if (this.#lookAtEjection(endpoint)) hasChanged = true;
    }
    return hasChanged;
  }

  /** Says all that operators want, so that nothing of it is lost. */
  sayIntents(outbox = this.#outbox): void {
    for (const [url, { word }] of [...this.#words].slice(-MOST_SAID)) this.#sayIntent(url, word, outbox);
  }

  /** Says which replicas are ejected, to a router that has just come. */
  sayEjections(endpoints: readonly Endpoint[]): void {
    for (const { url, ejection } of endpoints) if (ejection !== undefined) this.#sayEjection(url.href, ejection);
  }

  /** Another router's operator wants this. `aheadMs`: of this router's clock before the one of the router that says it. */
  heardIntent({ url: { href }, name }: Endpoint, fields: readonly unknown[], aheadMs: number): void {
    const word = wordOf(fields, aheadMs);
    const wallMs = this.#clock.wall();
    const intents = this.#access.control()?.intents;
    if (intents === undefined || word.saidMs > wallMs + MOST_AHEAD_MS || !isNewer(word, this.#words.get(href)?.word)) return;
    const leftMs = word.untilMs === 0 ? undefined : word.untilMs - wallMs;
    const by = `${word.by}, at another router`;
    this.#whileHearing(() => {
      if (word.intent === "serve" || (leftMs !== undefined && leftMs <= 0)) intents.clear(name, by);
      else
        intents.set(name, {
          intent: word.intent,
          reason: word.reason,
          by,
          forMs: leftMs && Math.min(MOST_TIMER_MS, leftMs),
          graceMs: Math.min(MOST_TIMER_MS, Math.max(0, word.graceUntilMs - wallMs)),
        });
    });
    this.#keep(href, { word, wanted: intents.of(name) });
  }

  /** Another router has ejected it for `leftMs` from now, or has seen it work again (undefined). */
  heardEjection({ url: { href }, name }: Endpoint, reason: string, leftMs: number | undefined): void {
    const judge = this.#access.control()?.judge;
    if (judge === undefined) return;
    const nowMs = this.#clock.now();
    this.#whileHearing(() => {
      if (leftMs === undefined) judge.hear?.(name, undefined);
      else if (leftMs > 0) judge.hear?.(name, { reason, sinceMs: nowMs, untilMs: nowMs + leftMs + LATER_TRIAL_MS });
    });
    const { ejection } = judge.standingOf(name);
    if (ejection === undefined) this.#ejected.delete(href);
    else this.#ejected.set(href, ejection.untilMs);
  }

  /** What follows at once from what was heard is no news to the others. */
  #whileHearing(take: () => void): void {
    this.#isHearing = true;
    try {
      take();
    } finally {
      this.#isHearing = false;
    }
  }

  #lookAtIntent({ url: { href }, name }: Endpoint): boolean {
    const known = this.#words.get(href);
    const wanted = this.#access.control()?.intents.of(name);
    if (this.#isHearing || wanted === known?.wanted) return false;
    const wallMs = this.#clock.wall();
    if (wanted === undefined && known !== undefined && isOver(known.word, wallMs)) {
      this.#keep(href, { word: known.word, wanted });
      return false;
    }
    const word: Word = {
      intent: wanted?.intent ?? "serve",
      saidMs: Math.max(wanted?.sinceMs ?? wallMs, (known?.word.saidMs ?? 0) + 1),
      reason: (wanted?.reason ?? "").slice(0, MOST_CHARS),
      by: (wanted?.by ?? "an operator").slice(0, MOST_CHARS),
      untilMs: wanted?.untilMs ?? 0,
      graceUntilMs: wanted?.graceUntilMs ?? 0,
    };
    this.#keep(href, { word, wanted });
    this.#sayIntent(href, word, this.#outbox);
    return true;
  }

  #lookAtEjection({ url: { href }, name }: Endpoint): boolean {
    const ejection = this.#access.control()?.judge.standingOf(name).ejection;
    if (this.#isHearing || ejection?.untilMs === this.#ejected.get(href)) return false;
    if (ejection === undefined) {
      this.#ejected.delete(href);
      this.#outbox.add("returned", this.#outbox.replica(href));
    } else {
      this.#ejected.set(href, ejection.untilMs);
      this.#sayEjection(href, ejection);
    }
    return true;
  }

  #sayIntent(url: string, { intent, saidMs, reason, by, untilMs, graceUntilMs }: Word, outbox: Outbox): void {
    outbox.add("wanted", outbox.replica(url), intent, saidMs, reason, by, untilMs, graceUntilMs);
  }

  #sayEjection(url: string, { reason, untilMs }: Ejection): void {
    this.#outbox.add("ejected", this.#outbox.replica(url), reason.slice(0, MOST_CHARS), untilMs);
  }

  #keep(url: string, known: Known): void {
    this.#words.delete(url);
    this.#words.set(url, known);
    this.wordCount += 1;
    const [oldest] = this.#words.keys();
    if (this.#words.size > MOST_WORDS && oldest !== undefined) this.#words.delete(oldest);
  }
}

function wordOf([intent, saidMs, reason, by, untilMs, graceUntilMs]: readonly unknown[], aheadMs: number): Word {
  if (intent !== "serve" && intent !== "cordon" && intent !== "drain") throw new BadFact("an intent of another release");
  return {
    intent,
    saidMs: moment(saidMs),
    reason: text(reason, MOST_CHARS),
    by: text(by, MOST_CHARS),
    untilMs: untilMs === 0 ? 0 : Math.max(1, moment(untilMs) + aheadMs),
    graceUntilMs: Math.max(0, moment(graceUntilMs) + aheadMs),
  };
}

function isOver({ untilMs }: Word, wallMs: number): boolean {
  return untilMs !== 0 && wallMs >= untilMs - END_SLACK_MS;
}

/** Of two words of the same moment, all routers take the same. */
function isNewer(word: Word, known: Word | undefined): boolean {
  if (known === undefined) return true;
  return word.saidMs === known.saidMs ? word.intent > known.intent : word.saidMs > known.saidMs;
}
