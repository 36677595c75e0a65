import { CommandError, type Input, UsageError } from "../../../config/command.ts";
import { readDocuments } from "../../../config/read/documents.ts";
import { readFiles } from "../../../config/read/files.ts";
import { fit } from "../../../config/read/fit.ts";
import { sortByKind } from "../../../config/read/kinds.ts";
import { formatProblems, inReadingOrder, type Problem } from "../../../config/read/problems.ts";
import { type RewriteDocument, rewriteDocument } from "../../../config/rewrites/schema.ts";
import { printableLines } from "../../../core/contract/printable.ts";
import { apiPath, changeThroughAdmin } from "../admin/ask-admin.ts";
import { type ChangedRewrite, changedText, howOf } from "./rewrites.ts";

/** `signalbox apply`: puts the rewrites of files into a running router. Returns the exit code. */
export async function apply(input: Input): Promise<number> {
  const files = [...input.all("file"), ...input.words];
  if (files.length === 0) throw new UsageError("Name the files to apply: signalbox apply -f food-review.yaml");
  const documents = await readRewriteFiles(files);
  const changed: ChangedRewrite[] = [];
  for (const document of documents) {
    const { name } = document.metadata;
    const path = apiPath(["rewrites", name], howOf(input));
    changed.push(await changeThroughAdmin<ChangedRewrite>(input, "PUT", path, document));
    if (!input.isJson) process.stdout.write(`${changedText(name, changed.at(-1)!)}\n`);
  }
  if (input.isJson) process.stdout.write(`${JSON.stringify(changed)}\n`);
  return 0;
}

/** The rewrites of the files. Rejects with a CommandError that lists every problem. */
async function readRewriteFiles(files: readonly string[]): Promise<readonly RewriteDocument[]> {
  const problems: Problem[] = [];
  const texts = await readFiles(files, problems);
  const sorted = sortByKind(texts.flatMap(({ file, text }) => readDocuments(file, text, problems)));
  for (const { report } of [...sorted.Router, ...sorted.InferenceObjective, ...sorted.EndpointPickerConfig])
    report(["kind"], {
      found: "a document that can't be applied",
      wanted: "InferenceModelRewrite",
      hint: "Change it in the router's own file, then: signalbox reload",
    });
  const resources = sorted.InferenceModelRewrite.flatMap((document) => fit(document, rewriteDocument) ?? []);
  const documents = resources.map(({ document }) => document);
  if (problems.length > 0) {
    const order = texts.map(({ file }) => file);
    throw new CommandError(1, `Nothing was applied.\n${printableLines(formatProblems(inReadingOrder(problems, order)))}`);
  }
  if (documents.length === 0) throw new CommandError(1, "The files hold no InferenceModelRewrite, so there is nothing to apply.");
  return documents;
}
