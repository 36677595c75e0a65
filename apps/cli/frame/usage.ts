import { CommandError, UsageError } from "../../../config/command.ts";
import { urlHint } from "../../../config/router/url-hint.ts";
import type { EndpointUrl } from "../../../core/contract/endpoint.ts";
import { parseEndpointUrl } from "../../../core/contract/endpoint-url.ts";
import { printableLines } from "../../../core/contract/printable.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";

/** What `parseArgs` of node:util threw, as one line; `help` is the command that lists the switches. */
export function switchError(thrown: unknown, help: string): UsageError {
  return new UsageError(`${thrownMessage(thrown).split(/\.?\n|\. To specify/)[0]}; ${help} lists the switches.`);
}

/** What --url takes. */
export const CLIENTS_URL_WANTED = "--url wants the address where clients connect, such as http://127.0.0.1:8080";

/** Reads an address; `wanted` says what the argument takes, without a full stop. Throws UsageError, which does not quote what may hold a secret. */
export function urlArgument(text: string, wanted: string): EndpointUrl {
  try {
    return parseEndpointUrl(text);
  } catch (thrown) {
    throw new UsageError(`${wanted}.${urlHint(text) || ` ${thrownMessage(thrown)}`}`);
  }
}

/** Reads a number within bounds; `name` is what the message calls it. Throws UsageError. */
export function numberArgument(name: string, text: string, min: number, max: number, isWhole = false): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
  throw new UsageError(`${name} wants a ${isWhole ? "whole " : ""}number from ${min} to ${max}, not "${text}".`);
}

/** What a command that failed prints on the standard error, and its exit code. */
export function failureOf(thrown: unknown): { readonly text: string; readonly code: number } {
  const text = printableLines(`signalbox: ${thrownMessage(thrown)}\n`);
  return { text, code: thrown instanceof CommandError ? thrown.exitCode : 1 };
}
