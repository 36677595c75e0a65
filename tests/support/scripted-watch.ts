import { after } from "node:test";
import { Watch, type WatchOptions } from "../../apps/kubernetes/watch.ts";
import { collectedLog } from "./collected-log.ts";
import { FakeClock, settle } from "./fake-clock.ts";
import { scriptedKubernetes } from "./scripted-kubernetes.ts";

type Options = Partial<Pick<WatchOptions<string>, "path" | "isOptional" | "random">>;

/** A watch of a scripted server, on a clock that the test moves. What was told is in `told`: names in their order. */
export function scriptedWatch(options: Options = {}) {
  const server = scriptedKubernetes();
  const clock = new FakeClock();
  const log = collectedLog();
  const told: string[][] = [];
  const watch = new Watch<string>({
    client: server.client,
    path: "/api/v1/pods",
    query: { labelSelector: "app=vllm" },
    pick: ({ metadata: { name } }) => (name.startsWith("other") ? undefined : name),
    changed: (items) => told.push([...items.keys()]),
    clock,
    random: () => 1,
    log,
    ...options,
  });
  after(() => watch.stop());
  const started = async (...answers: (object | Error)[]) => {
    server.answers.push(...answers);
    watch.start();
    await settle();
    return server.watches[0]!;
  };
  return { ...server, clock, log, told, watch, started };
}
