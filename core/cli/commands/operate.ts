import type { EndpointStatus } from "../../admin/api/endpoint-schema.ts";
import { apiPath, changeThroughAdmin } from "../admin/ask-admin.ts";
import { type Input, noWords, onlyWord, secondsOf } from "../frame/command.ts";
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
  // The API's own response, so its shape is known.
  const endpoint = (await changeThroughAdmin(input, "POST", apiPath(["endpoints", name, action]), body)) as EndpointStatus;
  process.stdout.write(input.isJson ? `${JSON.stringify(endpoint)}\n` : `${endpoint.name}: ${phaseText(endpoint)}\n`);
  return 0;
}

interface Reload {
  readonly generation: number;
  readonly changes: readonly string[];
}

/** `signalbox reload`: a running router reads its files again. Returns the exit code: 1 if they have problems. */
export async function reload(input: Input): Promise<number> {
  noWords(input, "reload");
  const report = (await changeThroughAdmin(input, "POST", apiPath(["config", "reload"]))) as Reload;
  const text = report.changes.length === 0 ? "nothing is different" : report.changes.join("\n  ");
  process.stdout.write(input.isJson ? `${JSON.stringify(report)}\n` : `Generation ${report.generation} runs: ${text}\n`);
  return 0;
}
