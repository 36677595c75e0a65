// The part of the Prometheus text format that is needed here.

export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The HELP and TYPE lines before a family's samples. */
export function familyHead(name: string, type: "counter" | "gauge" | "histogram", help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

/** The line of one sample; `values` holds the values of `labels`, in the same order. */
export function sampleLine(name: string, labels: readonly string[], values: readonly string[], value: number): string {
  const pairs = labels.map((label, index) => `${label}="${escaped(values[index] ?? "")}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
