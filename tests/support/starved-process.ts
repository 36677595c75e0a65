// Does some work on its main thread when it is told to, under the eyes of the watchdog, and ends.
import { startWatchdog } from "../../core/runtime/watchdog.ts";

const WORK_MS = 100;
/** The watchdog looks each quarter of a second. */
const SEEN_MS = 800;
const watchdog = startWatchdog(5_000);

process.stdin.once("data", () => {
  const cpuMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  for (const fromMs = cpuMs(); cpuMs() - fromMs < WORK_MS; );
  setTimeout(() => void watchdog.stop().then(() => process.exit(0)), SEEN_MS);
});
setTimeout(() => console.log("ready"), SEEN_MS);
