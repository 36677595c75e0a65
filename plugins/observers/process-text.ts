import type { MetricFamily } from "../../core/contract/metric-family.ts";
import type { RouterView } from "../../core/contract/router-view.ts";
import { familyText } from "./buckets.ts";
import { single } from "./exposition.ts";

type Process = RouterView["process"];
type Type = "counter" | "gauge";
type Row<Of> = readonly [name: string, type: Type, help: string, read: (of: Of) => number];

const LOG_HELP = "Lines of the access log and the operator's log that were dropped because nobody read them in time.";
const PAUSE_HELP =
  "Times in which no more client connections were taken, because too many were open or file descriptors had run out.";
const START_HELP = "When the router started, in seconds since 1970.";
const REFUSED_HELP = "0 while the last attempt to change the config was refused, so that the one before runs.";
const SUCCESS_HELP = "When the last attempt succeeded, in seconds since 1970; the start counts as one.";
const GENERATION_HELP = "1 at the start, and one more with each config that took effect since.";
const RELOADS_HELP = "Attempts to change the config, by how they ended; unchanged: nothing in it was different.";
const MEMORY_HELP = "Bodies refused, and slow ones cut, because the memory was used up.";
const FAULTS_HELP = "Times in which a plugin broke its contract on a request.";
const TIMED_HELP = "Requests in which the plugin was timed: about one of 64, and ten a second where there are few.";
const TOOK_HELP = "What the plugin took in the requests that were timed, added up.";

const ROUTER: readonly Row<RouterView>[] = [
  ["log_dropped_total", "counter", LOG_HELP, ({ process }) => process.droppedLogLines],
  ["accept_pauses_total", "counter", PAUSE_HELP, ({ process }) => process.acceptPauses],
  ["start_time_seconds", "gauge", START_HELP, ({ process }) => process.startedAtS],
  ["config_generation", "gauge", GENERATION_HELP, ({ config }) => config.generation],
  ["config_last_reload_successful", "gauge", REFUSED_HELP, ({ config }) => (config.isLastReloadApplied ? 1 : 0)],
  ["config_last_reload_success_time_seconds", "gauge", SUCCESS_HELP, ({ config }) => config.confirmedAtS],
];

const MEMORY: readonly Row<Process["memory"]>[] = [
  ["body_bytes", "gauge", "Memory of the request bodies under way.", ({ bodyBytes }) => bodyBytes],
  ["unread_bytes", "gauge", "Bytes of responses that wait for their clients.", ({ unreadBytes }) => unreadBytes],
  ["memory_limit_bytes", "gauge", "What both may be together.", ({ limitBytes }) => limitBytes],
  ["memory_refusals_total", "counter", MEMORY_HELP, ({ refusals }) => refusals],
];

const PLUGINS: readonly Row<RouterView["plugins"]["times"][number]>[] = [
  ["plugin_timed_requests_total", "counter", TIMED_HELP, ({ timedRequests }) => timedRequests],
  ["plugin_timed_seconds_total", "counter", TOOK_HELP, ({ timedMs }) => timedMs / 1000],
  ["plugin_slow", "gauge", "1 while the plugin takes more time per request than it may.", ({ isSlow }) => (isSlow ? 1 : 0)],
  ["plugin_without_vote", "gauge", "1 while a slow scorer is not asked.", ({ hasNoVote }) => (hasNoVote ? 1 : 0)],
];

const CPU_HELP = "CPU time that the process has used, in user and system mode.";
const HEAP_HELP = "Memory of the JavaScript heap in use, as the runtime counts it.";

/** Under their whole names, since other programs have some of them too. */
const USAGE: readonly Row<ReturnType<Process["usage"]>>[] = [
  ["process_cpu_seconds_total", "counter", CPU_HELP, ({ cpuSeconds }) => cpuSeconds],
  ["process_resident_memory_bytes", "gauge", "Resident memory of the process.", ({ residentBytes }) => residentBytes],
  ["signalbox_heap_used_bytes", "gauge", HEAP_HELP, ({ heapUsedBytes }) => heapUsedBytes],
  ["signalbox_heap_bytes", "gauge", "Memory of the JavaScript heap, as the runtime counts it.", ({ heapBytes }) => heapBytes],
  ["process_open_fds", "gauge", "Open file descriptors of the process.", ({ openFiles }) => openFiles],
  ["process_max_fds", "gauge", "Most file descriptors that the process may open.", ({ maxOpenFiles }) => maxOpenFiles],
];

/** The router's process, its memory, its config and its plugins. */
export function processText(view: RouterView): string {
  const { process, config, plugins } = view;
  const usage = process.usage();
  const reloads = Object.entries(config.reloads).map(([result, value]) => ({ values: [result], value }));
  // Those without a fault too, so that the first one is an increase.
  const faulty = [...new Set([...plugins.times.map(({ name }) => name), ...plugins.faults.keys()])];
  const faults = faulty.map((name) => ({ values: [name], value: plugins.faults.get(name) ?? 0 }));
  const families: readonly MetricFamily[] = [
    ...ROUTER.map((row) => one(row, view)),
    { name: "config_reloads_total", type: "counter", help: RELOADS_HELP, labels: ["result"], samples: reloads },
    ...MEMORY.map((row) => one(row, process.memory)),
    { name: "plugin_faults_total", type: "counter", help: FAULTS_HELP, labels: ["plugin"], samples: faults },
    ...PLUGINS.map(([name, type, help, read]) => {
      const samples = plugins.times.map((time) => ({ values: [time.kind, time.name], value: read(time) }));
      return { name, type, help, labels: ["kind", "plugin"], samples };
    }),
  ];
  // What can't be known on this system is left out.
  const known = USAGE.filter(([, , , read]) => !Number.isNaN(read(usage)));
  return (
    families.map(familyText).join("") + known.map(([name, type, help, read]) => single(name, type, help, read(usage))).join("")
  );
}

function one<Of>([name, type, help, read]: Row<Of>, of: Of): MetricFamily {
  return { name, type, help, labels: [], samples: [{ values: [], value: read(of) }] };
}
