import type { JsonKind } from "../../../core/contract/body-view.ts";
import type { Clock } from "../../../core/contract/clock.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import type { WaitingPlace, WaitOwner } from "../../../core/contract/slots/admit.ts";
import type { RequestRun } from "../../../core/contract/slots/request-run.ts";
import type { Tap, TappedResponse } from "../../../core/contract/slots/tap.ts";
import type { Run } from "../../../core/run.ts";
import type { ConversationSettings } from "./conversations-config.ts";
import { readInput } from "./input-scan.ts";
import type { FoundItems } from "./item-reader.ts";
import { replay } from "./replay.ts";
import { type OwnInput, ownInput } from "./replayed-body.ts";
import { type ReadResponse, type ResponseListener, StreamReader, WholeReader } from "./response-reader.ts";
import type { Turn } from "./turn.ts";
import { type ItemList, type OpenTurn, TurnStore } from "./turn-store.ts";

/** The type of the parser whose requests these are. */
const API = "responses";

/** Why a turn was not kept. */
export type Dropped = "too_large" | "too_many_turns" | "no_room" | "doubled" | "unreadable";

/** Why a turn can't be kept: what is counted, and what the client is told that continues it. */
interface Flaw {
  readonly reason: Dropped;
  readonly text: string;
}

/** A request of the API. Observers remember requests, so it leads to no turn once it has ended. */
interface Asked {
  /** What stands before its own input: turns, and bytes of their items. */
  readonly turns: number;
  readonly bytes: number;
  /** Undefined: its turn is not kept. */
  open: OpenTurn | undefined;
  /** What is wrong with the turn already. */
  readonly flaw: Flaw | undefined;
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

  /** Gives the request its history, and the items that it refers to. Throws RouterError where it names what is not held. */
  admit(run: Run, owner: WaitOwner): WaitingPlace | undefined {
    const settings = this.#settings;
    if (settings === undefined || !continues(run)) return undefined;
    if (settings.unknown === "refuse" && !isNothing(run.body!.kind("conversation"))) throw conversationsById();
    return readInput(run, owner, (found) => this.#goOn(run, owner, settings, found));
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
    const { turns = 0, bytes = 0 } = this.#asked.get(outcome) ?? {};
    if (turns === 0) return [];
    return [
      `It continues a conversation that the router holds: ${turns} earlier turns, ${bytes} bytes, stand before its own input.`,
    ];
  }

  close(): void {
    this.store.use(undefined);
  }

  #goOn(run: Run, owner: WaitOwner, settings: ConversationSettings, found: FoundItems): WaitingPlace | undefined {
    const body = run.body!;
    const previous = body.kind("previous_response_id") === "string" ? body.span("previous_response_id") : undefined;
    const last = previous && this.#find(run, settings);
    const replacing = previous !== undefined && last === undefined ? undefined : this.#replacing(run, settings, found);
    if (replacing === undefined) return undefined;
    const own = ownInput(body.bytes, body.span("input"), found, replacing);
    this.#begin(run, last, settings, own);
    if (last === undefined && replacing.length === 0) return undefined;
    if (last !== undefined) this.continued.replayed += 1;
    return replay(run, owner, { previous, last, own });
  }

