/** What the router's process held when so many requests had ended. */
export interface Sample {
  readonly requests: number;
  /** Bytes of the machine's memory, and of what is still reachable. */
  readonly resident: number;
  readonly live: number;
}

/** Growth of memory in the second half of a run. */
export interface Growth {
  /** Bytes that each request leaves behind; the median over all pairs of samples, so that single outliers don't count. */
  readonly residentPerRequest: number;
  readonly livePerRequest: number;
  /** Requests in that half. */
  readonly requests: number;
}

/**
 * What memory may grow by in the second half: so much for each request, and so much that needs no reason. Code that a runtime
 * compiles late was up to 0.8 MB of live memory in the second minute. With 5,000 requests in that half the bound is 400 bytes each.
 */
const BOUNDS = {
  live: { perRequest: 100, anyway: 1.5e6 },
  resident: { perRequest: 200, anyway: 8e6 },
} as const;

export function growthOf(samples: readonly Sample[]): Growth {
  const half = samples.slice(Math.floor(samples.length / 2));
  const slope = (bytes: (sample: Sample) => number) => medianSlope(half.map((each) => [each.requests, bytes(each)]));
  return {
    residentPerRequest: slope(({ resident }) => resident),
    livePerRequest: slope(({ live }) => live),
    requests: (half.at(-1)?.requests ?? 0) - (half[0]?.requests ?? 0),
  };
}

/** Sentences that name each bound that was exceeded; none if memory did not grow. */
export function growthProblems({ residentPerRequest, livePerRequest, requests }: Growth): readonly string[] {
  const check = (what: string, perRequest: number, bound: (typeof BOUNDS)[keyof typeof BOUNDS]) => {
    const most = bound.perRequest + bound.anyway / Math.max(1, requests);
    if (perRequest <= most) return [];
    return [`${what} grows by ${Math.round(perRequest)} bytes a request, more than ${Math.round(most)}`];
  };
  if (!Number.isFinite(livePerRequest) || !Number.isFinite(residentPerRequest)) return ["memory was not measured"];
  return [...check("live memory", livePerRequest, BOUNDS.live), ...check("resident memory", residentPerRequest, BOUNDS.resident)];
}

/** The median of the slopes between all pairs of points (Theil and Sen); NaN for fewer than two. */
function medianSlope(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes: number[] = [];
  for (const [index, [fromX, fromY]] of points.entries()) {
    for (const [x, y] of points.slice(index + 1)) if (x > fromX) slopes.push((y - fromY) / (x - fromX));
  }
  slopes.sort((a, b) => a - b);
  return slopes[Math.floor(slopes.length / 2)] ?? Number.NaN;
}
