const MOST_FRAMES = 50;

/**
 * The first line of a thrown value's stack that lies in `file` (an absolute path), as "file:line" or "file:line:column"; "" if none
 * does.
 */
export function stackPlace(thrown: unknown, file: string): string {
  if (file === "" || !(thrown instanceof Error) || typeof thrown.stack !== "string") return "";
  for (const frame of thrown.stack.split("\n", MOST_FRAMES)) {
    const text = decoded(frame);
    const at = text.indexOf(`${file}`);
    if (at === -1) continue;
    // A loader may put a query between the file and the line.
    const [, line, column] = /^(?:\?[^:\s)]*)?:(\d+)(?::(\d+))?/.exec(text.slice(at + file.length)) ?? [];
    if (line !== undefined) return column === undefined ? `${file}:${line}` : `${file}:${line}:${column}`;
  }
  return "";
}

/** Some runtimes write paths as URLs. */
function decoded(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}
