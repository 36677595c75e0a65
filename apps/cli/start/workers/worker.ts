import type { Input } from "../../../../config/command.ts";
import { systemClock } from "../../../../core/contract/clock.ts";
import type { Definition } from "../../../../core/contract/plugin.ts";
import { DEFAULT_ADMIN } from "../../../../core/settings/default-admin.ts";
import { adminFace } from "../../../admin/server.ts";
import { startArguments } from "../config-source.ts";
import type { Front, Seat } from "../front.ts";
import { adminSiteOf, type OpenAdmin, type Shown } from "../open-admin.ts";
import { openOutputs } from "../outputs.ts";
import { HTTP, startFront } from "../start.ts";
import { ParentEnd } from "./parent-end.ts";
import { StateSync } from "./state-sync.ts";
import { WorkerAdmin } from "./worker-admin.ts";
import { workerSource } from "./worker-source.ts";

/** Runs one of the workers of a program, until it is told to stop or its parent is gone. Returns the exit code. */
export async function runWorker(worker: number, input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  const end = new ParentEnd();
  const begin = await end.begin();
  const outputs = openOutputs(systemClock, begin.terminals, { worker });
  const state = new StateSync(end);
  const seat: Seat = {
    // The parent announces for all of them.
    outputs: { ...outputs, announce() {} },
    source: workerSource(startArguments(input), begin, end, registry),
    workers: begin.count > 1 ? end.carrier : undefined,
    orphaned: end.orphaned,
    join: () => end.join(),
    openAdmin: (shown) => openAdmin(end, shown),
    started(running, greeting) {
      state.follow(running, begin.state);
      end.parent.send({ kind: "started", greeting });
    },
    reported: (running, report) => state.reported(running, report),
  };
  const front: Front = { arguments: startArguments, listen: HTTP.listen, url: HTTP.url, seat };
  try {
    return await startFront(front, input, registry);
  } finally {
    end.close();
  }
}

function openAdmin(end: ParentEnd, shown: Shown): OpenAdmin {
  const address = shown.running.loaded.config.admin ?? DEFAULT_ADMIN;
  // The parent has looked at the Host header.
  const face = adminFace(
    adminSiteOf(shown, address, () => undefined),
    () => true,
  );
  const admin = new WorkerAdmin(face.start, end.parent);
  end.admin = admin;
  return {
    port: 0,
    url: "",
    greeting: "",
    handshakeFailures: undefined,
    useLimits() {},
    useTls() {},
    async close() {
      face.close();
      admin.close();
    },
  };
}
