import { spliceModel } from "../../../../core/body/splice.ts";
import { asRouterError } from "../../../../core/contract/errors.ts";
import type { RequestReceiver } from "../../../../core/contract/slots/decode.ts";
import { errorBody } from "../../../../core/errors/dialects.ts";
import { intake } from "../../../../core/intake/starter.ts";
import type { RouterParts } from "../../../../core/router-parts.ts";
import type { Run } from "../../../../core/run.ts";
import type { UpstreamPool } from "../../../../core/wire/upstream-pool.ts";
import { messageHead } from "../message-head.ts";
import { toldError } from "../told-error.ts";
import { JudgedMessage, type JudgedMessageOwner } from "./judged-message.ts";
import { messageParser, readMessage } from "./named-model.ts";

/** Whose messages are judged. */
export interface SessionModelsOwner {
  /** The message goes to the session's replica, as these parts. */
  passMessage(parts: readonly Uint8Array[]): void;
  /** The message does not go on, and its client is told why. */
  refused(event: string): void;
  /** It is known what became of a message that was to be waited for. */
  goOn(): void;
}

const OPEN_OBJECT = 0x7b;
const SPACE = 0x20;

/** Judges the messages of a session that name a model: its own one is rewritten as the first time, another one asked for anew. */
export class SessionModels implements JudgedMessageOwner {
  readonly #run: Run;
  /** Those of the router, also where the session is at a replica of another pool. */
  readonly #parts: RouterParts;
  readonly #owner: SessionModelsOwner;
  #asked: JudgedMessage | undefined;
  #receiver: RequestReceiver | undefined;

  constructor(run: Run, owner: SessionModelsOwner) {
    this.#run = run;
    this.#parts = run.parts;
    this.#owner = owner;
  }

  /** Returns false while it is not known what becomes of the message. */
  judge(message: Uint8Array, replica: UpstreamPool): boolean {
    const { config, dialect, ticket, parsed } = this.#run;
    const { request } = ticket;
    if (!isObject(message)) {
      this.#owner.passMessage([message]);
      return true;
    }
    try {
      const body = readMessage(message, config.settings.limits.bodyDepth);
      const model = body.text("model") ?? "";
      if (model === "") this.#owner.passMessage([message]);
      else if (model === parsed!.model) this.#owner.passMessage(spliceModel(message, body.span("model")!, request!.target));
      else return this.#ask(message, replica);
    } catch (thrown) {
      this.#owner.refused(toldError(errorBody(asRouterError(thrown), dialect, ticket.id)).event);
    }
    return true;
  }

  /** The session has ended. */
  close(): void {
    this.#asked?.detach();
    this.#receiver?.clientGone();
    this.#ended();
  }

  // Reports from the request that a message is.

  allowed(parts: readonly Uint8Array[]): void {
    this.#owner.passMessage(parts);
  }

  judged(error: string | undefined): void {
    const wasWaitedFor = this.#receiver !== undefined;
    this.#ended();
    if (error !== undefined) this.#owner.refused(error);
    if (wasWaitedFor) this.#owner.goOn();
  }

  #ask(message: Uint8Array, replica: UpstreamPool): boolean {
    const { config, dialect, head, peer } = this.#run;
    const asked = new JudgedMessage(replica, messageParser(dialect, config.settings.limits.bodyDepth), this);
    this.#asked = asked;
    const receiver = intake(this.#parts)(messageHead(head), message.length, asked, peer);
    if (this.#asked === asked) receiver.body(message, 0, message.length);
    if (this.#asked === asked) receiver.bodyEnd();
    if (this.#asked !== asked) return true;
    this.#receiver = receiver;
    return false;
  }

  #ended(): void {
    this.#asked = undefined;
    this.#receiver = undefined;
  }
}

/** Whether it can name anything. */
function isObject(message: Uint8Array): boolean {
  return message[message.findIndex((byte) => byte > SPACE)] === OPEN_OBJECT;
}
