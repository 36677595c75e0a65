/** A figure may differ by this share of what a file has. */
const SLACK = 0.03;

export type Figures = Readonly<Record<string, number>>;

/** Names each figure that is more or less than the file has; one that only one side has counts as 0 on the other. */
export function changedFigures(saved: Figures, counted: Figures, file: string): string[] {
  const names = new Set([...Object.keys(saved), ...Object.keys(counted)]);
  return [...names].flatMap((name) => {
    const [was, is] = [saved[name] ?? 0, counted[name] ?? 0];
    return Math.abs(is - was) <= was * SLACK ? [] : [`${inWords(is)} ${name}, and ${inWords(was)} in ${file}`];
  });
}

function inWords(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: value < 1000 ? 1 : 0 });
}
