import type { Dialect } from "../../contract/errors.ts";
import type { PrincipalLimits } from "../../contract/principal.ts";
import type { Account, Left } from "./account.ts";

/** What is left of the limits, as header lines of the API's own; "" where there is none. */
export function limitLines(account: Account, limits: PrincipalLimits, dialect: Dialect, nowMs: number, wallMs: number): string {
  const line = dialect === "anthropic" ? anthropicLines : openaiLines;
  return (
    line("requests", account.requestsLeft(limits, nowMs), wallMs) + line("tokens", account.tokensLeft(limits, nowMs), wallMs)
  );
}

function openaiLines(what: string, left: Left | undefined): string {
  if (left === undefined) return "";
  const { limit, remaining, resetS } = left;
  const ending = (key: string, value: string | number) => `x-ratelimit-${key}-${what}: ${value}\r\n`;
  return ending("limit", limit) + ending("remaining", remaining) + ending("reset", `${resetS}s`);
}

function anthropicLines(what: string, left: Left | undefined, wallMs: number): string {
  if (left === undefined) return "";
  const { limit, remaining, resetS } = left;
  const reset = new Date(wallMs + 1000 * resetS).toISOString().replace(/\.\d+/, "");
  const ending = (key: string, value: string | number) => `anthropic-ratelimit-${what}-${key}: ${value}\r\n`;
  return ending("limit", limit) + ending("remaining", remaining) + ending("reset", reset);
}
