import type { Admission, Waiting } from "../../../core/contract/admission.ts";

/** The most waiting requests that are looked at to find one that there is room for. */
const LOOKED_AT = 64;

/** Lets requests go on in the order in which they came. Used when the config's plugin fails. */
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
