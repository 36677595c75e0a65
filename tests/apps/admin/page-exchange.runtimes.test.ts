import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PageExchange } from "../../../apps/admin/page-exchange.ts";
import { turns } from "../../../apps/admin/turns.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { ResponseWriter } from "../../../core/host/response-writer.ts";
import { nextTurn } from "../../../core/runtime/next-turn.ts";

/** A page whose turn the test gives, and the statuses that it responded with. */
function asked() {
  let give = () => {};
  const mine = new Promise<void>((resolve) => {
    give = resolve;
  });
  const said: number[] = [];
  let rendered = 0;
  const response = {
    hasStarted: false,
    start: (status: number) => void said.push(status),
    write: () => true,
    end() {},
  } as unknown as ResponseWriter;
  const exchange = new PageExchange(
    response,
    () => mine,
    () => {
      rendered += 1;
      return { status: 200, lines: "", text: "x" };
    },
  );
  const turn = async () => {
    give();
    await mine;
    await Promise.resolve();
    return { said, rendered };
  };
  return { exchange, turn };
}

describe("a page", () => {
  it("is rendered when its turn comes", async () => {
    assert.deepEqual(await asked().turn(), { said: [200], rendered: 1 });
  });

  it("is not rendered for a client that has left", async () => {
    const { exchange, turn } = asked();
    exchange.clientGone();
    assert.deepEqual(await turn(), { said: [], rendered: 0 });
  });

  it("is not rendered for a request that can't be read, which is refused once", async () => {
    const { exchange, turn } = asked();
    for (let n = 0; n < 2; n++) exchange.refuse(new RouterError("bad_request", "No."));
    assert.deepEqual(await turn(), { said: [400], rendered: 0 });
  });
});

it("turns are one for each turn of the event loop, in order", async () => {
  const turn = turns();
  const seen: string[] = [];
  const between = new Promise<void>((resolve) => {
    const look = () => {
      if (seen.filter((each) => each !== "loop").length === 3) return resolve();
      seen.push("loop");
      nextTurn(look);
    };
    nextTurn(look);
  });
  await Promise.all([...["a", "b", "c"].map((name) => turn().then(() => void seen.push(name))), between]);
  assert.match(seen.join(" "), /^(loop )*a (loop )+b (loop )+c$/);
});

it("who has left takes no turn from others", async () => {
  const turn = turns();
  let rounds = 0;
  let isCounting = true;
  const count = () => {
    rounds += 1;
    if (isCounting) nextTurn(count);
  };
  for (let n = 0; n < 200; n++) void turn(() => true);
  const mine = turn();
  count();
  await mine;
  isCounting = false;
  assert.ok(rounds < 10, `${rounds} turns`);
});