  /** The items in place of the references. Undefined: the request goes on as it came. */
  #replacing({ ticket }: Run, settings: ConversationSettings, { references }: FoundItems): readonly Uint8Array[] | undefined {
    const items: Uint8Array[] = [];
    for (const { id } of references) {
      const item = this.store.useItem(tenantOf(ticket), id);
      if (item === undefined) return this.#unknown(settings, itemNotFound);
      items.push(item);
    }
    return items;
  }

  /** What the request continues. Undefined: it goes on as it came. */
  #find({ ticket, body }: Run, settings: ConversationSettings): Turn | undefined {
    const turn = this.store.find(tenantOf(ticket), body!.text("previous_response_id")!);
    if (turn !== undefined && turn.flaw === "") return turn;
    return this.#unknown(settings, () => notFound(turn?.flaw ?? NOT_HELD));
  }

  #unknown({ unknown }: ConversationSettings, error: () => RouterError): undefined {
    this.continued[unknown === "forward" ? "forwarded" : "unknown"] += 1;
    if (unknown === "refuse") throw error();
  }

  /** Notes the request's own items: its body may be gone when the response comes. */
  #begin({ ticket, body }: Run, last: Turn | undefined, settings: ConversationSettings, own: OwnInput): void {
    const { items, ids, textBytes } = own;
    const { depth: turns = 0, historyBytes: bytes = 0 } = last ?? {};
    const isKept = ticket.api === API && body!.kind("store") !== "false";
    const flaw = isKept ? flawOf(items, turns, settings) : undefined;
    const asked: Asked = { turns, bytes, open: undefined, flaw };
    this.#asked.set(ticket, asked);
    const kept = isKept && flaw === undefined ? { items: Buffer.concat(items), ids } : NO_LIST;
    const open = this.store.begin(tenantOf(ticket), last, kept, last === undefined ? textBytes : 0);
    if (isKept) asked.open = open;
    // It has used the turns before it all the same.
    else if (open !== undefined) this.store.end(open);
    if (isKept && open === undefined) this.dropped.no_room += 1;
  }

  #listener(asked: Asked, open: OpenTurn): ResponseListener {
    return {
      answered: (response) => this.#answered(asked, open, response),
      wasTooLong: (id) => this.#drop(asked, open, id, { reason: "too_large", text: TOO_LONG }),
      wasUnreadable: () => this.#drop(asked, open, "", { reason: "unreadable", text: "" }),
      hasFailed: () => this.#end(asked, open),
    };
  }

  #answered(asked: Asked, open: OpenTurn, { id, output }: ReadResponse): void {
    const { maxTurnBytes = 0 } = this.#settings ?? {};
    const flaw = asked.flaw ?? (open.own.items.length + output.items.length > maxTurnBytes ? tooLarge(maxTurnBytes) : undefined);
    if (flaw !== undefined) return this.#drop(asked, open, id, flaw);
    const reason = this.store.keep(open, id, output);
    if (reason !== "") this.dropped[reason] += 1;
    this.#end(asked, open);
  }

  /** The id is "" if it is not known. */
  #drop(asked: Asked, open: OpenTurn, id: string, { reason, text }: Flaw): void {
    this.dropped[reason] += 1;
    if (id !== "") this.store.keepFlaw(open, id, text);
    this.#end(asked, open);
  }

  #end(asked: Asked, open: OpenTurn): void {
    this.store.end(open);
    asked.open = undefined;
  }
}

const NO_LIST: ItemList = { items: new Uint8Array(0), ids: new Map() };
const TOO_LONG = "The response was longer than what the router keeps";
const NOT_HELD = "No response with this id is held for this client: it has expired, was not kept, or is another client's";

function tenantOf({ principal }: Outcome): string {
  return principal?.tenant ?? "";
}

/** Paths beside the API's own whose requests may continue a response, and make none: they count its tokens, or write it in another way. */
const BESIDE = "/v1/responses/";

function continues({ ticket, parsed }: Run): boolean {
  return ticket.api === API || (ticket.path.startsWith(BESIDE) && parsed!.isLookup !== true);
}

const isNothing = (kind: JsonKind) => kind === "missing" || kind === "null";

function flawOf(items: readonly Uint8Array[], turns: number, { maxTurns, maxTurnBytes }: ConversationSettings): Flaw | undefined {
  if (turns >= maxTurns)
    return { reason: "too_many_turns", text: `The conversation had reached conversations.maxTurns, ${maxTurns} turns` };
  const bytes = items.reduce((sum, { length }) => sum + length, 0);
  return bytes > maxTurnBytes ? tooLarge(maxTurnBytes) : undefined;
}

function tooLarge(mostBytes: number): Flaw {
  return { reason: "too_large", text: `The turn had more than conversations.maxTurnBytes, ${mostBytes} bytes of items` };
}

function notFound(why: string): RouterError {
  return new RouterError("previous_response_not_found", `${why}; send the whole conversation as "input".`);
}

function itemNotFound(): RouterError {
  const message =
    'No item with the id of an "item_reference" is held for this client: it has expired, was not kept, or is another client\'s; send the item itself.';
  return new RouterError("stored_not_found", message);
}

function conversationsById(): RouterError {
  const message =
    'The router keeps no conversations by their own ids; leave out "conversation", and name the response before in "previous_response_id".';
  return new RouterError("invalid_value", message);
}
