import type { Admission, Waiting } from "../../contract/admission.ts";

/** Whom to look at, at most, for one that there is room for. */
const LOOKED_AT = 64;

/** The order in which requests came: for when the config's plugin fails. */
export function firstCome(): Admission {
  const line = new Set<Waiting>();
  return {
    join: (request) => void line.add(request),
    leave: (request) => void line.delete(request),
    take({ isFor }) {
      let left = LOOKED_AT;
      for (const request of line) {
        if (isFor(request)) {
          line.delete(request);
          return request;
        }
        left -= 1;
        if (left === 0) break;
      }
      return undefined;
    },
    least: (newcomer) => newcomer,
  };
}
