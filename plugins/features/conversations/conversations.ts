import type { JsonKind } from "../../../core/contract/body-view.ts";
import type { Clock } from "../../../core/contract/clock.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import type { WaitingPlace, WaitOwner } from "../../../core/contract/slots/admit.ts";
import type { RequestRun } from "../../../core/contract/slots/request-run.ts";
import type { Tap, TappedResponse } from "../../../core/contract/slots/tap.ts";
import type { Run } from "../../../core/run.ts";
import type { ConversationSettings } from "./conversations-config.ts";
import { replay } from "./replay.ts";
import { inputItems } from "./replayed-body.ts";
import { type ReadResponse, type ResponseListener, StreamReader, WholeReader } from "./response-reader.ts";
import type { Turn } from "./turn.ts";
import { type OpenTurn, TurnStore } from "./turn-store.ts";

/** The type of the parser whose requests these are. */
const API = "responses";

/** Why a turn was not kept. */
export type Dropped = "too_large" | "too_many_turns" | "no_room" | "doubled" | "unreadable";

/** A request of the API, as long as somebody may ask about it. */
interface Asked {
  /** What it continues. */
  readonly last: Turn | undefined;
  /** Undefined: its turn is not kept. */
  open: OpenTurn | undefined;
  /** Why its turn can't be kept, in a sentence; "" if it can. */
  readonly flaw: string;
}

/** Continues conversations, and holds what they need. It outlives configs. */
export class Conversations {
  readonly store: TurnStore;
  /** Requests with a previous_response_id, by what became of them. */
  readonly continued = { replayed: 0, unknown: 0, forwarded: 0 };
  readonly dropped: Record<Dropped, number> = { too_large: 0, too_many_turns: 0, no_room: 0, doubled: 0, unreadable: 0 };
  readonly #asked = new WeakMap<Outcome, Asked>();
  #settings: ConversationSettings | undefined;

  constructor(clock: Clock) {
    this.store = new TurnStore(clock);
  }

  get settings(): ConversationSettings | undefined {
    return this.#settings;
  }

  use(settings: ConversationSettings | undefined): void {
    this.#settings = settings;
    this.store.use(settings);
  }

  /** Gives the request its history. Throws RouterError where it names a response that is not held. */
  admit(run: Run, owner: WaitOwner): WaitingPlace | undefined {
    const settings = this.#settings;
    if (settings === undefined || run.ticket.api !== API) return undefined;
    const body = run.body!;
    const refuses = settings.unknown === "refuse";
    if (refuses && !isNothing(body.kind("conversation"))) throw conversationsById();
    const previous = body.kind("previous_response_id") === "string" ? body.span("previous_response_id") : undefined;
    const last = previous && this.#find(run, settings);
    if (previous !== undefined && last === undefined) return undefined;
    this.#begin(run, last, settings);
    if (previous === undefined || last === undefined) return undefined;
    this.continued.replayed += 1;
    return replay(run, owner, previous, last);
  }

  /** The response of a request comes. */
  tap({ ticket }: RequestRun, { status, headers, isEventStream }: TappedResponse): Tap | undefined {
    const asked = this.#asked.get(ticket);
    const open = asked?.open;
    if (asked === undefined || open === undefined || status >= 300) return undefined;
    const listener = this.#listener(asked, open);
    if ((headers.get("content-encoding") ?? "identity") !== "identity") return void listener.wasUnreadable();
    const mayGrow = (bytes: number) => this.store.grow(open, bytes);
    return isEventStream ? new StreamReader(listener, mayGrow) : new WholeReader(listener, mayGrow);
  }

  settled(outcome: Outcome): void {
    const asked = this.#asked.get(outcome);
    if (asked?.open !== undefined) this.#end(asked, asked.open);
  }

  /** What the request continued, in sentences. */
  explain(outcome: Outcome): readonly string[] {
    const last = this.#asked.get(outcome)?.last;
    if (last === undefined) return [];
    const { depth, historyBytes } = last;
    return [
      `It continues a conversation that the router holds: ${depth} earlier turns, ${historyBytes} bytes, stand before its own input.`,
    ];
  }

