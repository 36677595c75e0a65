import { spawn } from "node:child_process";
import { isAbsolute, resolve } from "node:path";
import { isMapping } from "../../config/read/problems.ts";
import { z } from "../../core/contract/options.ts";
import { printable } from "../../core/contract/printable.ts";
import { secretOf } from "../../core/contract/secret.ts";
import { afterAwake } from "../../core/contract/standstill.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import { bearerToken, type Identity, type IdentitySource, type Surroundings } from "./identity.ts";

/** A user of a kubeconfig whose credentials a program prints. */
export const execSchema = z.looseObject({
  apiVersion: z.enum(["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.looseObject({ name: z.string(), value: z.string() })).nullish(),
  installHint: z.string().nullish(),
  provideClusterInfo: z.boolean().nullish(),
  interactiveMode: z.enum(["Never", "IfAvailable"], "Never or IfAvailable: nobody is there to answer a program").nullish(),
});

type Exec = z.infer<typeof execSchema>;

interface AskedFor {
  readonly server: string;
  readonly ca: string | undefined;
  readonly isVerified: boolean;
  /** Where a relative command begins. */
  readonly folder: string;
}

const LONGEST_MS = 30_000;
const MOST_BYTES = 256 * 1024;
const MOST_SHOWN = 300;
/** It is asked for new credentials so long before the old ones end. */
const MARGIN_MS = 10_000;

interface Printed {
  readonly identity: Identity;
  /** On the wall's clock; Infinity if they hold until they are refused. */
  readonly endsAtMs: number;
}

/** What the program prints, until it expires or is refused. Callers at the same time wait for the same run of it. */
export function execIdentity(exec: Exec, asked: AskedFor, surroundings: Surroundings): IdentitySource {
  const { clock } = surroundings;
  let running: Promise<Printed> | undefined;
  let held: Printed | undefined;
  const run = async () => {
    try {
      held = readCredential(await outputOf(exec, asked, surroundings), exec, asked.ca);
      return held;
    } catch (thrown) {
      const hint = exec.installHint ? ` ${printable(exec.installHint.slice(0, MOST_SHOWN))}` : "";
      throw new Error(`The kubeconfig's program ${exec.command} gives no credentials: ${thrownMessage(thrown)}.${hint}`);
    } finally {
      running = undefined;
    }
  };
  return {
    async identity() {
      if (held !== undefined && clock.wall() < held.endsAtMs - MARGIN_MS) return held.identity;
      running ??= run();
      return (await running).identity;
    },
    forget() {
      held = undefined;
      return true;
    },
  };
}

/** What the program prints. It and what it has started may stay behind only if they outlive a SIGKILL. */
function outputOf(exec: Exec, asked: AskedFor, { clock, environment }: Surroundings): Promise<string> {
  return new Promise((done, reject) => {
    const hasFolder = exec.command.includes("/");
    const command = hasFolder && !isAbsolute(exec.command) ? resolve(asked.folder, exec.command) : exec.command;
    const own = Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value]));
    const env = { ...environment, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(execInfo(exec, asked)) };
    const child = spawn(command, exec.args ?? [], { env, stdio: ["ignore", "pipe", "pipe"] });
    const output: Buffer[] = [];
    let bytes = 0;
    let complaint = "";
    const stopTimer = afterAwake(clock, LONGEST_MS, () => fail(`it has not ended after ${LONGEST_MS / 1000} s`));
    const end = () => {
      stopTimer();
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const fail = (why: string) => {
      end();
      child.kill("SIGKILL");
      reject(new Error(why));
    };
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) fail(`it prints more than ${MOST_BYTES} bytes`);
      else output.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (complaint.length < MOST_SHOWN) complaint += chunk.toString("utf8");
    });
    child.on("error", (error) => fail(thrownMessage(error)));
    child.on("close", (code) => {
      end();
      if (code === 0) return done(Buffer.concat(output).toString("utf8"));
      const said = printable(complaint.trim().slice(0, MOST_SHOWN));
      reject(new Error(`it ends with ${code ?? "a signal"}${said === "" ? "" : ` and says: ${said}`}`));
    });
  });
}

function execInfo({ apiVersion, provideClusterInfo }: Exec, { server, ca, isVerified }: AskedFor) {
  const cluster = {
    server,
    ...(ca !== undefined && { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
    ...(!isVerified && { "insecure-skip-tls-verify": true }),
  };
  return { apiVersion, kind: "ExecCredential", spec: { interactive: false, ...(provideClusterInfo && { cluster }) } };
}

function readCredential(text: string, { apiVersion, command }: Exec, ca: string | undefined): Printed {
  const printed = parseJson(text);
  const status = isMapping(printed) ? printed["status"] : undefined;
  if (!isMapping(printed) || printed["kind"] !== "ExecCredential" || !isMapping(status))
    throw new Error("it prints no ExecCredential with a status");
  if (printed["apiVersion"] !== apiVersion) throw new Error(`it prints another apiVersion than ${apiVersion}`);
  const { token, clientCertificateData: chain, clientKeyData: key, expirationTimestamp: ends } = status;
  const hasPair = typeof chain === "string" && typeof key === "string";
  if (typeof token !== "string" && !hasPair) throw new Error("it prints neither a token nor a client certificate with its key");
  const endsAtMs = typeof ends === "string" ? Date.parse(ends) : Number.POSITIVE_INFINITY;
  if (Number.isNaN(endsAtMs)) throw new Error("it prints an expirationTimestamp that is no time");
  const identity: Identity = {
    ca,
    ...(typeof token === "string" && { token: bearerToken(token, `the output of ${command}`) }),
    ...(hasPair && { certificate: { chain, key: secretOf(key, command) } }),
  };
  return { identity, endsAtMs };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The engines' own messages quote the text, which holds a secret.
    throw new Error("what it prints is not JSON");
  }
}
