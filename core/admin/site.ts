import type { CommandLine } from "../../config/show/effective.ts";
import type { Log } from "../contract/log.ts";
import type { OverlayExpiry } from "../control/overlay-expiry.ts";
import type { RunningConfig } from "../control/running-config.ts";
import type { AdminAccess } from "./api/permission.ts";
import type { EventStreams } from "./event-streams.ts";
import type { PageFiles } from "./page-files.ts";
import type { ShownConfig, ViewedSite } from "./router-view.ts";
import type { StatusExtras } from "./status.ts";
import type { Turn } from "./turns.ts";

/** What the admin port shows and changes. */
export interface AdminSite extends ViewedSite, StatusExtras {
  /** The config that runs, and how it is replaced. */
  readonly running: ShownConfig & Pick<RunningConfig, "loaded" | "reload" | "change" | "restore" | "history" | "fileTexts">;
  readonly files: PageFiles;
  /** What the command line sets instead of the files. */
  readonly commandLine: CommandLine;
  /** Who may change things. */
  readonly access: () => AdminAccess;
  readonly log: Log;
}

/** What the routes of the API work on. */
export interface ApiSite extends Pick<AdminSite, keyof ViewedSite | "sources" | "commandLine" | "access" | "log"> {
  /** Is told of every change of the overlay. */
  readonly overlayExpiry: Pick<OverlayExpiry, "follow">;
  /** The observers' streams. */
  readonly streams: Pick<EventStreams, "has" | "listen" | "list">;
  readonly turn: Turn;
}
