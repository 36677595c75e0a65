import { definePicker, z } from "signalbox/plugin";

/** What `parameters` may hold in the config; a mistake there is reported with its line. */
const options = z.strictObject({
  explore: z
    .number()
    .min(0)
    .max(1)
    .default(0.05)
    .describe("The part of the requests that goes to another endpoint than the best."),
});

export default definePicker({
  type: "my-picker",
  summary: "Takes the best endpoint, and now and then another one to learn how good it is.",
  contract: "1.0",
  options,
  create: ({ explore }) => ({
    // Each candidate once: the best first, the others as spares. `totals` are in the candidates' order.
    pick(candidates, totals, random) {
      const order = [...candidates.keys()].sort((a, b) => totals[b]! - totals[a]!);
      const place = random() < explore ? Math.floor(random() * order.length) : 0;
      return [...order.splice(place, 1), ...order].map((index) => candidates[index]!);
    },
  }),
});
