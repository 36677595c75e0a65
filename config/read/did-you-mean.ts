import { closestName } from "../../core/report/closest-name.ts";
import { quoted } from "./problems.ts";

/** A hint that names the candidate most similar to a mistyped word; "" when none is similar enough. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const closest = closestName(word, candidates);
  return closest === undefined ? "" : `Did you mean ${quoted(closest)}?`;
}
