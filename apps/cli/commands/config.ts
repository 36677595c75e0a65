import { writeFileSync } from "node:fs";
import { CommandError, type Input, print, UsageError } from "../../../config/command.ts";
import { loadConfig } from "../../../config/load.ts";
import { problemsOfOwn } from "../../../config/plugins/try-out.ts";
import { readDocuments } from "../../../config/read/documents.ts";
import { readFiles, STANDARD_INPUT } from "../../../config/read/files.ts";
import { formatProblems, type Problem, placeText } from "../../../config/read/problems.ts";
import { NO_OVERLAY } from "../../../config/rewrites/overlay.ts";
import { rewriteResources } from "../../../config/rewrites/resources.ts";
import { checkConfig } from "../../../config/show/check.ts";
import { effectiveConfig } from "../../../config/show/effective.ts";
import { formatted } from "../../../config/show/format.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { printableLines } from "../../../core/contract/printable.ts";
import { askAdmin } from "../admin/ask-admin.ts";
import { foreignHints } from "../import/foreign.ts";
import { colouredProblems } from "../show/colour.ts";
import { configText, type ShownConfig, type ShownRewrites } from "../show/config-text.ts";
import { configHistory, configRollback } from "./config-history.ts";

type Registry = ReadonlyMap<string, Definition>;

/** `signalbox config print|fmt|history|rollback`. Returns the exit code. */
export async function config(input: Input, registry: Registry): Promise<number> {
  const [action, ...words] = input.words;
  if (action === "print" && words.length === 0) return printConfig(input, registry);
  if (action === "fmt") return format([...input.all("file"), ...words], input.has("check"));
  if (action === "history" && words.length === 0) return configHistory(input);
  if (action === "rollback" && words.length <= 1) return configRollback(input, words[0]);
  throw new UsageError(
    "Write: signalbox config print [--effective] [-f FILE], config fmt FILE..., config history, or config rollback [GENERATION].",
  );
}

async function printConfig(input: Input, registry: Registry): Promise<number> {
  const files = input.all("file");
  const shown = files.length > 0 ? await fromFiles(files, registry) : await fromRouter(input);
  return print(input, shown, () => `${configText(shown, input.has("effective"))}\n`);
}

async function fromFiles(files: readonly string[], registry: Registry): Promise<ShownConfig> {
  const loaded = await loadConfig(files, registry);
  if (loaded.problems !== undefined) throw new CommandError(1, printableLines(formatProblems(loaded.problems)));
  const rewrites = rewriteResources(loaded.texts, NO_OVERLAY).map(({ position, document }) => ({
    origin: placeText(position) ?? "",
    document,
  }));
  return { ...effectiveConfig(loaded, {}), rewrites };
}

async function fromRouter(input: Input): Promise<ShownConfig> {
  const shown = await askAdmin<ShownConfig>(input, "/api/v1/config");
  return { ...shown, ...(await askAdmin<ShownRewrites>(input, "/api/v1/rewrites")) };
}

async function format(paths: readonly string[], isCheck: boolean): Promise<number> {
  if (paths.length === 0) throw new UsageError("Name the files to format: signalbox config fmt signalbox.yaml");
  const problems: Problem[] = [];
  const texts = await readFiles(paths, problems);
  for (const { file, text } of texts) readDocuments(file, text, problems);
  if (problems.length > 0) throw new CommandError(1, `Nothing was formatted.\n${printableLines(formatProblems(problems))}`);
  const all = texts.map(({ file, text }) => ({ file, text, next: formatted(file, text) }));
  const changed = all.filter(({ text, next }) => text !== next);
  if (!isCheck) for (const { file, next } of changed) if (file !== STANDARD_INPUT) writeFileSync(file, next);
  // What came from the standard input goes to the standard output, changed or not.
  const piped = isCheck ? undefined : all.find(({ file }) => file === STANDARD_INPUT);
  if (piped !== undefined) process.stdout.write(piped.next);
  const told = changed.filter((each) => each !== piped);
  const verb = isCheck ? "is not formatted" : "formatted";
  (piped === undefined ? process.stdout : process.stderr).write(
    printableLines(told.map(({ file }) => `${file}: ${verb}\n`).join("")),
  );
  return isCheck && changed.length > 0 ? 1 : 0;
}

/** `signalbox check`: prints every problem, or a summary of a valid config and its warnings. Returns the exit code. */
export async function check(input: Input, registry: Registry): Promise<number> {
  const isUrl = (word: string) => /^https?:\/\//i.test(word);
  const paths = [...input.all("file"), ...input.words.filter((word) => !isUrl(word))];
  if (paths.length === 0) throw new UsageError("Name the files to check: signalbox check -f signalbox.yaml");
  const options = {
    paths,
    urls: input.words.filter(isUrl),
    isJson: input.isJson,
    isStrict: input.has("strict"),
    tryOut: problemsOfOwn,
  };
  const { text, isValid } = await checkConfig(options, registry);
  const hints = isValid || input.isJson ? "" : await foreignHints(paths, registry);
  const shown = input.asCalled(`${printableLines(text.trimEnd() + hints)}\n`);
  process.stdout.write(input.isJson ? shown : colouredProblems(shown));
  return isValid ? 0 : 1;
}
