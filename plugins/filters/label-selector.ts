import { RouterError } from "../../core/contract/errors.ts";
import { z } from "../../core/contract/options.ts";
import { defineFilter } from "../../core/contract/plugin.ts";

const key = z.string().min(1);
const expression = z.discriminatedUnion("operator", [
  z.strictObject({ key, operator: z.enum(["In", "NotIn"]), values: z.array(z.string()).min(1) }),
  z.strictObject({ key, operator: z.enum(["Exists", "DoesNotExist"]), values: z.array(z.string()).max(0).default([]) }),
]);

/** A Kubernetes label selector: all its conditions must hold; an empty selector keeps all endpoints. */
const options = z.strictObject({
  matchLabels: z.record(key, z.string()).default({}),
  matchExpressions: z.array(expression).default([]),
});

type Labels = Readonly<Record<string, string>>;

export default defineFilter({
  type: "label-selector",
  summary: "Keeps endpoints whose labels match a selector.",
  options,
  create({ matchLabels, matchExpressions }, host) {
    const conditions = [
      ...Object.entries(matchLabels).map(([key, value]) => holds({ key, operator: "In", values: [value] })),
      ...matchExpressions.map(holds),
    ];
    const message = `No ready replica has the labels that the filter "${host.name}" needs; label one in the config, or change the filter.`;
    return {
      filter: (_request, candidates) => candidates.filter(({ labels }) => conditions.every((condition) => condition(labels))),
      refuse: () => new RouterError("no_ready_endpoint", message, { retryAfterS: 1 }),
    };
  },
});

/** One condition as a test on labels. NotIn also holds for a missing label. */
function holds({ key, operator, values }: z.output<typeof expression>): (labels: Labels) => boolean {
  const isPresent = (labels: Labels) => Object.hasOwn(labels, key);
  const isListed = (labels: Labels) => isPresent(labels) && values.includes(labels[key]!);
  switch (operator) {
    case "In":
      return isListed;
    case "NotIn":
      return (labels) => !isListed(labels);
    case "Exists":
      return isPresent;
    case "DoesNotExist":
      return (labels) => !isPresent(labels);
  }
}