  close(): void {
    this.store.use(undefined);
  }

  /** What the request continues. Undefined: it goes on as it came. */
  #find({ ticket, body }: Run, settings: ConversationSettings): Turn | undefined {
    const turn = this.store.find(tenantOf(ticket), body!.text("previous_response_id")!);
    if (turn !== undefined && turn.flaw === "") return turn;
    if (settings.unknown === "forward") {
      this.continued.forwarded += 1;
      return undefined;
    }
    this.continued.unknown += 1;
    throw notFound(turn?.flaw ?? NOT_HELD);
  }

  /** Notes the request's own items: its body may be gone when the response comes. */
  #begin({ ticket, body }: Run, last: Turn | undefined, settings: ConversationSettings): void {
    const { items, textBytes } = inputItems(body!.bytes, body!.span("input"));
    const asked: Asked = { last, open: undefined, flaw: this.#flaw(items, last, settings) };
    this.#asked.set(ticket, asked);
    if (body!.kind("store") === "false") return;
    const kept = asked.flaw === "" ? Buffer.concat(items) : NO_BYTES;
    asked.open = this.store.begin(tenantOf(ticket), last, kept, last === undefined ? textBytes : 0);
    if (asked.open === undefined) this.dropped.no_room += 1;
  }

  #flaw(items: readonly Uint8Array[], last: Turn | undefined, { maxTurns, maxTurnBytes }: ConversationSettings): string {
    if ((last?.depth ?? 0) >= maxTurns) return `The conversation had reached conversations.maxTurns, ${maxTurns} turns`;
    const bytes = items.reduce((sum, { length }) => sum + length, 0);
    return bytes > maxTurnBytes ? tooLarge(maxTurnBytes) : "";
  }

  #listener(asked: Asked, open: OpenTurn): ResponseListener {
    const flawed = (id: string, reason: Dropped, flaw: string) => {
      this.dropped[reason] += 1;
      if (id !== "") this.store.keepFlaw(open, id, flaw);
      this.#end(asked, open);
    };
    return {
      answered: (response) => this.#answered(asked, open, response, flawed),
      wasTooLong: (id) => flawed(id, "too_large", "The response was longer than what the router keeps"),
      wasUnreadable: () => flawed("", "unreadable", ""),
      hasFailed: () => this.#end(asked, open),
    };
  }

  #answered(
    asked: Asked,
    open: OpenTurn,
    { id, items }: ReadResponse,
    flawed: (id: string, reason: Dropped, flaw: string) => void,
  ): void {
    const settings = this.#settings;
    if (settings === undefined || open.isOver) return;
    const { flaw, last } = asked;
    if (flaw !== "") return flawed(id, (last?.depth ?? 0) >= settings.maxTurns ? "too_many_turns" : "too_large", flaw);
    if (open.items.length + items.length > settings.maxTurnBytes) return flawed(id, "too_large", tooLarge(settings.maxTurnBytes));
    const reason = this.store.keep(open, id, items);
    if (reason !== "") this.dropped[reason] += 1;
    this.#end(asked, open);
  }

  #end(asked: Asked, open: OpenTurn): void {
    this.store.end(open);
    asked.open = undefined;
  }
}

const NO_BYTES = new Uint8Array(0);
const NOT_HELD = "No response with this id is held for this client: it has expired, was not kept, or is another client's";

function tenantOf({ principal }: Outcome): string {
  return principal?.tenant ?? "";
}

const isNothing = (kind: JsonKind) => kind === "missing" || kind === "null";

function tooLarge(mostBytes: number): string {
  return `The turn had more than conversations.maxTurnBytes, ${mostBytes} bytes of items`;
}

function notFound(why: string): RouterError {
  return new RouterError("previous_response_not_found", `${why}; send the whole conversation as "input".`);
}

function conversationsById(): RouterError {
  const message =
    'The router keeps no conversations by their own ids; leave out "conversation", and name the response before in "previous_response_id".';
  return new RouterError("invalid_value", message);
}
