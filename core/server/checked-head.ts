import { type Framing, isKeptAlive, NO_BODY, requestFraming } from "../wire/framing.ts";
import type { Head } from "../wire/head.ts";
import { checkHost } from "../wire/request-target.ts";

/** What the last request's head says of its body and of the connection. */
export class CheckedHead {
  framing: Framing = NO_BODY;
  /** Whether another request may follow on the connection. */
  isKept = false;
  #head: Head | undefined;

  /** Throws WireError unless it is clear whom the request is for and where its body ends. */
  check(head: Head): void {
    // The parser gives the same head again where a client sends the same bytes.
    if (head === this.#head) return;
    checkHost(head);
    this.framing = requestFraming(head);
    this.isKept = isKeptAlive(head) && head.minor === 1;
    this.#head = head;
  }
}
