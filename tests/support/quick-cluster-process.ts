/** `signalbox start`, where the times of what follows a cluster's resources pass faster: Lease, back-off, pauses between writes. */
import { commandsOf } from "../../apps/cli/commands.ts";
import { endSoon } from "../../apps/cli/end-soon.ts";
import { readInput } from "../../apps/cli/frame/command.ts";
import { HTTP, startFront } from "../../apps/cli/start/start.ts";
import { type Clock, systemClock } from "../../core/contract/clock.ts";
import { builtIns } from "../../plugins/registry.ts";

const FACTOR = 6;

const quick: Clock = {
  now: () => systemClock.now() * FACTOR,
  wall: () => systemClock.wall(),
  after: (ms, run) => systemClock.after(ms / FACTOR, run),
  every: (ms, run) => systemClock.every(ms / FACTOR, run),
};

const [name, ...words] = process.argv.slice(2);
const command = commandsOf(builtIns).find((each) => each.name === name)!;
const code = await startFront({ ...HTTP, clusterClock: quick }, readInput(words, command), builtIns);
process.exitCode = code;
endSoon(code);
