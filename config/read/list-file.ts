import { isUtf8 } from "node:buffer";
import { setImmediate } from "node:timers/promises";
import { z } from "../../core/contract/options.ts";
import type { Position } from "../../core/router-config.ts";
import { readBounded } from "../../core/runtime/read-file.ts";
import { type Place, readDocuments } from "./documents.ts";
import { besideFile, unreadableFile } from "./files.ts";
import { fit } from "./fit.ts";
import { type Finding, type Path, type Problem, quoted } from "./problems.ts";

const MOST_BYTES = 16 * 1024 * 1024;
/** So many items are read at once: thousands would hold up the requests of a running router. */
const PIECE_ITEMS = 100;

/** An item of a list in a file of its own. */
export interface PlacedItem<Item> {
  readonly item: Item;
  readonly position: Position;
  readonly path: Path;
}

/**
 * Reads a YAML file that is one list, a piece at a time. `written` is its path relative to the document of `place`. Adds it to `files`,
 * and what is wrong in it to `problems`, which never quote a value; a file that can't be read is reported at `at`.
 */
export async function readListFile<Item>(
  written: string,
  item: z.ZodType<Item>,
  { file: from, report }: Place,
  at: Path,
  files: Set<string>,
  problems: Problem[],
): Promise<readonly PlacedItem<Item>[]> {
  const file = besideFile(from, written);
  files.add(file);
  const text = await textOf(file);
  if (typeof text !== "string") {
    report(at, text);
    return [];
  }
  const list = z.array(item);
  const items: PlacedItem<Item>[] = [];
  let lines = 0;
  for (const piece of pieces(text)) {
    const own: Problem[] = [];
    const inFile = (position: Position) => ({ ...position, line: position.line + lines });
    for (const document of readDocuments(file, piece, own)) {
      const found = fit(document, list, {}, true);
      for (const [index, one] of (found?.document ?? []).entries())
        items.push({ item: one, position: inFile(document.positionOf([index])), path: [] });
    }
    problems.push(...own.map((problem) => ({ ...problem, ...inFile(problem) })));
    lines += piece.split("\n").length - 1;
    await setImmediate();
  }
  return items;
}

async function textOf(file: string): Promise<string | Finding> {
  try {
    const bytes = await readBounded(file, MOST_BYTES);
    if (bytes.length > MOST_BYTES)
      return { found: `the file ${quoted(file)}, which is larger than 16 MiB`, wanted: "a smaller one" };
    if (!isUtf8(bytes)) return { found: `the file ${quoted(file)}, which is not UTF-8 text`, wanted: "a file saved as UTF-8" };
    return bytes.toString("utf8");
  } catch (thrown) {
    return unreadableFile(file, thrown);
  }
}

/**
 * A text that is a list in block style, in pieces: YAML has "- " at the beginning of a line nowhere else than before an item of the
 * outermost list. Any other text is one piece.
 */
function pieces(text: string): readonly string[] {
  if (!/^(?:#.*\r?\n|\s*\r?\n|---\r?\n)*- /.test(text)) return [text];
  const items = text.split(/^(?=- )/m);
  const count = Math.ceil(items.length / PIECE_ITEMS);
  return Array.from({ length: count }, (_, piece) => items.slice(piece * PIECE_ITEMS, (piece + 1) * PIECE_ITEMS).join(""));
}
