/**
 * One rule of a rewrite resource, validated, with defaults filled in. Lists of rules are in the order in which they are
 * matched.
 */
export interface RewriteRule {
  /** The resource's name and the rule's index in it, such as "food-review/0". */
  readonly name: string;
  /** Model names that the rule matches exactly; an empty list matches every request. */
  readonly models: readonly string[];
  readonly targets: readonly RewriteTarget[];
  /** Header (lower case) whose value pins a client to one target; "" for none. */
  readonly stickyHeader: string;
  /** What to do when no ready replica serves the drawn target. */
  readonly onUnavailable: "refuse" | "redistribute";
}

export interface RewriteTarget {
  /** Model or adapter name that the replica gets. */
  readonly name: string;
  /** Share relative to the other targets; 0 is listed but drained. At least one is above 0. */
  readonly weight: number;
}
