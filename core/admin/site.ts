import type { Clock } from "../contract/clock.ts";
import type { Log } from "../contract/log.ts";
import type { AdminAccess } from "./api/guard.ts";
import type { ShownRouter } from "./router-view.ts";
import type { StatusExtras } from "./status.ts";

/** The files of the status page, as text. */
export interface PageFiles {
  readonly html: string;
  readonly css: string;
  readonly js: string;
}

/** What the admin port shows and changes. */
export interface AdminSite extends StatusExtras {
  readonly router: ShownRouter;
  readonly clock: Clock;
  readonly files: PageFiles;
  /** Lines of the program's outputs that were dropped. */
  readonly droppedLogLines: () => number;
  /** Who may change things. */
  readonly access: () => AdminAccess;
  readonly log: Log;
}
