import { writeFileSync } from "node:fs";
import { CommandError, type Input, UsageError } from "../../../config/command.ts";
import { loadTexts } from "../../../config/load.ts";
import { type ConfigText, readFiles } from "../../../config/read/files.ts";
import { formatProblems, type Problem } from "../../../config/read/problems.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { printableLines } from "../../../core/contract/printable.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import { commandsIn } from "../../import/command-line.ts";
import { Draft } from "../../import/draft.ts";
import type { Effect } from "../../import/finding.ts";
import { ImportError } from "../../import/import-error.ts";
import { sourceOf } from "../../import/sources.ts";
import { configOf, linesOf } from "../../import/write-config.ts";

type Registry = ReadonlyMap<string, Definition>;

/** Written to the standard error: what somebody has to look at. */
const TOLD: readonly Effect[] = ["left out", "not understood"];

/** `signalbox import`: makes a config of another router's. Returns the exit code: 3 if something was not understood. */
export async function importConfig(input: Input, registry: Registry): Promise<number> {
  try {
    return await imported(input, registry);
  } catch (thrown) {
    if (!(thrown instanceof ImportError)) throw thrown;
    throw thrown.isUsage ? new UsageError(thrown.message) : new CommandError(1, thrown.message);
  }
}

async function imported(input: Input, registry: Registry): Promise<number> {
  const { file, text, urls } = await sourceText(input.words);
  const given = { file, text, commands: commandsIn(text), registry };
  const source = sourceOf(input.text("from"), given);
  const draft = new Draft();
  for (const url of urls) draft.find("a URL of the command line", 0, draft.addEndpoint(url));
  await source.read(given, draft);
  const pool = input.text("inference-pool");
  if (pool !== undefined) draft.set("kubernetes", { inferencePool: pool }, "--inference-pool");
  if (!draft.hasReplicas) throw new CommandError(1, `${told(draft)}${noReplicas(file, source.title)}`);
  const made = configOf(draft, source.title);
  await check(made, registry);
  write(input.text("output"), made);
  const { findings } = draft;
  const count = (effect: Effect) => findings.filter((each) => each.effect === effect).length;
  const summary = `${source.title}: ${count("taken over")} taken over, ${count("changed")} changed, ${count("no meaning here")} without meaning here, ${count("left out")} left out, ${count("not understood")} not understood`;
  process.stderr.write(printableLines(`${told(draft)}${summary}.\n`));
  return count("not understood") > 0 ? 3 : 0;
}

function noReplicas(file: string, title: string): string {
  return `${file} (${title}) names no replica that can be taken over; name them behind it: signalbox import ${file} http://gpu1:8000, or --inference-pool NAME for those of a cluster.`;
}

/** What was left out or not understood, a line each. */
function told({ findings }: Draft): string {
  return TOLD.flatMap((effect) => linesOf(findings, effect).map((line) => `${effect}: ${line}\n`)).join("");
}

/** The text of FILE, or of a command that stands on the command line itself, and further replicas. */
async function sourceText(words: readonly string[]) {
  const [first, ...urls] = words;
  if (first === undefined)
    throw new UsageError(
      "Name the config to import: signalbox import config.yaml, or signalbox import -- smg --worker-urls http://gpu1:8000",
    );
  if (words.some((word) => word.startsWith("--")))
    return { file: "the command line", text: words.map(quoted).join(" "), urls: [] };
  const odd = urls.find((url) => !/^https?:\/\//i.test(url));
  if (odd !== undefined)
    throw new UsageError(`Behind the file come URLs of replicas, not "${odd}"; one file is imported at a time.`);
  const { file, text } = await fileText(first);
  return { file, text: checkedText(file, text), urls };
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

async function fileText(path: string): Promise<ConfigText> {
  const problems: Problem[] = [];
  const texts = await readFiles([path], problems);
  if (problems.length > 0) throw new CommandError(1, printableLines(formatProblems(problems)));
  const [only, ...others] = texts;
  if (only === undefined || others.length > 0)
    throw new UsageError(`${path} is a folder of several files; name the one to import.`);
  return only;
}

/** The text with line feeds alone. Throws a CommandError where it is none. */
function checkedText(file: string, text: string): string {
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  if (plain.trim() === "") throw new CommandError(1, `${file} is empty; name the config of a router.`);
  if (/[\u0000-\u0008\u000e-\u001f]/.test(plain))
    throw new CommandError(1, `${file} is no text: it has control characters in it.`);
  return plain;
}

/** What is written passes `signalbox check`. */
async function check(made: string, registry: Registry): Promise<void> {
  const { problems } = await loadTexts([{ file: "the imported config", text: made }], registry);
  if (problems === undefined) return;
  throw new CommandError(1, printableLines(`Nothing was written, since it could not run:\n${formatProblems(problems)}`));
}

function write(path: string | undefined, text: string): void {
  if (path === undefined) {
    process.stdout.write(text);
    return;
  }
  try {
    // A config of somebody's is not overwritten.
    writeFileSync(path, text, { flag: "wx" });
  } catch (thrown) {
    throw new CommandError(1, `${path} was not written: ${thrownMessage(thrown)}. Name a file that does not exist yet.`);
  }
}
