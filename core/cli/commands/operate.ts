import type { EndpointStatus } from "../../admin/api/endpoint-schema.ts";
import type { ReloadReport } from "../../control/running-config.ts";
import { apiPath, changeThroughAdmin } from "../admin/ask-admin.ts";
import { type Input, onlyWord, print, secondsOf } from "../frame/command.ts";
import { phaseText } from "./status.ts";

/** `signalbox drain`, `cordon` and `undrain`: what new requests an endpoint gets. Returns the exit code. */
export async function operate(input: Input, action: "drain" | "cordon" | "undrain"): Promise<number> {
  const body = { reason: input.text("reason"), forSeconds: secondsOf(input, "for"), graceSeconds: secondsOf(input, "grace") };
  const name = onlyWord(input, "one endpoint, as the status does", `signalbox ${action} gpu1-8000`);
  const endpoint = await changeThroughAdmin<EndpointStatus>(input, "POST", apiPath(["endpoints", name, action]), body);
  return print(input, endpoint, () => `${endpoint.name}: ${phaseText(endpoint)}\n`, 0);
}

/** `signalbox reload`: a running router reads its files again. Returns the exit code: 1 if they have problems. */
export async function reload(input: Input): Promise<number> {
  const path = apiPath(["config", "reload"]);
  const report = await changeThroughAdmin<Pick<ReloadReport, "changes"> & { generation: number }>(input, "POST", path);
  const text = report.changes.length === 0 ? "nothing is different" : report.changes.join("\n  ");
  return print(input, report, () => `Generation ${report.generation} runs: ${text}\n`, 0);
}
