import { printable } from "../../core/contract/printable.ts";

// The part of the Prometheus text format that is needed here.

export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Takes the place of label values beyond the limit of series, and of names that neither the config nor a replica has. */
export const OTHER = "other";

/** The HELP and TYPE lines before a family's samples. */
export function familyHead(name: string, type: "counter" | "gauge" | "histogram", help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

/** The line of one sample; `values` holds the values of `labels`, in the same order. */
export function sampleLine(name: string, labels: readonly string[], values: readonly string[], value: number): string {
  return `${name}${labels.length === 0 ? "" : `{${labelPairs(labels, values)}}`} ${value}\n`;
}

/** A family of one sample without labels. */
export function single(name: string, type: "counter" | "gauge", help: string, value: number): string {
  return familyHead(name, type, help) + sampleLine(name, [], [], value);
}

/** The labels of a series as they stand between the braces. Names come from outside: a NUL would end the page for its reader. */
export function labelPairs(labels: readonly string[], values: readonly string[]): string {
  return labels.map((label, index) => `${label}="${escaped(values[index] ?? "")}"`).join(",");
}

function escaped(text: string): string {
  return printable(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"');
}
