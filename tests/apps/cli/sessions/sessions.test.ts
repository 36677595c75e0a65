import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type SessionRow, sessionsText } from "../../../../apps/cli/sessions/sessions.ts";

const ROW: SessionRow = {
  name: "s1",
  tenant: "",
  model: "m",
  source: "session-id",
  turns: 3,
  underWay: 0,
  endpoint: "gpu-1",
  tokens: 12_345,
  idleMs: 8_400,
};

describe("signalbox sessions", () => {
  it("shows who is on which replica, how large, and idle since", () => {
    const text = sessionsText({
      known: 5,
      underWay: 1,
      byEndpoint: [{ endpoint: "gpu-1", sessions: 2, tokens: 20_000 }],
      latest: [
        ROW,
        { ...ROW, name: "s\u001b2", tenant: "a", underWay: 1, endpoint: "", tokens: null, source: "prompt" },
        { ...ROW, name: "s3", underWay: 2 },
        { ...ROW, name: "s4", idleMs: 150_000 },
      ],
    });
    assert.deepEqual(text.split("\n"), [
      "5 sessions, 1 with a turn under way",
      "  gpu-1: 2, 20,000 tokens",
      "",
      "SESSION  TENANT  MODEL  REPLICA  TURNS  TOKENS         IDLE  KNOWN BY",
      "s1       -       m      gpu-1        3  12,345          8 s  session-id",
      "s?2      a       m      -            3       -    under way  prompt",
      "s3       -       m      gpu-1        3  12,345  2 under way  session-id",
      "s4       -       m      gpu-1        3  12,345        2 min  session-id",
      "… and 1 more, whose last turns were before these",
    ]);
  });

  it("says so when there is none", () => {
    assert.equal(sessionsText({ known: 0, underWay: 0, byEndpoint: [], latest: [] }), "No session is known.");
  });
});
