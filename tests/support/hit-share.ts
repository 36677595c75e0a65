import { seededRandom } from "../../core/contract/test-kit.ts";
import { exchange, postBytes } from "./raw-client.ts";
import { CHAT } from "./scripted-pool.ts";
import type { ScriptedReplica } from "./scripted-replica.ts";

const CONVERSATIONS = 30;
const TURNS = 5;

/** Sends turns of conversations in rounds, to the ports in turn; returns which share went where the turn before had been. */
export async function hitShare(replicas: readonly ScriptedReplica[], ports: readonly number[], seed: number): Promise<number> {
  const random = seededRandom(seed);
  const last = new Map<number, number>();
  let [count, at] = [0, 0];
  for (let turn = 0; turn < TURNS; turn++) {
    const order = Array.from({ length: CONVERSATIONS }, (_, n) => n).sort(() => random() - 0.5);
    for (const n of order) {
      const before = replicas.map(({ requests }) => requests.length);
      const content = `${seed} conversation ${n}, `.repeat(60 * (turn + 1));
      await exchange(
        ports[at++ % ports.length]!,
        postBytes(CHAT, `{"model":"m","messages":[{"role":"user","content":"${content}"}]}`),
      );
      const replica = replicas.findIndex(({ requests }, index) => requests.length > before[index]!);
      if (last.get(n) === replica) count += 1;
      last.set(n, replica);
    }
  }
  return count / (CONVERSATIONS * (TURNS - 1));
}
