import { type ConfigDocument, readDocuments } from "../../../config/read/documents.ts";
import { formatProblems, type Problem } from "../../../config/read/problems.ts";
import { printableLines } from "../../contract/printable.ts";
import { CommandError } from "../frame/usage.ts";
import type { Draft } from "./draft.ts";
import { notUnderstood } from "./finding.ts";
import type { SourceText } from "./source.ts";

/**
 * The document of a YAML source; texts in it mean what they say. Throws a CommandError that names every place that is no YAML.
 */
export function onlyDocument({ file, text }: SourceText, draft: Draft): ConfigDocument {
  const problems: Problem[] = [];
  const [document, ...others] = readDocuments(file, text, problems, false);
  if (problems.length > 0) throw new CommandError(1, printableLines(formatProblems(problems)));
  if (document === undefined) throw new CommandError(1, `${file} holds no document.`);
  for (const other of others)
    draft.find("a further document", other.positionOf([]).line, notUnderstood("only the first one of a file is read"));
  return document;
}
