import { figuresOf } from "../../apps/admin/pool-sites.ts";
import { type AdminOptions, type AdminServer, startAdmin } from "../../apps/admin/server.ts";
import { readPageFiles } from "../../apps/cli/start/open-admin.ts";
import { type LoadedConfig, loadTexts } from "../../config/load.ts";
import { formatProblems } from "../../config/read/problems.ts";
import { NO_OVERLAY, type Overlay } from "../../config/rewrites/overlay.ts";
import { RunningConfig } from "../../config/running/running-config.ts";
import { type Clock, systemClock } from "../../core/contract/clock.ts";
import { silentLog } from "../../core/contract/log.ts";
import type { Router } from "../../core/router.ts";
import { DEFAULT_LIMITS } from "../../core/settings.ts";
import { builtIns } from "../../plugins/registry.ts";
import { exchange } from "./raw-client.ts";

/** The admin port of a router, on a free port. */
export async function startTestAdmin(router: Router, options: Partial<AdminOptions> = {}): Promise<AdminServer> {
  return startAdmin({
    host: "127.0.0.1",
    port: 0,
    hosts: [],
    limits: DEFAULT_LIMITS,
    clock: systemClock,
    router,
    figures: figuresOf(router),
    files: readPageFiles(),
    sources: ["test.yaml"],
    running: options.running ?? (await makeRunning()),
    commandLine: {},
    listen: { host: "127.0.0.1", port: 8080 },
    clientConnections: () => 0,
    droppedLogLines: () => 0,
    acceptPauses: () => 0,
    access: () => ({ tokens: [], isReadOnly: false, isOpenToNetwork: false }),
    log: silentLog,
    ...options,
  });
}

const ROUTER = "apiVersion: signalbox/v1\nkind: Router\nspec: { pool: { endpoints: [{ url: http://127.0.0.1:9 }] } }\n";

/** A config that can be changed; nothing runs by it. */
export async function makeRunning(documents = "", clock: Clock = systemClock): Promise<RunningConfig> {
  const load = (overlay: Overlay, base?: Pick<LoadedConfig, "texts">) =>
    loadTexts(base?.texts ?? [{ file: "test.yaml", text: `${ROUTER}${documents}` }], builtIns, [], overlay);
  const loaded = await load(NO_OVERLAY);
  if (loaded.problems !== undefined) throw new Error(formatProblems(loaded.problems));
  return new RunningConfig({ loaded, load, publish() {}, clock, log: silentLog });
}

export interface AdminAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** One request on a connection of its own. */
export async function askFor(
  port: number,
  path: string,
  { method = "GET", lines = "Host: localhost\r\n" } = {},
): Promise<AdminAnswer> {
  const answer = await exchange(port, `${method} ${path} HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`);
  const headEnd = answer.indexOf("\r\n\r\n");
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0),
    head: answer.slice(0, headEnd),
    body: Buffer.from(answer.slice(headEnd + 4), "latin1").toString("utf8"),
  };
}
