import { z } from "./options.ts";

const key = z.string().min(1).describe("The name of a label.");
const operator = "In and NotIn have values; Exists and DoesNotExist have none.";
const values = "Values of that label.";
const expression = z.discriminatedUnion("operator", [
  z.strictObject({
    key,
    operator: z.enum(["In", "NotIn"]).describe(operator),
    values: z.array(z.string()).min(1).describe(values),
  }),
  z.strictObject({
    key,
    operator: z.enum(["Exists", "DoesNotExist"]).describe(operator),
    values: z.array(z.string()).max(0).default([]).describe(values),
  }),
]);

/** A Kubernetes label selector: all its conditions must hold; an empty selector matches all labels. */
export const labelSelector = z.strictObject({
  matchLabels: z.record(key, z.string()).default({}).describe("Labels and their values."),
  matchExpressions: z.array(expression).default([]).describe("Further conditions."),
});

/** @public */
export type LabelSelector = z.output<typeof labelSelector>;
type Labels = Readonly<Record<string, string>>;

/**
 * The selector as a test on labels.
 *
 * @example
 * const isH100 = matches({ matchLabels: { gpu: "h100" }, matchExpressions: [] });
 */
export function matches({ matchLabels, matchExpressions }: LabelSelector): (labels: Labels) => boolean {
  const conditions = [
    ...Object.entries(matchLabels).map(([key, value]) => holds({ key, operator: "In", values: [value] })),
    ...matchExpressions.map(holds),
  ];
  return (labels) => conditions.every((condition) => condition(labels));
}

/** One condition. NotIn also holds for a missing label. */
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
