import type { Head } from "../../core/wire/head.ts";
import type { HeaderMutation, HeaderValueOption } from "./ext-proc.ts";

/** How a header is set (envoy.config.core.v3.HeaderValueOption.HeaderAppendAction). */
const APPEND = 0;
const OVERWRITE = 2;

/** They are the gateway's own business: it writes them, or does what they ask. */
const GATEWAYS_OWN =
  /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*|x-forwarded-.*|forwarded|x-envoy-.*|via|content-length)$/;

/**
 * The changes that turn the gateway's head into the one that the router would send; `lines` are the complete header lines of the latter.
 * The body's length and what gateways say of themselves stay as they are.
 */
export function headerChanges(head: Head, lines: string): { set_headers: HeaderValueOption[]; remove_headers: string[] } {
  const wanted = linesByName(lines);
  const kept = new Set<string>();
  const remove_headers: string[] = [];
  for (let i = 0; i < head.count; i++) {
    const name = head.name(i).toLowerCase();
    if (GATEWAYS_OWN.test(name)) continue;
    const values = wanted.get(name);
    if (values?.includes(head.value(i))) kept.add(name);
    else if (values === undefined) remove_headers.push(name);
  }
  const set_headers: HeaderValueOption[] = [];
  for (const [name, values] of wanted) {
    if (!kept.has(name) && !GATEWAYS_OWN.test(name))
      values.forEach((value, index) => void set_headers.push(setHeader(name, value, index > 0)));
  }
  return { set_headers, remove_headers };
}

/** All of the lines, for a response of the router's own. */
export function headersOf(lines: string): HeaderMutation {
  const set_headers: HeaderValueOption[] = [];
  for (const [name, values] of linesByName(lines))
    values.forEach((value, index) => void set_headers.push(setHeader(name, value, index > 0)));
  return { set_headers };
}

export function setHeader(key: string, value: string, isFurther = false): HeaderValueOption {
  return { header: { key, raw_value: Buffer.from(value, "latin1") }, append_action: isFurther ? APPEND : OVERWRITE };
}

function linesByName(lines: string): Map<string, string[]> {
  const byName = new Map<string, string[]>();
  for (const line of lines.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const values = byName.get(name);
    if (values === undefined) byName.set(name, [value]);
    else values.push(value);
  }
  return byName;
}
