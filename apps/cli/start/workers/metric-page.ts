/** One family of a page of metrics in the Prometheus text format: its lines of comment, and its samples by name and labels. */
export interface Family {
  readonly name: string;
  readonly type: string;
  readonly head: string;
  readonly samples: Map<string, number>;
}

export type MetricPage = ReadonlyMap<string, Family>;

/** Reads a page that this program has written. */
export function readPage(text: string): MetricPage {
  const families = new Map<string, Family>();
  let family: Family | undefined;
  let help = "";
  for (const line of text.split("\n")) {
    if (line.startsWith("# HELP ")) help = line;
    else if (line.startsWith("# TYPE ")) {
      const [name = "", type = ""] = line.slice("# TYPE ".length).split(" ");
      family = { name, type, head: `${help}\n${line}\n`, samples: new Map() };
      families.set(name, family);
    } else if (line !== "" && !line.startsWith("#")) {
      const end = line.lastIndexOf(" ");
      family?.samples.set(line.slice(0, end), Number(line.slice(end + 1)));
    }
  }
  return families;
}

/** The pages as one. `ofGauges` says how values of a gauge become one; all else is summed. */
export function mergedPages(
  pages: readonly MetricPage[],
  ofGauges: (name: string) => (one: number, other: number) => number,
): MetricPage {
  const merged = new Map<string, Family>();
  for (const page of pages)
    for (const [name, family] of page) {
      const known = merged.get(name) ?? { ...family, samples: new Map<string, number>() };
      merged.set(name, known);
      const join = family.type === "gauge" ? ofGauges(name) : sum;
      for (const [series, value] of family.samples) {
        const before = known.samples.get(series);
        known.samples.set(series, before === undefined ? value : join(before, value));
      }
    }
  return merged;
}

const sum = (one: number, other: number) => one + other;

/** What only grows: what ended workers have counted stays in the sums. */
export function countersOf(page: MetricPage): MetricPage {
  return new Map([...page].filter(([, { type }]) => type !== "gauge"));
}

export function pageText(page: MetricPage): string {
  let text = "";
  for (const { head, samples } of page.values()) {
    text += head;
    for (const [series, value] of samples) text += `${series} ${valueText(value)}\n`;
  }
  return text;
}

function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}
