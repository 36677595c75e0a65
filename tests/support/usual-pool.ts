import { FakeClock } from "./fake-clock.ts";
import { exchange } from "./raw-client.ts";
import { readyCount, waitUntil } from "./router.ts";
import { chatPost, STREAM, setUp } from "./scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type Script, STREAM_HEAD } from "./scripted-replica.ts";

const SECOND_MS = 1_000;
/** A whole answer, which alone teaches what is usual: it has text and an end. */
const ANSWER = `${STREAM_HEAD}${chunkOf('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n')}${chunkOf("data: [DONE]\n\n")}${LAST_CHUNK}`;
/** Each replica answers so many requests at once, and what is usual is known of it. */
const USUAL = 4;

/** A router on a clock that the test moves, over replicas whose usual speed it knows, and which follow their scripts from now on. */
export async function setUpUsual(scripts: readonly Script[], spec = "") {
  const clock = new FakeClock();
  let isUsual = true;
  const usualFirst = scripts.map(
    (script): Script =>
      (request, socket) => {
        if (isUsual) socket.write(ANSWER);
        else script(request, socket);
      },
  );
  const { router, replicas } = await setUp(usualFirst, { clock, ready: 0, spec });
  /** Lets seconds go by, and what happens on sockets in each of them happen. */
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      await clock.advance(SECOND_MS);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  for (let second = 0; second < 10 && readyCount(router.router) < scripts.length; second++) await pass(1);
  await waitUntil(() => readyCount(router.router) === scripts.length);
  while (replicas.some(({ requests }) => requests.length < USUAL)) await exchange(router.port, chatPost(STREAM));
  isUsual = false;
  const before = replicas.map(({ requests }) => requests.length);
  return {
    clock,
    router,
    replicas,
    pass,
    ejections: () => router.router.pool.facts.endpoints.filter(({ ejection }) => ejection !== undefined).length,
    /** How many requests each replica got since then. */
    received: () => replicas.map(({ requests }, index) => requests.length - before[index]!),
  };
}
