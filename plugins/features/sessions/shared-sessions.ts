import type { Time } from "../../../core/contract/clock.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { FactTeller, SharedFact, SharedFacts } from "../../../core/contract/slots/shared.ts";
import { UnsaidFacts } from "../../../core/state/unsaid-facts.ts";
import type { GatedLine } from "./gate/gated-line.ts";
import { Session } from "./session.ts";
import { factOf, LINE, lineFact, lineOf, stateOf, type ToldPlace } from "./session-fact.ts";
import type { Sessions } from "./sessions.ts";

/** Lets routers know where each other's sessions are, so that the next turn may come to any of them. */
export class SharedSessions implements SharedFacts {
  readonly #sessions: Sessions;
  readonly #line: GatedLine;
  readonly #clock: Time;
  readonly #unsaid = new UnsaidFacts<Session>();
  #soon: (() => void) | undefined;
  #isLineChanged = false;
  #byName: ReadonlyMap<string, Endpoint> = new Map();
  #byHref: ReadonlyMap<string, Endpoint> = new Map();
  #hrefs: ReadonlyMap<number, string> = new Map();

  constructor(sessions: Sessions, line: GatedLine, clock: Time) {
    this.#sessions = sessions;
    this.#line = line;
    this.#clock = clock;
    sessions.changed = (session) => this.#unsaid.changed(session, clock.now());
    line.moved = (session) => session instanceof Session && this.#unsaid.changed(session, clock.now());
    line.lined = () => {
      this.#isLineChanged = true;
      this.#soon?.();
    };
    sessions.lost = (session) => {
      this.#unsaid.forget(session);
      line.forgotten(session);
    };
  }

  follow(endpoints: readonly Endpoint[]): void {
    this.#byName = new Map(endpoints.map((endpoint) => [endpoint.name, endpoint]));
    this.#byHref = new Map(endpoints.map((endpoint) => [endpoint.url.href, endpoint]));
    this.#hrefs = new Map(endpoints.map(({ slot, url }) => [slot, url.href]));
  }

  listen(soon: (() => void) | undefined): void {
    this.#soon = soon;
    this.#unsaid.listen(soon);
  }

  *say(): Generator<SharedFact> {
    const nowMs = this.#clock.now();
    if (this.#isLineChanged) {
      this.#isLineChanged = false;
      yield lineFact(this.#line.heads());
    }
    for (const session of this.#unsaid.take()) {
      const { slot = -1, tokens = 0, movedAtMs = Number.NEGATIVE_INFINITY } = this.#line.placeOf(session) ?? {};
      const place = { href: this.#hrefs.get(slot) ?? "", tokens, sinceMs: nowMs - movedAtMs };
      yield factOf(session, this.#byName.get(session.endpoint)?.url.href ?? "", place, nowMs);
    }
  }

  repeat(ms: number): void {
    this.#unsaid.repeat(this.#clock.now() - ms);
  }

  hear(fact: SharedFact, { router, isOwn }: FactTeller): void {
    if (isOwn) return;
    if (fact[0] === LINE) return this.#line.others.heard(router, lineOf(fact), this.#clock.now());
    const state = stateOf(fact);
    const session = this.#sessions.heard(state, this.#byHref.get(state.href)?.name ?? "", router);
    if (session !== undefined) this.#place(session, state.place);
  }

  gone(router: string): void {
    this.#line.others.gone(router);
    for (const session of this.#sessions.all())
      if (session.elsewhere.delete(router)) this.#place(session, { href: "", tokens: 0, sinceMs: Number.POSITIVE_INFINITY });
  }

  #place(session: Session, { href, tokens, sinceMs }: ToldPlace): void {
    const slot = this.#byHref.get(href)?.slot ?? -1;
    const { finishReason, endedAtMs: idleSinceMs, elsewhere } = session;
    const movedAtMs = this.#clock.now() - sinceMs;
    this.#line.heard(session, { slot, tokens, movedAtMs, finishReason, idleSinceMs, isElsewhere: elsewhere.size > 0 });
  }
}
