import type { RouterError } from "../../core/contract/errors.ts";
import type { RequestReceiver } from "../../core/contract/slots/decode.ts";
import { respondWithError, respondWithText } from "../../core/errors/error-response.ts";
import type { ResponseWriter } from "../../core/host/response-writer.ts";
import type { Turn } from "./turns.ts";

/** A page as a response. */
export interface RenderedPage {
  readonly status: number;
  /** Header lines. */
  readonly lines: string;
  readonly text: string;
}

/** One request for a page: it is rendered when its turn comes. The request's body is ignored. */
export class PageExchange implements RequestReceiver {
  readonly #response: ResponseWriter;
  #isOver = false;

  /** `render` must not throw. */
  constructor(response: ResponseWriter, turn: Turn, render: () => RenderedPage) {
    this.#response = response;
    void turn(() => this.#isOver).then(() => this.#respond(render));
  }

  body(): void {}

  bodyEnd(): void {}

  refuse(error: RouterError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    respondWithError(this.#response, error, "openai", "none");
  }

  clientGone(): void {
    this.#isOver = true;
  }

  drained(): void {}

  /** Its turn comes in a moment. */
  stop(): void {}

  #respond(render: () => RenderedPage): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { status, lines, text } = render();
    respondWithText(this.#response, status, lines, text);
  }
}
