import type { ActiveConfig } from "../../active-config.ts";
import type { Clock } from "../../contract/clock.ts";
import { RouterError } from "../../contract/errors.ts";
import type { Principal } from "../../contract/principal.ts";
import type { Ticket } from "../../request/ticket.ts";
import type { Head } from "../../wire/head.ts";
import type { Access } from "../feature.ts";
import { whoShows } from "./ask.ts";
import { credentialIn } from "./credential.ts";

/** How long an authenticator may take. */
const LONGEST_MS = 5_000;

/** Lets requests in by the keys that they show. */
export class KeyAccess implements Access {
  readonly #clock: Pick<Clock, "after">;

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  enter(ticket: Ticket, head: Head, { authenticators = [] }: ActiveConfig): Promise<void> | undefined {
    const answer = whoShows(credentialIn(head), authenticators);
    if (answer instanceof Promise) return this.#inTime(answer).then((principal) => this.#entered(ticket, principal));
    this.#entered(ticket, answer);
    return undefined;
  }

  checkModel({ principal }: Ticket, model: string): void {
    if (principal?.models === undefined || principal.models.has(model)) return;
    throw new RouterError("model_not_allowed", model === "" ? NO_MODEL : OTHER_MODEL);
  }

  #entered(ticket: Ticket, principal: Principal): void {
    ticket.principal = principal;
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
