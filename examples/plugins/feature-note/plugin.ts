import { defineFeature, printable, z } from "signalbox/plugin";

const options = z.strictObject({
  header: z
    .string()
    .regex(/^[a-z0-9-]+$/, "a header's name in lower case")
    .default("x-experiment")
    .describe("What names the experiment."),
});

export default defineFeature({
  type: "experiment-note",
  summary: "Says in explanations and on the page which experiment a request belongs to.",
  contract: "1.0",
  options,
  create: ({ header }) => ({
    explain({ request, principal }) {
      const experiment = request?.headers.get(header);
      if (experiment === undefined) return [];
      const by = principal === undefined ? "" : `, asked by ${principal.name}`;
      // Headers come from clients and may hold anything.
      return [`It belongs to the experiment ${printable(experiment.slice(0, 100))}${by}.`];
    },
  }),
});
