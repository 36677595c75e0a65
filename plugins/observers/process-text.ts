import type { RouterView } from "../../core/contract/router-view.ts";
import { familyHead, sampleLine, single } from "./exposition.ts";

type Process = RouterView["process"];

/** The router's process, its memory, its config and its plugins. */
export function processText(view: RouterView): string {
  const { process } = view;
  return (
    logCounter(process) +
    pauseCounter(process) +
    startGauge(process) +
    configText(view) +
    memoryText(process) +
    pluginText(view) +
    usageText(process)
  );
}

function logCounter({ droppedLogLines }: Process): string {
  const help = "Lines of the access log and the operator's log that were dropped because nobody read them in time.";
  return single("signalbox_log_dropped_total", "counter", help, droppedLogLines);
}

function pauseCounter({ acceptPauses }: Process): string {
  const help =
    "Times in which no more client connections were taken, because too many were open or file descriptors had run out.";
  return single("signalbox_accept_pauses_total", "counter", help, acceptPauses);
}

function startGauge({ startedAtS }: Process): string {
  return single("signalbox_start_time_seconds", "gauge", "When the router started, in seconds since 1970.", startedAtS);
}

function configText({ config }: RouterView): string {
  const { generation, isLastReloadApplied, confirmedAtS, reloads } = config;
  const gauge = (name: string, help: string, value: number) => single(`signalbox_config_${name}`, "gauge", help, value);
  const name = "signalbox_config_reloads_total";
  const results = Object.entries(reloads).map(([result, count]) => sampleLine(name, ["result"], [result], count));
  return (
    gauge("generation", "1 at the start, and one more with each config that took effect since.", generation) +
    gauge(
      "last_reload_successful",
      "0 while the last attempt to change the config was refused, so that the one before runs.",
      isLastReloadApplied ? 1 : 0,
    ) +
    gauge(
      "last_reload_success_time_seconds",
      "When the last attempt succeeded, in seconds since 1970; the start counts as one.",
      confirmedAtS,
    ) +
    familyHead(name, "counter", "Attempts to change the config, by how they ended; unchanged: nothing in it was different.") +
    results.join("")
  );
}

function memoryText({ memory }: Process): string {
  return (
    single("signalbox_body_bytes", "gauge", "Memory of the request bodies under way.", memory.bodyBytes) +
    single("signalbox_unread_bytes", "gauge", "Bytes of responses that wait for their clients.", memory.unreadBytes) +
    single("signalbox_memory_limit_bytes", "gauge", "What both may be together.", memory.limitBytes) +
    single(
      "signalbox_memory_refusals_total",
      "counter",
      "Bodies refused, and slow ones cut, because the memory was used up.",
      memory.refusals,
    )
  );
}

function pluginText({ plugins: { faults, times } }: RouterView): string {
  const faultFamily = "signalbox_plugin_faults_total";
  // Those without a fault too, so that the first one is an increase.
  const faulty = [...new Set([...times.map(({ name }) => name), ...faults.keys()])];
  const labels = ["kind", "plugin"];
  const timed = (
    name: string,
    type: "counter" | "gauge",
    help: string,
    read: (time: RouterView["plugins"]["times"][number]) => number,
  ) => familyHead(name, type, help) + times.map((one) => sampleLine(name, labels, [one.kind, one.name], read(one))).join("");
  return (
    familyHead(faultFamily, "counter", "Times in which a plugin broke its contract on a request.") +
    faulty.map((plugin) => sampleLine(faultFamily, ["plugin"], [plugin], faults.get(plugin) ?? 0)).join("") +
    timed(
      "signalbox_plugin_timed_requests_total",
      "counter",
      "Requests in which the plugin was timed: about one of 64, and ten a second where there are few.",
      ({ timedRequests }) => timedRequests,
    ) +
    timed(
      "signalbox_plugin_timed_seconds_total",
      "counter",
      "What the plugin took in the requests that were timed, added up.",
      ({ timedMs }) => timedMs / 1000,
    ) +
    timed("signalbox_plugin_slow", "gauge", "1 while the plugin takes more time per request than it may.", ({ isSlow }) =>
      isSlow ? 1 : 0,
    ) +
    timed("signalbox_plugin_without_vote", "gauge", "1 while a slow scorer is not asked.", ({ hasNoVote }) => (hasNoVote ? 1 : 0))
  );
}

/** What can't be known on this system is left out. */
function usageText(process: Process): string {
  const { cpuSeconds, residentBytes, heapUsedBytes, heapBytes, openFiles, maxOpenFiles } = process.usage();
  const known = (name: string, type: "counter" | "gauge", help: string, value: number) =>
    Number.isNaN(value) ? "" : single(name, type, help, value);
  return (
    known("process_cpu_seconds_total", "counter", "CPU time that the process has used, in user and system mode.", cpuSeconds) +
    known("process_resident_memory_bytes", "gauge", "Resident memory of the process.", residentBytes) +
    known(
      "signalbox_heap_used_bytes",
      "gauge",
      "Memory of the JavaScript heap in use, as the runtime counts it.",
      heapUsedBytes,
    ) +
    known("signalbox_heap_bytes", "gauge", "Memory of the JavaScript heap, as the runtime counts it.", heapBytes) +
    known("process_open_fds", "gauge", "Open file descriptors of the process.", openFiles) +
    known("process_max_fds", "gauge", "Most file descriptors that the process may open.", maxOpenFiles)
  );
}
