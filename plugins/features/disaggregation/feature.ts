import { sectionFeature } from "../../../config/feature.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { RequestRun } from "../../../core/contract/slots/request-run.ts";
import type { Run } from "../../../core/run.ts";
import { disaggregationSection } from "./disaggregation-config.ts";
import { GenerationTime } from "./generation-time.ts";
import { PairedSending } from "./paired-sending.ts";
import { pairsMetrics } from "./pairs-metrics.ts";
import { pairsStatus, pairsWarnings } from "./pairs-status.ts";
import { PairsTally } from "./pairs-tally.ts";
import { pairRows, pairsLines } from "./pairs-text.ts";
import { Planning } from "./planning.ts";
import type { Transfer } from "./transfer.ts";
import { TransferTimes } from "./transfer-times.ts";
import { TRANSFERS } from "./transfers/list.ts";
import { PREFILLER, sideCar } from "./transfers/side-car.ts";

/** Has prompts processed on other replicas than their answers are generated on. */
export default sectionFeature({
  type: "disaggregation",
  summary: "Has prompts processed on other replicas than their answers are generated on.",
  section: disaggregationSection,
  create(config, host) {
    if (config === undefined) return {};
    const { transfer: type, prefillTimeoutMs: timeoutMs } = config;
    const transfer = TRANSFERS.find((each) => each.type === type)!;
    const { tally, times, generation, open } = host.keep(1, () => {
      const open = new Map<unknown, PairedSending>();
      return { tally: new PairsTally(), times: new TransferTimes(), generation: new GenerationTime(), open };
    });
    const planning = new Planning(config, transfer, times, generation);
    const status = () => pairsStatus(type, tally, planning.roles, host.facts().endpoints);
    return {
      bodyKeys: transfer.keys,
      admit: (run) => void refuseReserved(run, transfer),
      plan: (planned) => planning.plan(planned),
      mayAnswer: (endpoint) => planning.roles.mayAnswer(endpoint),
      lines: (run) => promptLine(run as Run),
      send(run, owner) {
        // Another feature may plan, whose legs are not these.
        if (run.ticket.decision?.pairing?.isPaired !== true) return undefined;
        // A gateway sends the request itself, so that what stands behind it must make the exchange.
        const how = (run as Run).response.gateway === undefined ? transfer : sideCar;
        const sending = new PairedSending(run as Run, owner, { transfer: how, planning, times, timeoutMs });
        open.set(run.ticket, sending);
        return sending;
      },
      settled(outcome) {
        open.delete(outcome);
        tally.ended(outcome);
        generation.ended(outcome);
      },
      replicaGone(endpoint) {
        for (const sending of open.values()) sending.replicaGone(endpoint);
      },
      configured: (active) => planning.use(active),
      status: (rule) => (rule === undefined ? { pairs: status() } : {}),
      warnings: () => pairsWarnings(tally, planning.roles, host.facts().endpoints),
      metrics: () => pairsMetrics(tally),
    };
  },
  text: { router: pairsLines, top: pairsLines, decision: pairRows },
});

/** Throws RouterError for a client that says itself where a cache is: replicas would connect to what it names. */
function refuseReserved({ head, body }: RequestRun, { type, reservedKeys, reservedIn }: Transfer): void {
  const header = head.get(PREFILLER) === undefined ? undefined : PREFILLER;
  const key = reservedKeys.find((name) => isSaid(body, name)) ?? (body && reservedIn?.(body));
  if (header !== undefined || key !== undefined)
    throw new RouterError("invalid_value", `Leave out ${header ?? `"${key}"`}: the router writes it itself (${type}).`);
}

/** Clients see where the prompt went, as they see where the answer came from. */
function promptLine({ ticket: { prefill }, config }: Run): string {
  const isShown = prefill !== undefined && prefill.end !== "alone" && config.settings.hasRoutingHeaders;
  return isShown ? `x-signalbox-prefill: ${prefill.endpoint}\r\n` : "";
}

const SMALL_N = 0x6e;

function isSaid(body: RequestRun["body"], key: string): boolean {
  const span = body?.span(key);
  return span !== undefined && body?.bytes[span[0]] !== SMALL_N;
}
