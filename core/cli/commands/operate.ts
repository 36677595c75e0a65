import type { EndpointStatus } from "../../admin/api/endpoint-schema.ts";
import type { ReloadReport } from "../../control/running-config.ts";
import { apiPath, changeThroughAdmin } from "../admin/ask-admin.ts";
import { type Input, onlyWord, print, secondsOf } from "../frame/command.ts";
import { phaseText } from "./status.ts";

/** `signalbox drain`: no new requests for an endpoint. Returns the exit code. */
export function drain(input: Input): Promise<number> {
  return operate(input, "drain", { ...wish(input), graceSeconds: secondsOf(input, "grace") });
}

/** `signalbox cordon`: no new requests but what only the endpoint serves. Returns the exit code. */
export function cordon(input: Input): Promise<number> {
  return operate(input, "cordon", wish(input));
}

/** `signalbox undrain`: ends both. Returns the exit code. */
export function undrain(input: Input): Promise<number> {
  return operate(input, "undrain", {});
}

const wish = (input: Input) => ({ reason: input.text("reason"), forSeconds: secondsOf(input, "for") });

async function operate(input: Input, action: string, body: object): Promise<number> {
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
