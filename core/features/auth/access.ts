import type { ActiveConfig } from "../../active-config.ts";
import type { Clock } from "../../contract/clock.ts";
import { type Dialect, RouterError } from "../../contract/errors.ts";
import type { Principal } from "../../contract/principal.ts";
import type { ParsedBody } from "../../contract/request.ts";
import type { Ticket } from "../../request/ticket.ts";
import type { Head } from "../../wire/head.ts";
import type { Access } from "../feature.ts";
import { Accounts } from "./accounts.ts";
import { whoShows } from "./ask.ts";
import { authSection } from "./auth-config.ts";
import { credentialIn } from "./credential.ts";
import type { KeyCounts } from "./key-counts.ts";
import { limitLines } from "./limit-lines.ts";
import { tenantSalt } from "./tenant-salt.ts";
import { usedTokens } from "./used-tokens.ts";

/** How long an authenticator may take. */
const LONGEST_MS = 5_000;

/** Lets requests in by the keys that they show. */
export class KeyAccess implements Access {
  readonly #clock: Pick<Clock, "after" | "now" | "wall">;
  readonly #accounts = new Accounts();

  constructor(clock: Pick<Clock, "after" | "now" | "wall">) {
    this.#clock = clock;
  }

  get counts(): readonly KeyCounts[] {
    return this.#accounts.counts.all();
  }

  enter(ticket: Ticket, head: Head, { authenticators = [] }: ActiveConfig): Promise<void> | undefined {
    const answer = whoShows(credentialIn(head), authenticators);
    // A request may end meanwhile, and then nobody would say that it has left.
    if (answer instanceof Promise)
      return this.#inTime(answer).then((principal) => (hasEnded(ticket) ? undefined : this.#entered(ticket, principal)));
    this.#entered(ticket, answer);
    return undefined;
  }

  route(ticket: Ticket, { model, promptTokens }: ParsedBody): void {
    const { principal } = ticket;
    if (principal === undefined) return;
    if (principal.models?.has(model) === false) throw new RouterError("model_not_allowed", model === "" ? NO_MODEL : OTHER_MODEL);
    const nowMs = this.#clock.now();
    this.#accounts.of(principal, nowMs).reserve(promptTokens, principal.limits, nowMs);
    ticket.reservedTokens = promptTokens;
  }

  salted({ principal }: Ticket, asked: ParsedBody, { features }: ActiveConfig): ParsedBody {
    if (principal === undefined || authSection.of(features)?.saltByTenant !== true) return asked;
    return { ...asked, cacheSalt: tenantSalt(principal.tenant, asked.cacheSalt), isSalted: true };
  }

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
    account.counts[isEstimated ? "estimatedTokens" : "reportedTokens"] += tokens;
  }

  #entered(ticket: Ticket, principal: Principal): void {
    ticket.principal = principal;
    const nowMs = this.#clock.now();
    const account = this.#accounts.of(principal, nowMs);
    account.counts.requests += 1;
    account.enter(principal.limits, nowMs);
    ticket.reservedTokens = 0;
  }

  #inTime(answer: Promise<Principal>): Promise<Principal> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(LONGEST_MS, () => reject(tooSlow()));
      answer.then(resolve, reject).finally(cancel);
    });
  }
}

const OTHER_MODEL = "This key may not use that model; GET /v1/models lists those that it may use.";
const NO_MODEL = "This key may use some models only, and the request names none.";

function tooSlow(): RouterError {
  const message = "Who asks could not be checked in time; send the request again.";
  return new RouterError("authentication_unavailable", message, { retryAfterS: 1 });
}

const hasEnded = ({ times }: Ticket) => !Number.isNaN(times.endedAtMs);
