import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { isatty } from "node:tty";
import { moduleFiles } from "../../../config/plugins/module-files.ts";
import { systemClock } from "../../../core/contract/clock.ts";
import { FileWatch, LOOK_MS } from "../file-watch.ts";
import { operatorLog } from "../start/outputs.ts";
import { stopSignal } from "../start/signals.ts";
import { KnownVersions, NOTE, STAND_INS, type StandIn } from "./versions.ts";
import { writeCopy } from "./write-copy.ts";

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly hasServed: boolean;
}

/** Runs the router, and starts it again when a plugin that does not return has ended it. Returns the router's exit code. */
export async function supervise(command: readonly string[], configFiles: readonly string[]): Promise<number> {
  const log = operatorLog(isatty(2), (text) => process.stderr.write(text));
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-dev-")));
  const versions = new KnownVersions();
  const running = passSignals();
  let standIns: readonly StandIn[] = [];
  try {
    for (let starts = 1; ; starts++) {
      const ended = await runRouter(command, standIns, versions, running);
      const isStuck = ended.signal === "SIGALRM";
      // A router that was started again and finds a mistake in what was saved meanwhile must not end the work.
      if (running.isStopping || !(isStuck || (starts > 1 && ended.code === 1 && !ended.hasServed))) return exitCode(ended);
      const before = isStuck ? versions.goBack() : undefined;
      standIns = (before ?? []).map(({ texts, ...version }) => ({
        ...version,
        copy: writeCopy(join(folder, String(starts), version.hash), version.file, texts),
      }));
      if (before === undefined) {
        const why = isStuck ? ": no version of these plugins before has served a request" : "";
        log.info(`The router starts again when a file is saved${why}`);
        await Promise.race([nextChange(configFiles, versions), running.stopped]);
        if (running.isStopping) return 0;
      } else
        log.info("The router starts again with the last versions that served a request, until other ones are saved", {
          plugins: before.map(({ file }) => file).join(", "),
        });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Running {
  /** Of the router, while it runs. */
  pid: number | undefined;
  isStopping: boolean;
  readonly stopped: Promise<void>;
}

/** Passes on to the router what this process is told. Who is impatient, and signals twice, ends both at once. */
function passSignals(): Running {
  // Not by the method of the child, which on Deno closes the channel too.
  const pass = (signal: NodeJS.Signals) => {
    try {
      if (running.pid !== undefined) process.kill(running.pid, signal);
    } catch {
      // It has just ended.
    }
  };
  const stopped = stopSignal().then(() => {
    running.isStopping = true;
    pass("SIGTERM");
  });
  const running: Running = { pid: undefined, isStopping: false, stopped };
  process.on("SIGHUP", () => pass("SIGHUP"));
  process.on("exit", () => pass("SIGKILL"));
  return running;
}

/** Runs it until it ends. It shares the terminal, and ends itself when this process is gone. */
function runRouter(
  command: readonly string[],
  standIns: readonly StandIn[],
  versions: KnownVersions,
  running: Running,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, [STAND_INS]: JSON.stringify(standIns) };
    const router = spawn(process.execPath, command, { stdio: ["inherit", "inherit", "inherit", "ipc"], env });
    running.pid = router.pid;
    let hasServed = false;
    versions.starting();
    router.on("message", (message) => {
      const { data: note } = NOTE.safeParse(message);
      if (note === undefined) return;
      if ("loading" in note) return versions.loading(note.loading);
      hasServed = true;
      versions.served();
    });
    router.on("error", reject);
    router.on("exit", (code, signal) => {
      running.pid = undefined;
      resolve({ code, signal, hasServed });
    });
  });
}

/** Resolves once a file of the config or of a plugin is another than what was loaded. */
async function nextChange(configFiles: readonly string[], { loaded }: KnownVersions): Promise<void> {
  const filesNow = () => Promise.all(loaded.map(({ file }) => moduleFiles(file)));
  const paths = [...configFiles, ...(await filesNow()).flatMap((each) => each.paths)];
  await new Promise<void>((resolve, reject) => {
    const watch = new FileWatch({ clock: systemClock, lookMs: LOOK_MS, paths, changed: () => done() });
    const done = () => {
      watch.stop();
      resolve();
    };
    const begin = async () => {
      await watch.reading();
      watch.start();
      // What was saved before the first look shows in the hashes alone.
      if ((await filesNow()).some(({ hash }, at) => hash !== loaded[at]?.saved)) done();
    };
    begin().catch(reject);
  });
}

function exitCode({ code, signal }: Ended): number {
  return code ?? 128 + constants.signals[signal ?? "SIGKILL"];
}
