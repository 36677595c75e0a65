/** What the number of replicas is made of. */
interface Needed {
  /** Replicas that would be full of the traffic, on average over the window. */
  readonly work: number;
  /** The same over the last tenth of the window. */
  readonly latestWork: number;
  readonly ready: number;
  readonly utilization: number;
  /** Nothing is under way, and the last request came long ago. */
  readonly isIdle: boolean;
}

/** So much more than what is ready: the mean over the whole window would say it too late. */
const PANIC = 2;
/** Sums of fractions are not exact. */
const EPSILON = 1e-9;

/**
 * How many replicas are wanted: ceil(work / utilization), where work is the larger of two numbers of replicas.
 *
 * - Requests under way at once, those that wait included, by how many one replica can have. Their mean is what comes in a second times how
 *   long each stays (Little's law, L = λW: J. Little, Operations Research 9, 1961), so it says what the traffic needs, however many replicas there are.
 * - Prompt tokens that are computed in a second, by how many one replica computes (the utilization law, U = XS: Denning and Buzen, Computing
 *   Surveys 10, 1978).
 *
 * A pool needs at least as many as the busier of the two resources does. As Knative's autoscaler has it (stable and panic window, the second a tenth of the
 * first, and a threshold of 200 %), a burst counts at once when it needs twice what is ready.
 */
export function wantedReplicas({ work, latestWork, ready, utilization, isIdle }: Needed): number {
  const isBurst = latestWork / utilization >= PANIC * Math.max(1, ready);
  const wanted = Math.ceil((isBurst ? Math.max(work, latestWork) : work) / utilization - EPSILON);
  return Math.max(isIdle ? 0 : 1, wanted);
}
