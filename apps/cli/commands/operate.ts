import { type Input, print } from "../../../config/command.ts";
import type { z } from "../../../core/contract/options.ts";
import type { reloadSchema } from "../../admin/api/config.ts";
import type { EndpointStatus } from "../../admin/endpoint-schema.ts";
import { apiPath, changeThroughAdmin } from "../admin/ask-admin.ts";
import { onlyWord, secondsOf } from "../frame/command.ts";
import { colouredChanges } from "../show/colour.ts";
import { phaseText } from "../show/endpoint-table.ts";

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
  const report = await changeThroughAdmin<z.infer<typeof reloadSchema>>(input, "POST", path);
  const text = report.changes.length === 0 ? "nothing is different" : report.changes.join("\n  ");
  return print(input, report, () => colouredChanges(`Generation ${report.generation} runs: ${text}\n`), 0);
}
