import type { OverlayExpiry } from "../../config/running/overlay-expiry.ts";
import type { RunningConfig } from "../../config/running/running-config.ts";
import type { CommandLine } from "../../config/show/effective.ts";
import type { Clock } from "../../core/contract/clock.ts";
import type { Log } from "../../core/contract/log.ts";
import type { TlsView } from "../../core/contract/router-view.ts";
import type { Router } from "../../core/router.ts";
import type { EventStreams } from "./event-streams.ts";
import type { RequestFigures } from "./figures/request-figures.ts";
import type { PageFiles } from "./page-files.ts";
import type { AdminAccess } from "./permission.ts";
import type { Turn } from "./turns.ts";

/** A router that runs in a program. */
export interface RunningProgram {
  readonly router: Router;
  /** What its requests met in the last minutes. */
  readonly figures: RequestFigures;
  /** The config that runs, and how it is replaced. */
  readonly running: RunningConfig;
  /** Files and other places that the config came from. */
  readonly sources: readonly string[];
  /** What the command line sets instead of the files. */
  readonly commandLine: CommandLine;
  /** Lines of the program's outputs that were dropped. */
  readonly droppedLogLines: () => number;
  readonly log: Log;
}

/** A running router, its program and its port: status, health, warnings and observers' pages are all made of it. */
export interface ViewedSite extends RunningProgram {
  readonly clock: Clock;
  readonly acceptPauses: () => number;
  /** Left out: no TLS. */
  readonly tls?: () => TlsView;
}

/** What the status is made of. */
export interface StatusSite extends ViewedSite {
  /** Where clients connect. Host "" and port 0 where another program listens and hands requests over. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly clientConnections: () => number;
}

/** What is shown to those who may see it. */
export interface ReadSite extends ViewedSite {
  /** Who may see and change things. */
  readonly access: () => AdminAccess;
}

/** What the admin port shows and changes. */
export interface AdminSite extends StatusSite, ReadSite {
  readonly files: PageFiles;
}

/** What the routes of the API work on. */
export interface ApiSite extends ReadSite {
  /** Is told of every change of the overlay. */
  readonly overlayExpiry: OverlayExpiry;
  /** The observers' streams. */
  readonly streams: EventStreams;
  readonly turn: Turn;
}
