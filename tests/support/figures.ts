import type { Figures } from "../../core/state/window-figures.ts";

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
