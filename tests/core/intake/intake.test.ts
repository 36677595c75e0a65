import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RouterError } from "../../../core/contract/errors.ts";
import type { RequestReceiver } from "../../../core/contract/slots/decode.ts";
import { intake } from "../../../core/intake/starter.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import type { MemoryPartsOptions } from "../../support/memory-parts.ts";
import { chunkOf, jsonAnswer, STREAM_HEAD } from "../../support/scripted-replica.ts";
import { requestHead } from "../../support/wire-heads.ts";
import { assertEnd, type End, EVENT, failed, JSON_TYPE, POST, type Row, sent, served, World } from "./intake-world.ts";

const SMALL = { limits: { bodyBytes: 500 } };

/** One for each moment; tests/e2e/limits.runtimes.test.ts has all that is refused. */
const refused: readonly Row[] = [
  {
    name: "an unknown path",
    run: (world) => world.head("POST /v1/nothing"),
    end: { status: 404, ending: "complete", error: "unknown_path" },
  },
  {
    name: "a body that is declared too large",
    run: (world) => world.head(POST, [JSON_TYPE], 501),
    end: { status: 413, ending: "complete", error: "body_too_large" },
    options: SMALL,
  },
  {
    name: "a body that grows too large",
    run: (world) => world.send(JSON.stringify({ model: "base", text: "x".repeat(1_000) })),
    end: { status: 413, ending: "complete", error: "body_too_large" },
    options: SMALL,
  },
  {
    name: "no JSON",
    run: (world) => world.send("{]"),
    end: { status: 400, ending: "complete", error: "invalid_json" },
  },
  {
    name: "nobody to serve it",
    run: (world) => world.send(),
    end: { status: 503, ending: "complete", error: "no_ready_endpoint" },
    options: { endpoints: [] },
  },
  {
    name: "a plugin that fails it",
    run: (world) => world.send(),
    end: { status: 500, ending: "complete", error: "plugin_fault" },
    options: { profile: { picker: { name: "p", type: "p", plugin: { pick: () => [] } } } },
  },
];

describe("a request makes one outcome", () => {
  for (const { name, run, end, options } of [...served, ...refused, ...failed]) {
    it(`${name}: ${end.status} ${end.ending}${end.error === undefined ? "" : ` ${end.error}`}`, () => {
      const world = new World(options);
      run(world);
      assertEnd(world, end);
    });
  }

  /** How far a request has come, the attempts that it leaves, and the status that its client has seen. */
  const points: readonly (readonly [name: string, reach: (world: World) => void, attempts: readonly string[], status: number])[] =
    [
      ["before its body", (world) => world.head(), [], 0],
      [
        "in its body",
        (world) => {
          world.head();
          world.body();
        },
        [],
        0,
      ],
      ["while it connects", (world) => world.send(), ["e0 aborted"], 0],
      ["before the response's head", sent((replica) => replica.accept()), ["e0 aborted"], 0],
      ["in a stream", sent((replica) => replica.send(STREAM_HEAD + chunkOf(EVENT))), ["e0 aborted"], 200],
      ["in a response of some length", sent((replica) => replica.send(jsonAnswer("{}").slice(0, -1))), ["e0 aborted"], 200],
    ];
  for (const [name, reach, attempts, status] of points) {
    it(`the client leaves ${name}`, () => {
      const world = new World();
      reach(world);
      world.receiver?.clientGone();
      assert.equal(world.response.ending, undefined, "there is nobody to tell");
      assertEnd(world, { status, ending: "client-left", attempts });
    });

    for (const [what, tell, error, code] of [
      [
        "the host can't read on",
        (receiver) => receiver.refuse(new RouterError("request_timeout", "Too slow.")),
        "request_timeout",
        408,
      ],
      ["the host stops", (receiver) => receiver.stop(), "shutting_down", 503],
    ] as const satisfies readonly (readonly [string, (receiver: RequestReceiver) => void, string, number])[]) {
      it(`${what} ${name}`, () => {
        const world = new World();
        reach(world);
        tell(world.receiver!);
        const end: End = status === 0 ? { status: code, ending: "complete", error } : { status, ending: "broken", error };
        assertEnd(world, { ...end, attempts });
      });
    }
  }
});

describe("a probe of the router itself makes no outcome, but gives back its config", () => {
  const isStarting = { endpoints: [makeEndpoint(0, { phase: "starting" })] };
  const rows: readonly (readonly [start: string, options: MemoryPartsOptions, status: number])[] = [
    ["GET /health", {}, 200],
    ["HEAD /health", {}, 200],
    ["GET /ready", {}, 200],
    ["GET /ready", isStarting, 503],
  ];
  for (const [start, options, status] of rows) {
    it(`${start}: ${status}`, () => {
      const { parts, response, ...world } = new World(options);
      intake(parts)(requestHead([], `${start} HTTP/1.1`), 0, response, "192.0.2.1");
      assert.deepEqual([response.status, response.ending, world.receiver], [status, "end", undefined]);
      assert.deepEqual([parts.outcomes, parts.configsTaken], [[], 0]);
    });
  }
});
