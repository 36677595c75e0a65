import type { Input } from "../../../config/command.ts";
import type { LoadedConfig } from "../../../config/load.ts";
import type { ReloadReport, RunningConfig } from "../../../config/running/running-config.ts";
import type { ActiveConfig } from "../../../core/active-config.ts";
import type { Clock } from "../../../core/contract/clock.ts";
import type { Log } from "../../../core/contract/log.ts";
import type { Carrier } from "../../../core/pool/carrier.ts";
import type { Router } from "../../../core/router.ts";
import type { ConfigSource, StartArguments } from "./config-source.ts";
import type { startDemo } from "./demo.ts";
import type { FrontServer } from "./front-server.ts";
import type { OpenAdmin, Shown } from "./open-admin.ts";
import type { Outputs } from "./outputs.ts";

/** The place of a router among the workers of a program, whose parent process has the files, the admin port and the outputs. */
export interface Seat {
  readonly outputs: Outputs;
  /** In place of the files. */
  readonly source: ConfigSource;
  /** What carries messages to the other workers; undefined where there is none. */
  readonly workers: Carrier | undefined;
  /** Settles when the parent is gone. */
  readonly orphaned: Promise<void>;
  /** Its replicas have been probed: before it listens, it learns what the other workers know. */
  join(): Promise<void>;
  /** Shows it at the parent's admin port. */
  openAdmin(shown: Shown): OpenAdmin;
  /** It listens, and its replicas have been probed. */
  started(running: RunningConfig, greeting: string): void;
  /** An attempt to change the config has ended. */
  reported(running: RunningConfig, report: ReloadReport): void;
}

/** How a router is reached, and what runs around it. */
export interface Front {
  /** What the program runs where it is given nothing to run. */
  readonly startDemo?: typeof startDemo;
  /** Those mock replicas run beside the replicas of the config too. */
  readonly hasDemo?: boolean;
  /** It shows each request itself, so a terminal gets no line of the access log for it. */
  readonly showsRequests?: boolean;
  /** How often the files are looked at; default once a second. */
  readonly lookMs?: number;
  /** The process ends itself after this time in one call at the latest, whatever `spec.limits.stuckMs` says but 0. */
  readonly mostStuckMs?: number;
  /** The time of what follows a cluster's resources; default the machine's. */
  readonly clusterClock?: Clock;
  /** Undefined: this process is the whole program. */
  readonly seat?: Seat;
  arguments(input: Input): StartArguments;
  /** Throws an Error for a config that can't run behind it. */
  accepts?(config: ActiveConfig): void;
  listen(loaded: LoadedConfig, router: Router, log: Log): Promise<FrontServer>;
  /** Where it is reached, for people. */
  url(host: string, port: number, isTls: boolean): string;
  /** Called once it listens at `url`; `say` prints. Returns what is called when the router stops. */
  running?(router: Router, url: string, say: (text: string) => void): () => void;
}
