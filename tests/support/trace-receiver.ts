import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A span as it came over the wire, its attributes as plain values. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** 0 unset, 2 error. */
  readonly status: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string; readonly atNs: bigint }[];
  readonly resource: Readonly<Record<string, unknown>>;
}

/** What the receiver does with an export: takes it, or misbehaves. */
export type Manner = "ok" | "500" | "garbage" | "reset" | "hang" | "trickle" | "endless";

export interface TraceReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** What was wrong with the payloads; empty while everything is as OTLP/HTTP with JSON wants it. */
  readonly faults: readonly string[];
  readonly requests: readonly Pick<IncomingMessage, "method" | "url" | "headers">[];
  manner: Manner;
  close(): Promise<void>;
}

/** Receives OTLP over HTTP and checks every payload. It shares no code with the exporter. */
export async function startTraceReceiver(manner: Manner = "ok"): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = [];
  const faults: string[] = [];
  const requests: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const timers = new Set<ReturnType<typeof setInterval>>();
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => {});
    response.on("error", () => {});
    request.on("end", () => {
      requests.push(request);
      switch (receiver.manner) {
        case "ok": {
          const read = payloadReader(faults);
          if (request.method !== "POST" || request.headers["content-type"] !== "application/json")
            faults.push("not posted as JSON");
          spans.push(...read(Buffer.concat(chunks).toString("utf8")));
          response.writeHead(200, { "content-type": "application/json" }).end("{}");
          break;
        }
        case "500":
          response.writeHead(500).end("no\n\u001b[31mroom");
          break;
        case "garbage":
          request.socket.write("no HTTP at all\r\n\r\n");
          break;
        case "reset":
          request.socket.destroy();
          break;
        case "hang":
          break;
        case "trickle":
        case "endless": {
          const piece = receiver.manner === "trickle" ? " " : " ".repeat(65_536);
          response.writeHead(200, { "content-type": "application/json" });
          const timer = setInterval(() => response.write(piece), receiver.manner === "trickle" ? 20 : 1);
          timers.add(timer);
          response.on("close", () => clearInterval(timer));
        }
      }
    });
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: TraceReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    spans,
    faults,
    requests,
    manner,
    close: () =>
      new Promise((resolve) => {
        for (const timer of timers) clearInterval(timer);
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return receiver;
}

type Json = Readonly<Record<string, unknown>>;

/** Reads payloads; whatever is not as the protocol wants it becomes a fault. */
function payloadReader(faults: string[]): (text: string) => ReceivedSpan[] {
  const expect = (isTrue: boolean, what: string) => {
    if (!isTrue) faults.push(what);
  };
  const listOf = (value: unknown, what: string): readonly Json[] => {
    expect(Array.isArray(value), `${what} is no list`);
    return Array.isArray(value) ? (value as Json[]) : [];
  };
  const hex = (value: unknown, digits: number, what: string): string => {
    const text = String(value);
    expect(new RegExp(`^[0-9a-f]{${digits}}$`).test(text) && !/^0+$/.test(text), `${what} is ${text}`);
    return text;
  };
  const moment = (value: unknown, what: string): bigint => {
    expect(typeof value === "string" && /^[0-9]{19}$/.test(value), `${what} is ${value}`);
    return BigInt(String(value));
  };
  const attributesOf = (value: unknown): Json => {
    const found: Record<string, unknown> = {};
    for (const { key, value: holder } of listOf(value, "attributes")) {
      expect(typeof key === "string" && key !== "" && !(key in found), `attribute ${key}`);
      found[String(key)] = plain(holder as Json, faults);
    }
    return found;
  };
  const spanOf = (span: Json, resource: Json): ReceivedSpan => {
    const startNs = moment(span["startTimeUnixNano"], "start");
    const endNs = moment(span["endTimeUnixNano"], "end");
    expect(startNs <= endNs, `${span["name"]} ends before it starts`);
    expect([1, 2, 3].includes(span["kind"] as number), `kind ${span["kind"]}`);
    const events = listOf(span["events"], "events").map(({ name, timeUnixNano }) => {
      const atNs = moment(timeUnixNano, "event");
      expect(startNs <= atNs && atNs <= endNs, `the event ${name} is outside of ${span["name"]}`);
      return { name: String(name), atNs };
    });
    return {
      traceId: hex(span["traceId"], 32, "traceId"),
      spanId: hex(span["spanId"], 16, "spanId"),
      parentSpanId: span["parentSpanId"] === undefined ? "" : hex(span["parentSpanId"], 16, "parentSpanId"),
      traceState: String(span["traceState"] ?? ""),
      name: String(span["name"]),
      kind: span["kind"] as number,
      startNs,
      endNs,
      status: ((span["status"] as Json)["code"] as number) ?? 0,
      attributes: attributesOf(span["attributes"]),
      events,
      resource,
    };
  };
  return (text) => {
    try {
      return listOf((JSON.parse(text) as Json)["resourceSpans"], "resourceSpans").flatMap(({ resource, scopeSpans }) => {
        const known = attributesOf((resource as Json)["attributes"]);
        return listOf(scopeSpans, "scopeSpans").flatMap(({ scope, spans }) => {
          expect((scope as Json)["name"] === "signalbox", "another scope");
          return listOf(spans, "spans").map((span) => spanOf(span, known));
        });
      });
    } catch (thrown) {
      faults.push(String(thrown));
      return [];
    }
  };
}

function plain(holder: Json, faults: string[]): unknown {
  const [[kind, value] = ["", undefined], ...others] = Object.entries(holder);
  if (others.length > 0) faults.push("a value of two kinds");
  switch (kind) {
    case "stringValue":
    case "boolValue":
    case "doubleValue":
      return value;
    case "intValue":
      return Number(value);
    case "arrayValue":
      return (value as { values: Json[] }).values.map((each) => plain(each, faults));
    default:
      faults.push(`a value of kind ${kind}`);
      return undefined;
  }
}
