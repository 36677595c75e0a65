/** So many times as often as the others' an endpoint's answers may be empty, in odds: prompts differ, and so do replicas. */
const ALLOWED_ODDS = 3;
/** Weights are made smaller from here on, so that none becomes infinite. */
const LARGE = 1e100;

/**
 * The payoff of a block: `ownEmpties` of an endpoint's `own` answers are empty, and `otherEmpties` of the `others` answers elsewhere. It is
 * the number of its own empty ones, less what is to be expected of as many empty ones in all if its odds are ALLOWED_ODDS times the others'
 * (Fisher's noncentral hypergeometric distribution), so under that hypothesis, and for smaller odds, its expectation is at most 0.
 * `lowest` is the least that it can be; 0 where nothing can be learned.
 */
export function allocationPayoff(
  own: number,
  ownEmpties: number,
  others: number,
  otherEmpties: number,
): { readonly payoff: number; readonly lowest: number } {
  const empties = ownEmpties + otherEmpties;
  const least = Math.max(0, empties - others);
  const expected = expectedOwn(own, others, empties, least);
  return { payoff: ownEmpties - expected, lowest: least - expected };
}

/** Each weight is made of the one before: that of one more empty answer among its own. */
function expectedOwn(own: number, others: number, empties: number, least: number): number {
  const most = Math.min(own, empties);
  let weight = 1;
  let sum = 1;
  let weighted = least;
  for (let ownEmpties = least; ownEmpties < most; ownEmpties++) {
    const ways = ((own - ownEmpties) * (empties - ownEmpties)) / ((ownEmpties + 1) * (others - empties + ownEmpties + 1));
    weight *= ALLOWED_ODDS * ways;
    sum += weight;
    weighted += weight * (ownEmpties + 1);
    if (weight < LARGE) continue;
    weight /= LARGE;
    sum /= LARGE;
    weighted /= LARGE;
  }
  return weighted / sum;
}
