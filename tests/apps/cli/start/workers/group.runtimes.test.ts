import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import type { Outputs } from "../../../../../apps/cli/start/outputs.ts";
import { WorkerGroup } from "../../../../../apps/cli/start/workers/group.ts";
import type { FromWorker, ToWorker } from "../../../../../apps/cli/start/workers/messages.ts";
import { ReloadRounds } from "../../../../../apps/cli/start/workers/reload-rounds.ts";
import type { LoadedConfig } from "../../../../../config/load.ts";
import { NO_OVERLAY } from "../../../../../config/rewrites/overlay.ts";
import { silentLog } from "../../../../../core/contract/log.ts";
import { FakeClock } from "../../../../support/fake-clock.ts";

/** A worker's process, whose words the test says. */
class Child extends EventEmitter {
  readonly connected = true;
  readonly heard: ToWorker[] = [];

  send(message: ToWorker, done: () => void): boolean {
    this.heard.push(message);
    done();
    return true;
  }

  say(...messages: readonly FromWorker[]): void {
    for (const message of messages) this.emit("message", message);
  }

  start(): void {
    this.say({ kind: "hello" }, { kind: "started", greeting: "" });
  }

  /** The last message of this kind. */
  last<Kind extends ToWorker["kind"]>(kind: Kind): Extract<ToWorker, { kind: Kind }> | undefined {
    return this.heard.findLast((message): message is Extract<ToWorker, { kind: Kind }> => message.kind === kind);
  }
}

const textsOf = (text: string) => [{ file: "signalbox.yaml", text }];

/** Two workers that serve "old", and a reload to "new" that has begun. */
async function reloading() {
  const clock = new FakeClock();
  const children: Child[] = [];
  const forker = {
    isPortShared: true,
    fork() {
      const child = new Child();
      children.push(child);
      return child as unknown as ChildProcess;
    },
  };
  const group = new WorkerGroup({
    ...{ count: 2, clock, forker },
    outputs: { log: silentLog } as unknown as Outputs,
    begin: { port: 1, terminals: [false, false], prefixSecret: [], sources: [], urls: [] },
    state: { texts: textsOf("old"), overlay: NO_OVERLAY },
  });
  const rounds = new ReloadRounds({
    clock,
    load: async () => ({ texts: textsOf("new") }) as unknown as LoadedConfig,
    serving: () => group.serving,
    taken: ({ texts }, takers) => group.tookTexts(texts, takers),
    strayed: (worker) => group.restore(worker),
  });
  group.listener = {
    wanted: (worker) => rounds.wanted(worker),
    voted: (worker, round, refusal) => rounds.voted(worker, round, refusal),
    taken: (worker, refusal) => rounds.taken(worker, refusal),
    started() {},
    ended: (worker) => rounds.ended(worker),
    turned() {},
  };
  const started = group.start();
  for (const child of children) child.start();
  assert.equal(await started, 0);
  void rounds.reload("signal");
  const vote = async (child: Child) => {
    child.say({ kind: "want" });
    await clock.advance(0);
    child.say({ kind: "vote", round: child.last("files")!.round, refusal: "" });
  };
  return { clock, children, vote };
}

describe("the group of workers", () => {
  it("tells one that began with the old files, and was asked for no vote, that the others have taken new ones", async () => {
    const { clock, children, vote } = await reloading();
    const [first, second] = children as [Child, Child];
    second.emit("exit", null, "SIGKILL");
    await clock.advance(250);
    const next = children[2]!;
    next.start();
    assert.deepEqual(next.last("begin")?.state.texts, textsOf("old"));
    await vote(first);
    first.say({ kind: "taken", refusal: "" });
    assert.deepEqual(next.last("state")?.state.texts, textsOf("new"));
    assert.equal(first.last("state"), undefined);
  });

  it("sets one back that takes files after they were refused, since it was to take them first and was too late", async () => {
    const { clock, children, vote } = await reloading();
    const [first, second] = children as [Child, Child];
    await vote(first);
    await vote(second);
    assert.equal(first.last("verdict")?.refusal, "");
    await clock.advance(30_000);
    assert.match(second.last("verdict")!.refusal, /^worker 1 did not say in time/);
    first.say({ kind: "taken", refusal: "" });
    assert.deepEqual(first.last("state")?.state.texts, textsOf("old"));
    assert.equal(second.last("state"), undefined);
  });

  it("tells one that comes that it knows all behind what the others had to say, and waits for none that ends", async () => {
    const { children } = await reloading();
    const [first, second] = children as [Child, Child];
    first.say({ kind: "lastWords", channel: "c", message: "gone" }, { kind: "join" });
    assert.ok(first.last("joined"));
    second.say({ kind: "facts", channel: "c", message: "hello" }, { kind: "join" });
    assert.equal(second.last("joined"), undefined);
    first.say({ kind: "facts", channel: "c", message: "known" }, { kind: "mark", comer: first.last("mark")!.comer });
    assert.deepEqual(
      second.heard.slice(-2).map((message) => ("message" in message ? message.message : message.kind)),
      ["known", "joined"],
    );
    second.say({ kind: "join" });
    first.emit("exit", null, "SIGKILL");
    assert.deepEqual(
      second.heard.slice(-2).map((message) => ("message" in message ? message.message : message.kind)),
      ["joined", "gone"],
    );
  });
});
