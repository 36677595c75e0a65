import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { acceptFor } from "../../../core/wire/websocket/accept.ts";
import { CLOSE } from "../../../core/wire/websocket/close-codes.ts";
import { closeFrame, pongFrame, textFrame } from "../../../core/wire/websocket/frames.ts";
import { IncomingMessages, type MessagesOwner } from "../../../core/wire/websocket/incoming-messages.ts";
import { randomHex } from "./exchange.ts";
import { isObject, type JsonObject, optionalString, parseBody } from "./fields.ts";
import { checkPrompts } from "./generation.ts";
import { badRequest, Problem, problemBody } from "./problem.ts";
import type { ReplicaState } from "./state.ts";
import { hashNumbers, hashText, joined, madeUpTokens, tokenize } from "./tokens.ts";

const PATH = "/v1/realtime";
const MOST_MESSAGE_BYTES = 1024 * 1024;
/** Of all texts of a session. */
const MOST_TEXT = 4 * 1024 * 1024;

/** Serves a client that asks for a WebSocket; at other paths it gets 404, and where the key is wrong 403, as from vLLM. */
export function serveUpgrade(state: ReplicaState, request: IncomingMessage, socket: Duplex, ahead: Buffer): void {
  const url = new URL(request.url ?? "/", "http://mock");
  const key = request.headers["sec-websocket-key"];
  socket.on("error", () => {});
  if (url.pathname !== PATH || key === undefined || state.settings.isEmbedding) return refuse(socket, "404 Not Found");
  if (state.settings.apiKey !== "" && request.headers.authorization !== `Bearer ${state.settings.apiKey}`)
    return refuse(socket, "403 Forbidden");
  if (!state.isLoaded) return refuse(socket, "503 Service Unavailable");
  const session = new RealtimeSession(state, socket);
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptFor(key)}\r\n\r\n`,
  );
  socket.on("data", (chunk: Buffer) => session.read(chunk));
  socket.on("end", () => socket.destroy());
  socket.on("close", () => session.end());
  session.begin(url.searchParams.get("model") ?? undefined);
  if (ahead.length > 0) session.read(ahead);
}

function refuse(socket: Duplex, status: string): void {
  const body = JSON.stringify({ detail: status.slice(4) });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
}

/** A session of texts: what its items say is the prompt, and each response is a made-up reply that takes as long as any other. */
class RealtimeSession implements MessagesOwner {
  readonly #state: ReplicaState;
  readonly #socket: Duplex;
  readonly #id = `sess_${randomHex(16)}`;
  readonly #messages = new IncomingMessages(this, { isClient: true, mostControlFrames: 64 });
  #chunks: Buffer[] = [];
  #bytes = 0;
  #model = "";
  #texts = "";
  /** Takes back what the engine computes now; undefined between two responses. */
  #cancel: (() => void) | undefined;
  #isOver = false;

  constructor(state: ReplicaState, socket: Duplex) {
    this.#state = state;
    this.#socket = socket;
  }

  begin(model: string | undefined): void {
    this.#attempt(() => {
      this.#model = this.#state.adapters.resolve(model);
      this.#send({ type: "session.created", id: this.#id, created: this.#nowS, session: this.#session() });
    });
  }

  read(chunk: Buffer): void {
    this.#messages.read(chunk, 0, chunk.length);
  }

  end(): void {
    this.#isOver = true;
    this.#cancel?.();
  }

  // Reports from the frames.

  begins(): boolean {
    return true;
  }

  text(chunk: Uint8Array, start: number, end: number): void {
    this.#bytes += end - start;
    if (this.#bytes > MOST_MESSAGE_BYTES) return this.broken(CLOSE.tooBig, "The message is too long.");
    this.#chunks.push(Buffer.from(chunk.subarray(start, end)));
  }

  complete(): void {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#bytes = 0;
    if (this.#isOver) return;
    this.#messages.next();
    this.#attempt(() => this.#take(parseBody(bytes)));
  }

  pinged(payload: Uint8Array): void {
    this.#socket.write(pongFrame(payload));
  }

  left(): void {
    this.broken(CLOSE.normal, "");
  }

  broken(code: number, reason: string): void {
    if (this.#isOver) return;
    this.end();
    this.#socket.end(closeFrame(code, reason));
  }

  #take(event: JsonObject): void {
    switch (event["type"]) {
      case "session.update":
        return this.#update(event);
      case "conversation.item.create":
        return this.#addItem(event["item"]);
      case "response.create":
        return this.#respond(isObject(event["response"]) ? event["response"] : {});
      default:
        throw badRequest("The mock knows session.update, conversation.item.create and response.create.", "type");
    }
  }

  #update(event: JsonObject): void {
    const session = isObject(event["session"]) ? event["session"] : {};
    const model = optionalString(event, "model") ?? optionalString(session, "model");
    if (model !== undefined) this.#model = this.#state.adapters.resolve(model);
    this.#send({ type: "session.updated", session: this.#session() });
  }

  #addItem(item: unknown): void {
    const content = isObject(item) && Array.isArray(item["content"]) ? (item["content"] as readonly unknown[]) : [];
    const texts = content.flatMap((part) => (isObject(part) && typeof part["text"] === "string" ? [part["text"]] : []));
    this.#texts += texts.join("");
    if (this.#texts.length > MOST_TEXT) throw badRequest("The session is too long.");
    this.#send({ type: "conversation.item.created", item });
  }

  #respond(asked: JsonObject): void {
    if (this.#cancel !== undefined) throw badRequest("The session has a response under way already.");
    const { settings, engine, metrics } = this.#state;
    const prompt = tokenize(`${optionalString(asked, "instructions") ?? ""}${this.#texts}`);
    checkPrompts([prompt], settings.maxModelTokens);
    const tokens = madeUpTokens(hashNumbers(prompt, hashText(this.#model, 0x811c9dc5)), settings.replyTokens);
    const place = { response_id: `resp_${randomHex(16)}`, item_id: `item_${randomHex(16)}`, output_index: 0, content_index: 0 };
    const response = (status: string) => ({ id: place.response_id, object: "realtime.response", status });
    const usage = { input_tokens: prompt.length, output_tokens: tokens.length, total_tokens: prompt.length + tokens.length };
    let sent = 0;
    this.#send({ type: "response.created", response: response("in_progress") });
    this.#cancel = engine.submit({
      prompt,
      replyTokens: tokens.length,
      cacheKey: `${this.#model}\n`,
      adapter: this.#model === settings.model ? "" : this.#model,
      token: () => this.#send({ type: "response.output_text.delta", ...place, delta: tokens[sent++]?.text ?? "" }),
      finished: () => {
        metrics.finished.stop += 1;
        this.#cancel = undefined;
        this.#texts += joined(tokens);
        this.#send({ type: "response.output_text.done", ...place, text: joined(tokens) });
        this.#send({ type: "response.done", response: { ...response("completed"), usage } });
      },
    });
  }

  /** Runs it; a Problem becomes an event, after which the session goes on. */
  #attempt(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#send({ type: "error", ...(problemBody(error, false) as object) });
    }
  }

  #session() {
    return { id: this.#id, object: "realtime.session", model: this.#model, output_modalities: ["text"] };
  }

  get #nowS(): number {
    return Math.floor(this.#state.settings.clock.wall() / 1000);
  }

  #send(event: { readonly type: string; readonly [field: string]: unknown }): void {
    if (this.#isOver) return;
    this.#socket.write(textFrame(JSON.stringify({ event_id: `event_${randomHex(16)}`, ...event })));
  }
}
