import type { Endpoint } from "../../core/contract/endpoint.ts";
import { RouterError } from "../../core/contract/errors.ts";
import { z } from "../../core/contract/options.ts";
import { defineFilter } from "../../core/contract/plugin.ts";

const options = z
  .strictObject({
    label: z.string().min(1),
    validValues: z.array(z.string()).default([]),
    /** Whether an endpoint without the label stays. */
    allowsNoLabel: z.boolean().default(false),
  })
  .refine(({ validValues, allowsNoLabel }) => validValues.length > 0 || allowsNoLabel, {
    path: ["validValues"],
    message: "at least one value, or allowsNoLabel: true",
  });

export default defineFilter({
  type: "by-label",
  summary: "Keeps endpoints whose label has one of the listed values.",
  options,
  needs: (settings) => [
    {
      labelled: keptBy(settings),
      lack: `no replica has the label ${settings.label} with one of its values, so requests get 503`,
    },
  ],
  create(settings, host) {
    const isKept = keptBy(settings);
    const message = `No ready replica has the label that the filter "${host.name}" needs; label one in the config, or change the filter.`;
    return {
      expresses: "need",
      filter: (_request, candidates) => candidates.filter(({ labels }) => isKept(labels)),
      refuse: () => new RouterError("no_ready_endpoint", message, { retryAfterS: 1 }),
    };
  },
});

function keptBy({ label, validValues, allowsNoLabel }: z.output<typeof options>): (labels: Endpoint["labels"]) => boolean {
  const valid = new Set(validValues);
  return (labels) => (Object.hasOwn(labels, label) ? valid.has(labels[label]!) : allowsNoLabel);
}
