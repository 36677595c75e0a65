import { type ConfigDocument, readDocuments } from "../../config/read/documents.ts";
import { formatProblems, type Problem } from "../../config/read/problems.ts";
import { printableLines } from "../../core/contract/printable.ts";
import type { Draft } from "./draft.ts";
import { notUnderstood } from "./finding.ts";
import { ImportError } from "./import-error.ts";
import type { SourceText } from "./source.ts";

/**
 * The document of a YAML source; texts in it mean what they say. Throws an ImportError that names every place that is no YAML.
 */
export function onlyDocument({ file, text }: SourceText, draft: Draft): ConfigDocument {
  const problems: Problem[] = [];
  const [document, ...others] = readDocuments(file, text, problems, false);
  if (problems.length > 0) throw new ImportError(printableLines(formatProblems(problems)));
  if (document === undefined) throw new ImportError(`${file} holds no document.`);
  for (const other of others)
    draft.find("a further document", other.positionOf([]).line, notUnderstood("only the first one of a file is read"));
  return document;
}
