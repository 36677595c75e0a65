/**
 * The version of what plugins are written against. A new minor adds, or marks something as deprecated; that goes two minors later at the
 * earliest. So a plugin that was written for this minor or one of the two before it works.
 *
 * @example
 * export default defineScorer({ type: "mine", summary: "", contract: "1.0", create: () => ({ score: () => [1, 0] }) });
 */
export const CONTRACT_VERSION = "1.0";

const KEPT_MINORS = 2;

/** Why a router with contract `current` can't run a plugin that was written for `wanted`; "" if it can. */
export function contractProblem(wanted: unknown, current: string = CONTRACT_VERSION): string {
  const [major, minor] = numbersOf(wanted);
  const [ownMajor, ownMinor] = numbersOf(current) as readonly [number, number];
  if (major === undefined || minor === undefined)
    return `is for the contract ${shown(wanted)}, which is no version: write contract: "${current}".`;
  const has = `for contract ${major}.${minor}, and this router has ${current}`;
  if (major > ownMajor || (major === ownMajor && minor > ownMinor)) return `is ${has}: take a newer router.`;
  if (major === ownMajor && minor >= ownMinor - KEPT_MINORS) return "";
  const oldest = `${ownMajor}.${Math.max(0, ownMinor - KEPT_MINORS)}`;
  return `is ${has}, which runs plugins from ${oldest} on: mend what its types mark, then write contract: "${current}".`;
}

function shown(wanted: unknown): string {
  return typeof wanted === "string" ? JSON.stringify(wanted.slice(0, 20)) : `of the type ${typeof wanted}`;
}

function numbersOf(version: unknown): readonly number[] {
  const [, major = "", minor = ""] = /^(\d{1,6})\.(\d{1,6})$/.exec(typeof version === "string" ? version : "") ?? [];
  return major === "" ? [] : [Number(major), Number(minor)];
}
