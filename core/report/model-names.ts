import { RouterError } from "../contract/errors.ts";
import { printable } from "../contract/printable.ts";
import { closestName } from "./closest-name.ts";

const NAMES_SHOWN = 10;
/** Longer names are counted, not shown. */
const LONGEST_SHOWN = 128;

/** Any client can mistype names as often as it likes. */
const MOST_COMPARED = 50;

/** What a client may ask for. */
export interface ModelNames {
  /** What rewrites stand for: the names that clients should use. */
  readonly clientModels: readonly string[];
  /** What replicas list. */
  readonly listed: Iterable<string>;
}

/** The error for a model that there is not: it names those that there are, the names of rewrites first. `what` is the fault. */
export function modelNotFound(what: string, asked: string, { clientModels, listed }: ModelNames): RouterError {
  const names = [...new Set([...clientModels, ...[...new Set(listed)].sort()])];
  if (names.length === 0) return new RouterError("model_not_found", `${what}; no replica has listed one yet.`);
  const shown = names.filter((name) => name.length <= LONGEST_SHOWN).slice(0, NAMES_SHOWN);
  const hidden = names.length - shown.length;
  const more = hidden > 0 ? ` and ${hidden} more that GET /v1/models lists` : "";
  const closest = closestName(asked, names, MOST_COMPARED);
  const hint = closest === undefined ? "" : ` (did you mean "${printable(closest)}"?)`;
  return new RouterError("model_not_found", `${what}${hint}; set "model" to one of: ${shown.map(printable).join(", ")}${more}.`);
}
