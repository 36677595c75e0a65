import type { Usage } from "../contract/outcome.ts";
import type { ReadConnection } from "../pool/connections.ts";
import type { Content } from "../state/traffic.ts";
import type { Flaw } from "../stream/response-check.ts";
import type { Head } from "../wire/head.ts";
import type { ResponseReader, UpstreamFailure } from "../wire/response-reader.ts";

/** Reads the response of one try. It knows nothing of load, nor of what follows: it reports what comes. */
export interface TryReader extends ResponseReader {
  readonly connection: ReadConnection;
  /** Whether an error event can follow what was passed on: it is an event stream, and the client is between two events. */
  readonly takesErrorEvent: boolean;
  /** The replica has said nothing yet, or only that an answer follows. Asked before `close`. */
  readonly awaitsToken: boolean;
  /** Who is told what comes; called once, before anything is sent. */
  reportTo(owner: ReaderOwner): void;
  /** The client can take more bytes. */
  resume(): void;
  /** Ends the client's response. `isVerbatimEnd`: see ResponseWriter.end. */
  endResponse(isVerbatimEnd: boolean): void;
  /** What is wrong with a complete response; undefined if it is what its API says. Asked before `close`. */
  flaw(): Flaw | undefined;
  /** What a sound response reported; undefined if nothing. Known once it is closed. */
  readonly usage: Usage | undefined;
  /** Whether anything was generated in a response that is sound. Known once it is closed. */
  readonly content: Content;
  /** Whether an event stream has had its last event, and none has begun behind it. Asked before `close`. */
  hasEnd(): boolean;
  /** The try is over: nothing more is read. `isSound`: the response came whole, and lacks nothing. */
  close(isSound: boolean): void;
}

export interface ReaderOwner {
  /** A response's head came. Returns whether the response is read; if not, the try is over. */
  responded(head: Head): boolean;
  /**
   * The first bytes of a response with status 2xx say an error of this status, and none of it was passed on. Returns whether it is; if
   * not, the try is over.
   */
  refused(status: number): boolean;
  /** The prompt is processed: a body byte came, of a stream one behind its opening events; and it is no error's. `hasContent`: see Booking. */
  promptProcessed(nowMs: number, hasContent: boolean): void;
  /** The client takes no more bytes for now. */
  held(): void;
  /**
   * A response comes, and the replica has the whole request: the connection does not need its body any more. Returns true if the
   * body is freed; else it is asked again with the next bytes.
   */
  delivered(): boolean;
  /** The whole response was read; the owner lets the reader end it. */
  completed(isVerbatimEnd: boolean): void;
  failed(failure: UpstreamFailure, isDelivered: boolean): void;
}
