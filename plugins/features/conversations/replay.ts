import { JsonBody } from "../../../core/body/json-body.ts";
import { NO_KEYS } from "../../../core/body/noted-keys.ts";
import { BodyBuffer, type BodyOwner } from "../../../core/body/receive.ts";
import { DIRECT_BYTES, SlicedScan, type SlicedScanOwner } from "../../../core/body/sliced-scan.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { BodyReader } from "../../../core/contract/parser.ts";
import type { ParsedBody } from "../../../core/contract/request.ts";
import type { WaitingPlace, WaitOwner } from "../../../core/contract/slots/admit.ts";
import type { Span } from "../../../core/contract/span.ts";
import { bodyReader } from "../../../core/intake/body-reader.ts";
import { parse } from "../../../core/request/parse.ts";
import type { Run } from "../../../core/run.ts";
import { type OwnInput, replayedBody, TEXT_AT } from "./replayed-body.ts";
import type { Turn } from "./turn.ts";

/** Nobody cuts the body while it is put together: that is done at once. */
const NOBODY: BodyOwner = { failed() {} };

/** What a request continues, and what it has of its own. */
export interface Continued {
  /** Where the body names the response before; undefined where it names none. */
  readonly previous: Span | undefined;
  /** The turn of that response. */
  readonly last: Turn | undefined;
  readonly own: OwnInput;
}

/**
 * Puts the conversation up to `last` in front of the request's own input: the request has another body from now on, as if the client had
 * sent that. A long one is scanned in slices, and the request waits for it. Throws RouterError where the body is too long.
 */
export function replay(run: Run, owner: WaitOwner, { previous, last, own }: Continued): WaitingPlace | undefined {
  const { body, head, ticket, config, parts } = run;
  const { bodyBytes, bodyDepth } = config.settings.limits;
  const history = last?.history() ?? [];
  const pieces = replayedBody(body!.bytes, previous, body!.span("input"), history, own.items);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length > bodyBytes) throw tooLong(bodyBytes);
  const buffer = new BodyBuffer(length, bodyBytes, parts.gate.memory, NOBODY);
  try {
    for (const piece of pieces) buffer.append(piece, 0, piece.length);
    buffer.complete();
    const reader = bodyReader(run.parser!, head, ticket.path, bodyDepth);
    // The pieces are copied, so the client's own body is not needed any more.
    run.takeBuffer("conversations", buffer);
    const textBytes = history[0]?.textBytes ?? 0;
    if (reader !== undefined && length > DIRECT_BYTES) return new ReplayScan(run, reader, owner, textBytes);
    takeBody(run, reader, textBytes);
    return undefined;
  } catch (thrown) {
    if (run.buffer !== buffer) buffer.release();
    throw thrown;
  }
}

/** The scan of a long body, for which its request waits. */
class ReplayScan implements WaitingPlace, SlicedScanOwner {
  readonly #run: Run;
  readonly #reader: BodyReader;
  readonly #owner: WaitOwner;
  readonly #textBytes: number;
  readonly #scan: SlicedScan;

  constructor(run: Run, reader: BodyReader, owner: WaitOwner, textBytes: number) {
    this.#run = run;
    this.#reader = reader;
    this.#owner = owner;
    this.#textBytes = textBytes;
    this.#scan = new SlicedScan(run.buffer!, reader, 0, run.parts.gate.scanTurns, this);
    this.#scan.complete();
  }

  leave(): void {
    this.#scan.close();
  }

  scanned(): void {
    try {
      takeBody(this.#run, this.#reader, this.#textBytes);
    } catch (thrown) {
      return this.#owner.failed(thrown);
    }
    this.#owner.admitted();
  }

  failed(thrown: unknown): void {
    this.#owner.failed(thrown);
  }

  /** All of the body is here. */
  holdBody(): void {}
}

/** The body in the request's buffer is the request's body. */
function takeBody(run: Run, reader: BodyReader | undefined, textBytes: number): void {
  const { storage, length } = run.buffer!;
  reader?.finish(storage, length);
  run.body = new JsonBody(storage, length, reader ?? NO_KEYS);
  const parsed = parse(run);
  run.parsed = textBytes === 0 ? parsed : { ...parsed, promptSpans: splitSpans(parsed, run.body, textBytes) };
}

/**
 * The first request had a text as its input, which now stands inside of a list. Its span ends where that one ended, so that the prompt
 * begins with the first one's, and the replica that has that in its cache is found.
 */
function splitSpans({ promptSpans }: ParsedBody, body: JsonBody, textBytes: number): readonly Span[] {
  const [start, end] = body.span("input")!;
  const textStart = start + 1 + TEXT_AT;
  const textEnd = textStart + textBytes;
  return promptSpans.flatMap((span): readonly Span[] => {
    const isInput = span[0] === start && span[1] === end;
    return isInput ? [[textStart, textEnd] as const, [textEnd, end] as const] : [span];
  });
}

function tooLong(mostBytes: number): RouterError {
  const message =
    `The conversation before this request makes its body longer than the limit of ${mostBytes} bytes; ` +
    'send a shorter history as "input", without previous_response_id.';
  return new RouterError("body_too_large", message);
}
