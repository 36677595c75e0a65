import { problemAt } from "../../../config/read/problems.ts";
import { section, writtenOf } from "../../../config/schema/section.ts";
import type { Section } from "../../../config/section.ts";
import { z } from "../../../core/contract/options.ts";
import { bytes, count, MIB, onOff, type ValuesOf } from "../../../core/settings/row.ts";

const KV_EVENTS = {
  port: count(
    0,
    "Port of the replicas' events, on each replica's host. 0: each replica is asked for it (GET /kv_event_sources).",
    0,
    65_535,
  ),
  replayPort: count(0, "Port where replicas answer for events that were missed; beside `port`. 0: nowhere.", 0, 65_535),
  ranks: count(1, "Data-parallel engines behind one replica; each next one has the next port. Beside `port` or `label`.", 1, 64),
  believe: onOff(true, "Whether decisions use what events say. false: it is only compared with what replicas report."),
  renderPrompts: onOff(
    true,
    "Whether replicas are asked for prompts' tokens (POST .../render), beside the requests. false: events count only for requests that have their tokens.",
  ),
  maxMessageBytes: bytes(16 * MIB, "Longest message of events. A longer one ends the connection.", 64 * 1024, 256 * MIB),
  maxBlocks: count(1_000_000, "Blocks that are known of all caches together, at about 40 bytes each.", 1_000, 16_000_000),
};

/** Where replicas tell what their caches hold, and what follows from it. */
export interface KvEventsSettings extends ValuesOf<typeof KV_EVENTS> {
  /** Events whose topic begins with it. */
  readonly topic: string;
  /** The label of a replica that has the port or the address of its events; "" for none. */
  readonly label: string;
  readonly replayLabel: string;
}

const text = (what: string) => z.string().max(253).describe(what);

const DEFAULTS = { topic: "", label: "", replayLabel: "" };

const kvEvents = section(
  {
    ...KV_EVENTS,
    topic: text("Only events whose topic begins with it are followed. Default: all."),
    label: text("A label of endpoints: its value is the port of the replica's events, or an address such as tcp://host:5557."),
    replayLabel: text("The same for where missed events are asked for."),
  },
  DEFAULTS,
);

type Written = KvEventsSettings | undefined;

const WITHOUT_PLACE = "both, or neither: a replica that is asked where its events are says the rest itself";

/** What counts only beside a place that the config names. */
function uselessIn({ port, label, replayPort, replayLabel, ranks }: KvEventsSettings): readonly string[] {
  const hasPlace = port > 0 || label !== "";
  return [
    ...(replayPort > 0 && !hasPlace ? ["replayPort"] : []),
    ...(replayLabel !== "" && !hasPlace ? ["replayLabel"] : []),
    ...(ranks > 1 && !hasPlace ? ["ranks"] : []),
  ];
}

/** `spec.kvEvents`. */
export const kvEventsSection = {
  key: "kvEvents",
  inPools: "own",
  schema: kvEvents
    .describe(
      "Follows what vLLM and SGLang publish of their caches (docs/kv-events.md), and believes it while responses confirm it. Default: off.",
    )
    .optional() as z.ZodType<Written>,
  read(written: Written, { router, warnings }): Written {
    for (const key of written === undefined ? [] : uselessIn(written)) {
      const at = ["spec", "kvEvents", key];
      const finding = { found: `${key} without port or label`, wanted: WITHOUT_PLACE };
      warnings.push(problemAt(router.positionOf(at), at, finding));
    }
    return written;
  },
  written: (config) => config && writtenOf(KV_EVENTS, config),
} satisfies Section<Written, Written>;
