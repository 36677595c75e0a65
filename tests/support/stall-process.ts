/**
 * Both ends of stalled streams, in a process of their own so that their memory is not counted: a replica that floods, and
 * clients that read nothing. Prints the replica's port; for each line "PORT COUNT" that it gets, it stalls so many more streams
 * through the router on that port and prints how many bytes the replica has sent on all of them.
 */
import { createInterface } from "node:readline";
import { type Flood, flood, stalledClient, standstill } from "./flood.ts";
import { startScriptedReplica } from "./scripted-replica.ts";

const floods: Flood[] = [];
const replica = await startScriptedReplica(flood(floods, 20_000));
process.stdout.write(`${replica.port}\n`);

let stalled = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const [port = 0, count = 0] = line.split(" ").map(Number);
  await Promise.all(Array.from({ length: count }, () => stalledClient(port)));
  stalled += count;
  while (floods.length < stalled) await new Promise((resolve) => setTimeout(resolve, 10));
  process.stdout.write(`${await standstill(floods)}\n`);
}
