import type { CommandLine } from "../../config/effective.ts";
import type { Clock } from "../contract/clock.ts";
import type { Log } from "../contract/log.ts";
import type { OverlayExpiry } from "../control/overlay-expiry.ts";
import type { RunningConfig } from "../control/running-config.ts";
import type { AdminAccess } from "./api/guard.ts";
import type { EventStreams } from "./event-streams.ts";
import type { PageFiles } from "./page-files.ts";
import type { ShownConfig, ShownRouter } from "./router-view.ts";
import type { StatusExtras } from "./status.ts";

/** What the admin port shows and changes. */
export interface AdminSite extends StatusExtras {
  readonly router: ShownRouter;
  /** The config that runs, and how it is replaced. */
  readonly running: ShownConfig & Pick<RunningConfig, "loaded" | "reload" | "change">;
  readonly clock: Clock;
  readonly files: PageFiles;
  /** Lines of the program's outputs that were dropped. */
  readonly droppedLogLines: () => number;
  /** What the command line sets instead of the files. */
  readonly commandLine: CommandLine;
  /** Who may change things. */
  readonly access: () => AdminAccess;
  readonly log: Log;
}

/** What the routes of the API work on. */
export interface ApiSite
  extends Pick<
    AdminSite,
    "router" | "running" | "clock" | "sources" | "commandLine" | "droppedLogLines" | "acceptPauses" | "access" | "log"
  > {
  /** Is told of every change of the overlay. */
  readonly overlayExpiry: Pick<OverlayExpiry, "follow">;
  /** The observers' streams. */
  readonly streams: Pick<EventStreams, "has" | "listen" | "list">;
}
