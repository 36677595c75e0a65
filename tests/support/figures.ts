import type { TrafficHistory } from "../../apps/admin/figures/traffic-history.ts";
import type { Figures } from "../../apps/admin/figures/window-figures.ts";

/** Of a window in which nothing happened. */
export const NO_FIGURES: Figures = {
  windowS: 0,
  requests: 0,
  clientErrors: 0,
  clientsLeft: 0,
  ttftP50Ms: null,
  ttftP95Ms: null,
  hitRate: null,
  outputTokensPerS: 0,
  streamTokensPerS: null,
};

/** Of a router that has just begun. */
export const NO_HISTORY: TrafficHistory = {
  stepS: 5,
  requestsPerS: [],
  errorsPerS: [],
  clientErrorsPerS: [],
  ttftP50Ms: [],
  ttftP95Ms: [],
  hitRate: [],
  leastServing: [],
};
