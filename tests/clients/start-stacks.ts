/** Starts replicas and routers in front of them, as users start them. */
import { createHash } from "node:crypto";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Running, signalbox, until } from "../support/cli.ts";
import { KEY, KEY_NAME, MODEL, OTHER, SERVED, type StackPlace } from "./stack.ts";

export interface StartedStacks {
  readonly places: readonly StackPlace[];
  /** Ends all of it; fulfilled when the processes are gone. */
  close(): Promise<void>;
}

/** A router in front of two mock replicas, and one in front of the real vLLM at `vllm`, if there is one. */
export async function startStacks(vllm: string): Promise<StartedStacks> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-clients-"));
  writeFileSync(join(folder, "signalbox.yaml"), configText());
  const words = ["mock", "--port", "0", "--model", "tiny", "--adapters", `${SERVED},${OTHER}`, "--time-scale", "0.1"];
  const mocks = [signalbox(...words), signalbox(...words)];
  const running = [...mocks];
  const close = async () => {
    for (const { child } of running) child.kill("SIGTERM");
    await Promise.all(running.map(({ ended }) => ended));
    rmSync(folder, { recursive: true, force: true });
  };
  const routerFor = async (name: string, isMock: boolean, urls: readonly string[]): Promise<StackPlace> => {
    const log = join(folder, `${isMock ? "mock" : "vllm"}.log`);
    writeFileSync(log, "");
    const router = signalbox("start", "--port", "0", "-f", join(folder, "signalbox.yaml"), ...urls);
    running.push(router);
    router.child.stdout?.on("data", (chunk: Buffer) => appendFileSync(log, chunk));
    return { name, isMock, log, url: await urlIn(router, /(?<=listening on )http:\/\/[^ "]+(?= )/) };
  };
  try {
    const urls = await Promise.all(mocks.map((mock) => urlIn(mock, /http:\/\/\S+/)));
    const places = [routerFor("two mock replicas", true, urls)];
    if (vllm !== "") places.push(routerFor("a real vLLM", false, [vllm]));
    return { places: await Promise.all(places), close };
  } catch (error) {
    await close();
    throw error;
  }
}

const configText = () => `apiVersion: signalbox/v1
kind: Router
spec:
  admin: false
  pool: { name: default }
  auth:
    keys:
      - { name: ${KEY_NAME}, sha256: ${createHash("sha256").update(KEY).digest("hex")} }
---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: clients }
spec:
  poolRef: { name: default }
  rules:
    - matches: [ { model: { type: Exact, value: ${MODEL} } } ]
      targets: [ { modelRewrite: ${SERVED} } ]
`;

/** The address that a program says it listens on. */
async function urlIn({ output }: Running, pattern: RegExp): Promise<string> {
  await until(() => pattern.test(output.out + output.err));
  return pattern.exec(output.out + output.err)?.[0] ?? "";
}
