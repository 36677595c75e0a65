import type { Dialect } from "../../../core/contract/errors.ts";
import type { PrincipalLimits } from "../../../core/contract/principal.ts";
import type { Account, Left } from "./account.ts";

/** What is left of the limits, as header lines of the API's own; "" where there is none. Written out, because a closure costs more. */
export function limitLines(account: Account, limits: PrincipalLimits, dialect: Dialect, nowMs: number, wallMs: number): string {
  const requests = account.requestsLeft(limits, nowMs);
  const tokens = account.tokensLeft(limits, nowMs);
  return dialect === "anthropic"
    ? anthropicLines("requests", requests, wallMs) + anthropicLines("tokens", tokens, wallMs)
    : openaiLines("requests", requests) + openaiLines("tokens", tokens);
}

function openaiLines(what: string, left: Left | undefined): string {
  if (left === undefined) return "";
  return (
    `x-ratelimit-limit-${what}: ${left.limit}\r\nx-ratelimit-remaining-${what}: ${left.remaining}\r\n` +
    `x-ratelimit-reset-${what}: ${left.resetS}s\r\n`
  );
}

function anthropicLines(what: string, left: Left | undefined, wallMs: number): string {
  if (left === undefined) return "";
  const reset = new Date(wallMs + 1000 * left.resetS).toISOString().replace(/\.\d+/, "");
  return (
    `anthropic-ratelimit-${what}-limit: ${left.limit}\r\nanthropic-ratelimit-${what}-remaining: ${left.remaining}\r\n` +
    `anthropic-ratelimit-${what}-reset: ${reset}\r\n`
  );
}
