import { defineDetector, z } from "signalbox/plugin";

/** What `parameters` may hold in the config; a mistake there is reported with its line. */
const options = z.strictObject({
  most: z.number().positive().default(2).describe("How many times longer than the others' an endpoint's extra wait may be."),
  leastMs: z.number().min(0).default(500).describe("Extra waits below this are no reason."),
});

export default defineDetector({
  type: "my-detector",
  summary: "Ejects an endpoint whose first tokens come much later than those of the others.",
  contract: "1.0",
  options,
  create: ({ most, leastMs }) => ({
    // The reason in words, or undefined while there is none.
    detect({ excessMs }, others) {
      const usual = others.map((other) => other.excessMs).filter((ms) => ms >= 0);
      if (!(excessMs > leastMs) || usual.length === 0) return undefined;
      const meanMs = usual.reduce((sum, ms) => sum + ms, 0) / usual.length;
      return excessMs > most * meanMs ? `waits of ${Math.round(excessMs)} ms, ${Math.round(meanMs)} ms elsewhere` : undefined;
    },
  }),
});
