import type { Clock } from "./contract/clock.ts";
import { exchange, type FetchExchange } from "./fetch/fetch-exchange.ts";
import type { Router } from "./router.ts";
import type { Limits, Settings } from "./settings.ts";
import { Deadlines, sweepPeriodMs } from "./wire/deadlines.ts";

/** A router as a Web-standard handler. */
export interface FetchFace {
  /** Requests under way. */
  readonly openCount: number;
  fetch(request: Request): Promise<Response>;
  /** For requests that begin from now on. */
  useSettings(settings: Settings): void;
  /** Ends requests under way with an error, and refuses others. */
  close(): void;
}

export function fetchFace(router: Router, clock: Clock): FetchFace {
  const { limits, cors } = router.config.settings;
  const deadlines = new Deadlines(clock, sweepMs(limits));
  const shared = {
    start: router.start,
    nextRequestId: router.identity.nextRequestId,
    limits,
    cors,
    clock,
    deadlines,
    memory: router.gate.memory,
    open: new Set<FetchExchange>(),
    isClosed: false,
  };
  return {
    get openCount() {
      return shared.open.size;
    },
    fetch: (request) => exchange(request, shared),
    useSettings(settings) {
      shared.limits = settings.limits;
      shared.cors = settings.cors;
      deadlines.retime(sweepMs(settings.limits));
    },
    close() {
      shared.isClosed = true;
      for (const one of [...shared.open]) one.stop();
      deadlines.close();
    },
  };
}

function sweepMs({ bodyTimeoutMs, writeTimeoutMs }: Limits): number {
  return sweepPeriodMs([bodyTimeoutMs, writeTimeoutMs]);
}
