import type { ActiveConfig } from "../../../core/active-config.ts";
import { encodeName } from "../../../core/body/splice.ts";
import type { Clock } from "../../../core/contract/clock.ts";
import { type Dialect, RouterError } from "../../../core/contract/errors.ts";
import type { Principal } from "../../../core/contract/principal.ts";
import { afterAwake } from "../../../core/contract/standstill.ts";
import { wasServed } from "../../../core/report/blame.ts";
import type { Run } from "../../../core/run.ts";
import type { Ticket } from "../../../core/ticket.ts";
import type { Head } from "../../../core/wire/head.ts";
import type { Account } from "./account.ts";
import { Accounts } from "./accounts.ts";
import { whoAsks } from "./ask.ts";
import { authSection } from "./auth-config.ts";
import { separateIds } from "./chosen-ids.ts";
import { shownIn } from "./credential.ts";
import { ExpectedOutput } from "./expected-output.ts";
import type { KeyCounts } from "./key-counts.ts";
import { limitLines } from "./limit-lines.ts";
import { SharedKeys } from "./shared-keys.ts";
import { tenantSalt } from "./tenant-salt.ts";
import { asksNothing, usedTokens, wasRefused } from "./used-tokens.ts";

/** How long an authenticator may take. */
const LONGEST_MS = 5_000;

/** So long a request waits until other routers have heard of those before it. */
const LONGEST_WAIT_MS = 1_000;

/** Lets requests in by the keys that they show. */
export class KeyAccess {
  readonly shared: SharedKeys;
  readonly #clock: Clock;
  readonly #accounts = new Accounts();
  readonly #expected = new ExpectedOutput();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.shared = new SharedKeys(this.#accounts, clock);
  }

  get counts(): readonly KeyCounts[] {
    return this.#accounts.counts.all();
  }

  /** The head has come: says in the ticket who asks. The body waits for a promise. */
  enter(ticket: Ticket, head: Head, { authenticators = [] }: ActiveConfig): Promise<void> | undefined {
    const answer = whoAsks(shownIn(head), authenticators);
    // A request may end meanwhile, and then nobody would say that it has left.
    if (answer instanceof Promise)
      return this.#inTime(answer).then((principal) => (hasEnded(ticket) ? undefined : this.#entered(ticket, principal)));
    return this.#entered(ticket, answer);
  }

  /**
   * The whole request has come: throws where the principal may not ask for that, or has used too much. From now on what it
   * asks for has ids of its tenant's own, and, where the config wants that, a salt.
   */
  admit(run: Run): undefined {
    const { ticket, config } = run;
    const { principal, api } = ticket;
    if (principal === undefined) return;
    if (authSection.of(config.features)?.saltByTenant === true) salt(run, principal);
    separateIds(run, principal.tenant);
    const { model, promptTokens, isLookup } = run.parsed!;
    if (isLookup !== true && principal.models?.has(model) === false)
      throw new RouterError("model_not_allowed", model === "" ? NO_MODEL : OTHER_MODEL);
    const nowMs = this.#clock.now();
    const tokens = promptTokens + this.#expected.of(principal.name, api, run.parsed!);
    this.#accounts.of(principal, nowMs).reserve(tokens, principal.limits, nowMs);
    ticket.reservedTokens = tokens;
    this.shared.used(principal.name, principal.limits, nowMs);
  }

  /** Header lines for the principal, of what it may still use; "" without one. */
  lines({ principal }: Ticket, dialect: Dialect): string {
    if (principal === undefined) return "";
    const nowMs = this.#clock.now();
    return limitLines(this.#accounts.of(principal, nowMs), principal.limits, dialect, nowMs, this.#clock.wall());
  }

  settled(ticket: Ticket): void {
    const { principal, reservedTokens } = ticket;
    if (principal === undefined || reservedTokens < 0) return;
    const nowMs = this.#clock.now();
    const { tokens, isEstimated } = usedTokens(ticket);
    const account = this.#accounts.of(principal, nowMs);
    account.leave(tokens, reservedTokens, nowMs);
    this.shared.used(principal.name, principal.limits, nowMs);
    if (wasRefused(ticket) || asksNothing(ticket)) account.giveBack(ticket.countedAtMs, nowMs);
    else if (hasWholeResponse(ticket))
      this.#expected.learn(principal.name, ticket.api, orNone(ticket.outputTokens) / (ticket.request?.choices ?? 1));
    account.counts[isEstimated ? "estimatedTokens" : "reportedTokens"] += tokens;
  }

  /** Waits only where the limits are nearly used up, and the other routers have not heard of all that is used here. */
  #entered(ticket: Ticket, principal: Principal): Promise<void> | undefined {
    ticket.principal = principal;
    const nowMs = this.#clock.now();
    const account = this.#accounts.of(principal, nowMs);
    account.counts.requests += 1;
    if (account.mustWait(principal.limits, nowMs)) return this.#whenHeard(ticket, principal, account);
    this.#enters(ticket, principal, account);
    return undefined;
  }

  async #whenHeard(ticket: Ticket, principal: Principal, account: Account): Promise<void> {
    const untilMs = this.#clock.now() + LONGEST_WAIT_MS;
    const mustWait = (nowMs: number) => nowMs < untilMs && account.mustWait(principal.limits, nowMs);
    while (mustWait(this.#clock.now())) await this.shared.heardByOthers();
    if (!hasEnded(ticket)) this.#enters(ticket, principal, account);
  }

  #enters(ticket: Ticket, principal: Principal, account: Account): void {
    const nowMs = this.#clock.now();
    account.enter(principal.limits, nowMs);
    this.shared.used(principal.name, principal.limits, nowMs);
    ticket.reservedTokens = 0;
    ticket.countedAtMs = nowMs;
  }

  #inTime(answer: Promise<Principal>): Promise<Principal> {
    return new Promise((resolve, reject) => {
      const cancel = afterAwake(this.#clock, LONGEST_MS, () => reject(tooSlow()));
      answer.then(resolve, reject).finally(cancel);
    });
  }
}

/** Where the API has no salt, replicas get none, but the router's own index keeps tenants apart all the same. */
function salt(run: Run, { tenant }: Principal): void {
  const { saltSpan, cacheSalt: own } = run.parsed!;
  const cacheSalt = tenantSalt(tenant, own);
  if (saltSpan !== undefined) run.write("auth", "cache_salt", encodeName(cacheSalt));
  run.parsed = { ...run.parsed!, cacheSalt };
}

const OTHER_MODEL = "This key may not use that model; GET /v1/models lists those that it may use.";
const NO_MODEL = "This key may use some models only, and the request names none.";

function tooSlow(): RouterError {
  const message = "Who asks could not be checked in time; send the request again.";
  return new RouterError("authentication_unavailable", message, { retryAfterS: 1 });
}

const hasEnded = ({ times }: Ticket) => !Number.isNaN(times.endedAtMs);

/** Of a request that generates, so that what it took says what to expect of others. */
function hasWholeResponse(ticket: Ticket): boolean {
  const { request, ending } = ticket;
  return request !== undefined && request.promptSpans.length > 0 && ending === "complete" && wasServed(ticket);
}

/** What reports no output, such as an embedding, has none. */
const orNone = (tokens: number) => (Number.isNaN(tokens) ? 0 : tokens);
