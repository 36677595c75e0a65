import type { Random, Source } from "../plugin.ts";
import { groupSources, SourceFacts } from "../readiness/source-facts.ts";
import type { LoadTable } from "../state/load.ts";
import type { EventQueue } from "./events.ts";
import type { Replica } from "./replica.ts";

/** The page that simulated replicas have; what other pages say does not change during a simulation. */
const METRICS_PATH = "/metrics";

/** Has the config's sources read every replica's metrics page, as often as they ask for and not all at once. */
export function scrape(
  sources: readonly Source[],
  replicas: readonly Replica[],
  load: LoadTable,
  queue: EventQueue,
  random: Random,
): void {
  const group = groupSources(sources, { path: "", periodMs: 0 }).find(({ path }) => path === METRICS_PATH);
  if (group === undefined) return;
  replicas.forEach((replica, slot) => {
    const facts = new SourceFacts(load, slot);
    const read = () => void facts.read(group, metricsPage(replica), queue.now());
    read();
    queue.after(random() * group.periodMs, () => {
      read();
      queue.every(group.periodMs, read);
    });
  });
}

/** The lines of vLLM's page that tell how busy it is. */
function metricsPage({ size, untouched, cache }: Replica): string {
  return `vllm:num_requests_running ${size - untouched}\nvllm:num_requests_waiting ${untouched}\nvllm:kv_cache_usage_perc ${cache.usage}\n`;
}
