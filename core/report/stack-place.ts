const MOST_FRAMES = 50;

/**
 * The first line of a thrown value's stack that lies in `file` (an absolute path), as "file:line" or "file:line:column"; "" if none
 * does.
 */
export function stackPlace(thrown: unknown, file: string): string {
  if (file === "") return "";
  for (const frame of stackOf(thrown).split("\n", MOST_FRAMES)) {
    const text = decoded(frame);
    const at = text.indexOf(file);
    if (at === -1) continue;
    // A loader may put a query between the file and the line.
    const [, line, column] = /^(?:\?[^:\s)]*)?:(\d+)(?::(\d+))?/.exec(text.slice(at + file.length)) ?? [];
    if (line !== undefined) return column === undefined ? `${file}:${line}` : `${file}:${line}:${column}`;
  }
  return "";
}

/** A plugin may throw what fails when it is read. */
function stackOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.stack) : "";
  } catch {
    return "";
  }
}

/** Some runtimes write paths as URLs. */
function decoded(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}
