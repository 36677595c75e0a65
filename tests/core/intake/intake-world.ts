import assert from "node:assert/strict";
import { RouterError } from "../../../core/contract/errors.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import type { RequestReceiver } from "../../../core/contract/slots/decode.ts";
import { intake } from "../../../core/intake/starter.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import { MemoryParts, type MemoryPartsOptions } from "../../support/memory-parts.ts";
import type { MemoryUpstream } from "../../support/memory-upstream.ts";
import { RecordedResponse } from "../../support/recorded-response.ts";
import { outstanding } from "../../support/router.ts";
import { chunkOf, jsonAnswer, STREAM_HEAD } from "../../support/scripted-replica.ts";
import { requestHead } from "../../support/wire-heads.ts";

export const POST = "POST /v1/chat/completions";

export const JSON_TYPE = "Content-Type: application/json";

export const BODY = '{"model":"base","messages":[{"role":"user","content":"hello"}]}';

export const EVENT = 'data: {"choices":[{"finish_reason":"stop"}]}\n\n';

/** One request over one replica in memory. */
export class World {
  readonly parts: MemoryParts;
  readonly response = new RecordedResponse();
  receiver: RequestReceiver | undefined;

  constructor(options: MemoryPartsOptions = {}) {
    this.parts = new MemoryParts(options);
  }

  get replica(): MemoryUpstream {
    return this.parts.upstreamOf(makeEndpoint(0));
  }

  head(start = POST, lines: readonly string[] = [JSON_TYPE], bodyLength = -1): void {
    const head = requestHead(lines, `${start} HTTP/1.1`);
    this.receiver = intake(this.parts)(head, bodyLength, this.response, "192.0.2.1");
  }

  /** Whole, in two pieces, but for its end. */
  body(text = BODY): void {
    const bytes = Buffer.from(text);
    const half = bytes.length >> 1;
    this.receiver?.body(bytes, 0, half);
    this.receiver?.body(bytes, half, bytes.length);
  }

  /** The whole request. */
  send(text = BODY): void {
    this.head();
    this.body(text);
    this.receiver?.bodyEnd();
  }

  /** The one outcome there must be. Whatever the host still reports changes nothing. */
  outcome(): Outcome {
    const { parts, response, receiver } = this;
    const { body, lastWords, ending } = response;
    receiver?.body(Buffer.from("late"), 0, 4);
    receiver?.bodyEnd();
    receiver?.drained();
    receiver?.refuse(new RouterError("request_timeout", "Too late."));
    receiver?.clientGone();
    receiver?.stop();
    assert.equal(parts.outcomes.length, 1);
    assert.deepEqual([response.body, response.lastWords, response.ending], [body, lastWords, ending]);
    assert.deepEqual(outstanding(parts), { inFlight: 0, prefillTokens: 0 });
    assert.equal(parts.configsTaken, 0, "its config is given back, once");
    return parts.outcomes[0]!;
  }
}

/** How it ended, in short. */
export interface End {
  readonly status: number;
  readonly ending: Outcome["ending"];
  readonly error?: string;
  readonly attempts?: readonly string[];
}

export function assertEnd(world: World, { status, ending, error, attempts = [] }: End): void {
  const outcome = world.outcome();
  assert.deepEqual(
    {
      status: outcome.status,
      ending: outcome.ending,
      error: outcome.error?.code,
      attempts: outcome.attempts.map((each) => `${each.endpoint} ${each.result}`),
    },
    { status, ending, error, attempts },
  );
  if (ending === "client-left") return;
  assert.equal(world.response.status, status, "what the client got");
  assert.equal(world.response.ending, ending === "broken" ? "abort" : "end");
  if (error === undefined) return;
  const { lines, body, lastWords } = world.response;
  if (ending === "complete") assert.match(body, new RegExp(`"code":"${error}"`));
  else if (/event-stream/.test(lines)) assert.match(lastWords, new RegExp(`"code":"${error}"`));
  else assert.equal(lastWords, "", "no words of ours in the replica's own body");
}

export interface Row {
  readonly name: string;
  readonly run: (world: World) => void;
  readonly end: End;
  readonly options?: MemoryPartsOptions;
}

/** The whole request is sent, and the replica does this. */
export const sent = (then: (replica: MemoryUpstream) => void) => (world: World) => {
  world.send();
  then(world.replica);
};

export const served: readonly Row[] = [
  {
    name: "served",
    run: sent((replica) => replica.send(jsonAnswer('{"choices":[{"index":0}]}'))),
    end: { status: 200, ending: "complete", attempts: ["e0 200"] },
  },
  {
    name: "answered with an error of the replica's own",
    run: sent((replica) => replica.send(jsonAnswer("{}", "500 Oh"))),
    end: { status: 500, ending: "complete", attempts: ["e0 500"] },
  },
  {
    name: "GET /v1/models",
    run: (world) => world.head("GET /v1/models", [], 0),
    end: { status: 200, ending: "complete" },
  },
];

export const failed: readonly Row[] = [
  {
    name: "nobody listens",
    run: sent((replica) => replica.refuse()),
    end: { status: 502, ending: "complete", error: "upstream_unreachable", attempts: ["e0 connect-failed"] },
  },
  {
    name: "the replica closes before its response",
    run: sent((replica) => replica.accept().receiveEnd()),
    end: { status: 502, ending: "complete", error: "upstream_reset", attempts: ["e0 reset"] },
  },
  {
    name: "the replica's response is no HTTP",
    run: sent((replica) => replica.send("HELLO\r\n\r\n")),
    end: { status: 502, ending: "complete", error: "upstream_invalid", attempts: ["e0 invalid"] },
  },
  {
    name: "a stream breaks off",
    run: sent((replica) => {
      replica.send(STREAM_HEAD + chunkOf(EVENT));
      replica.socket.receiveEnd();
    }),
    end: { status: 200, ending: "broken", error: "upstream_reset", attempts: ["e0 reset"] },
  },
];
