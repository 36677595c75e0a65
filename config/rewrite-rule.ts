/** One rule of a rewrite resource, checked and complete; a list of them is in the order they are asked. */
export interface RewriteRule {
  /** The resource's name and the rule's place in it: "food-review/0". */
  readonly name: string;
  /** Names a client may ask for, matched exactly; empty matches every request. */
  readonly models: readonly string[];
  readonly targets: readonly RewriteTarget[];
  /** Header (lower case) whose value pins a client to one target; "" for none. */
  readonly stickyHeader: string;
  /** What happens to a request drawn to a target that no ready replica serves. */
  readonly onUnavailable: "refuse" | "redistribute";
}

export interface RewriteTarget {
  /** Model or adapter name that is sent on. */
  readonly name: string;
  /** Share relative to the other targets; 0 is listed but drained. At least one is above 0. */
  readonly weight: number;
}
