import type { Random } from "../contract/profile-plugin.ts";
import { groupSources, SourceFacts, type SourceGroup } from "../control/readiness/source-facts.ts";
import type { EventQueue } from "./events.ts";
import type { Replica } from "./replica.ts";
import type { RouterSide } from "./router-side.ts";
import type { Upstream } from "./upstream.ts";

/**
 * Lets the config's sources read every replica's metrics text: at the start, as the router does for a new replica, then at the
 * sources' own periods. Each replica starts its period at a random time.
 */
export function scrape(router: RouterSide, upstreams: readonly Upstream[], queue: EventQueue, random: Random): void {
  const { sources, pool } = router;
  const { load, prefixIndex } = pool;
  const groups = groupSources(sources, { path: "", periodMs: 0 });
  upstreams.forEach((upstream, slot) => {
    const facts = new SourceFacts(load, slot, (tokens) => prefixIndex?.setCapacity(slot, tokens));
    const read = (group: SourceGroup) => facts.read(group, metricsPage(upstream.replica), queue.now());
    const ask = (group: SourceGroup) => {
      if (!upstream.isDown) return void read(group);
      facts.awaited(group, queue.now());
      facts.age(queue.now());
    };
    // Other sources, such as the model list, read nothing that changes in a simulation.
    for (const group of groups.filter((each) => read(each) === "")) {
      queue.after(random() * group.periodMs, () => void queue.every(group.periodMs, () => ask(group)));
    }
  });
}

/** vLLM's metrics for its load and for the size of its cache. */
function metricsPage({ running, untouched, cache }: Replica): string {
  return [
    `vllm:num_requests_running ${running}`,
    `vllm:num_requests_waiting ${untouched}`,
    `vllm:kv_cache_usage_perc ${cache.usage}`,
    `vllm:cache_config_info{kv_cache_size_tokens="${cache.tokens}"} 1`,
    "",
  ].join("\n");
}
