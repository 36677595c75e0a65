/** When one target of a rule is stopped, with every default filled in. Plain data. */
export interface GuardConfig {
  /** The rule's and the target's names, such as "food-review/0 food-review-v2". */
  readonly name: string;
  readonly rule: string;
  readonly target: string;
  /** The target that it is compared with. */
  readonly against: string;
  /** Where the rule is: its resource, and its index there. */
  readonly place: { readonly namespace: string; readonly resource: string; readonly index: number };
  /** Header whose value pins a client to one target; "" for none. */
  readonly stickyHeader: string;
  /** How much worse than the other one it may be: points of the error rate, part of the time to the first byte. */
  readonly worseBy: { readonly errorRate: number | undefined; readonly ttft: number | undefined };
  /** 1 minus the probability that it ever stops a target that is not worse; in (0, 1). */
  readonly confidence: number;
  /** Requests to the target before which it is not stopped. */
  readonly minRequests: number;
  /** It is written in an annotation of the rewrite. */
  readonly isAnnotation: boolean;
}
