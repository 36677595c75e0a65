import type { Fault, FaultKind } from "../../simulate/faults.ts";
import { numberArgument, UsageError } from "../frame/usage.ts";

const LAST_S = 1e7;

/** Reads "2:slow:4:60-120": place, kind, what the kind needs, and times in seconds. Throws UsageError. */
export function faultArgument(text: string, replicas: number): Fault {
  const [place = "", kind = "", ...rest] = text.split(":");
  const replica = numberArgument("--fault (replica)", place, 1, replicas, true) - 1;
  const what = kindOf(kind, rest);
  const [times, ...others] = rest;
  if (others.length > 0) throw new UsageError(`--fault wants N:KIND[:FROM[-UNTIL]], not "${text}".`);
  if (kind === "restart" && times === undefined)
    throw new UsageError(`--fault wants a time at which replica ${place} restarts, for example ${place}:restart:60.`);
  return { replica, ...what, ...spanOf(times) };
}

/** As it is written on the command line. */
export function faultText(fault: Fault): string {
  const value = fault.kind === "slow" ? [fault.factor] : fault.kind === "flap" ? [fault.seconds] : [];
  const until = fault.untilS === undefined ? "" : `-${fault.untilS}`;
  const times = fault.fromS === 0 && until === "" && fault.kind !== "restart" ? [] : [`${fault.fromS}${until}`];
  return [fault.replica + 1, fault.kind, ...value, ...times].join(":");
}

/** Takes what belongs to the kind out of `rest`. */
function kindOf(kind: string, rest: string[]): FaultKind {
  switch (kind) {
    case "error":
    case "hang":
    case "restart":
      return { kind };
    case "slow":
      return { kind, factor: numberArgument("--fault (slow:FACTOR)", rest.shift() ?? "", 1, 1_000) };
    case "flap":
      return { kind, seconds: numberArgument("--fault (flap:SECONDS)", rest.shift() ?? "", 0.001, LAST_S) };
    default:
      throw new UsageError(`--fault knows error, hang, slow:FACTOR, flap:SECONDS and restart, not "${kind}".`);
  }
}

function spanOf(text: string | undefined): Pick<Fault, "fromS" | "untilS"> {
  if (text === undefined) return { fromS: 0, untilS: undefined };
  const [from = "", until] = text.split(/-(.*)/s, 2);
  const fromS = numberArgument("--fault (FROM)", from, 0, LAST_S);
  if (until === undefined) return { fromS, untilS: undefined };
  const untilS = numberArgument("--fault (UNTIL)", until, 0, LAST_S);
  if (untilS <= fromS) throw new UsageError(`--fault wants times of which the second is later, such as 60-120, not "${text}".`);
  return { fromS, untilS };
}
