import { CommandError, UsageError } from "../../../config/command.ts";
import { type LoadedConfig, loadConfig } from "../../../config/load.ts";
import { formatProblems } from "../../../config/read/problems.ts";
import { NO_OVERLAY } from "../../../config/rewrites/overlay.ts";
import type { ActiveConfig } from "../../../core/active-config.ts";
import { systemClock } from "../../../core/contract/clock.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import { silentLog } from "../../../core/contract/log.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { printableLines } from "../../../core/contract/printable.ts";
import { thrownMessage, thrownText } from "../../../core/contract/thrown-text.ts";
import { buildPluginSet } from "../../../core/control/plugin-set.ts";
import { restoredState } from "../../../core/control/restored-state.ts";
import { type DryRunParts, type DryRunRequest, dryRun } from "../../../core/intake/dry-run.ts";
import { withPlainBody } from "../../../core/intake/dry-run-body.ts";
import { dryRunReport } from "../../../core/report/choice-report.ts";
import type { DryRunReport } from "../../../core/report/report-schema.ts";
import { readBounded } from "../../../core/runtime/read-file.ts";
import { checkedFacts, type FactsDocument, readPool } from "../../../core/state/facts-document.ts";
import { TokenScale } from "../../../core/state/token-scale.ts";
import { printableJson } from "../admin/ask-admin.ts";
import { defaultFiles } from "../frame/default-file.ts";

/** The pool comes from the snapshot; this only makes a config without one complete. */
const NO_REPLICA = ["http://snapshot.invalid"];
const NO_PROMPTS = "A snapshot has no prompts: nothing is known of what is cached, so nothing counts as cached.";

export interface OfflineOptions {
  /** A file of `signalbox facts`. */
  readonly snapshot: string;
  /** Config files; without any, signalbox.yaml in this folder or the default config. */
  readonly configs: readonly string[];
  readonly registry: ReadonlyMap<string, Definition>;
}

/** Decides about the body as the router of the snapshot would have. Needs no router. Throws CommandError. */
export async function explainOffline(question: DryRunRequest, options: OfflineOptions): Promise<DryRunReport> {
  const document = await readSnapshot(options.snapshot);
  const files = options.configs.length === 0 ? await defaultFiles("--config") : options.configs;
  const loaded = await loadFiles(files, options.registry);
  if (loaded.pools.length > 0)
    throw new CommandError(
      1,
      "A snapshot has one pool: name a config without Pool documents, or ask the running router (signalbox explain).",
    );
  const lost = document.lost.map((name) => `What the plugin ${name} keeps is not in a snapshot.`);
  const notes = [
    NO_PROMPTS,
    ...lost,
    `Decided by the config of ${files.join(", ") || "a router without files"}; --config names another.`,
  ];
  const output = { print() {}, isTerminal: false };
  const services = { clock: systemClock, random: Math.random, log: silentLog, output };
  const plugins = buildPluginSet(loaded, services, restoredState(document.kept));
  try {
    const asked = await withPlainBody(question, plugins.active);
    const { request, decision } = dryRun(asked, plugins.active, partsOf(document, plugins.active));
    // Names come from files, and may hold anything.
    return printableJson(JSON.stringify(dryRunReport(request, decision, document.savedAt, notes))) as DryRunReport;
  } catch (thrown) {
    if (!(thrown instanceof RouterError)) throw thrown;
    throw refusalOf(thrown);
  } finally {
    plugins.dispose();
  }
}

/** There is no log, so what a plugin or the router did wrong is in the message. */
function refusalOf({ message, fault, cause }: RouterError): CommandError {
  if (fault !== undefined) return new CommandError(2, `${message}\n  ${fault.plugin}: ${fault.text}`);
  return new CommandError(2, cause === undefined ? message : `The decision can't be made: ${thrownText(cause)}`);
}

async function readSnapshot(file: string): Promise<FactsDocument> {
  let value: unknown;
  try {
    value = JSON.parse((await readBounded(file, Infinity)).toString("utf8"));
  } catch (thrown) {
    const why = thrown instanceof SyntaxError ? "is no JSON document" : "can't be read";
    throw new UsageError(`--snapshot names a file that ${why}: ${file}.`);
  }
  try {
    return checkedFacts(value);
  } catch (thrown) {
    throw new CommandError(1, `${file}: ${thrownMessage(thrown)}`);
  }
}

async function loadFiles(files: readonly string[], registry: OfflineOptions["registry"]): Promise<LoadedConfig> {
  const loaded = await loadConfig(files, registry, NO_REPLICA, NO_OVERLAY);
  if (loaded.problems !== undefined) throw new CommandError(1, printableLines(formatProblems(loaded.problems)));
  return loaded;
}

/** What a dry run reads of a router, from the snapshot. */
function partsOf(document: FactsDocument, { profile }: ActiveConfig): DryRunParts {
  const { facts, load } = readPool(document);
  const tokenScale = new TokenScale(document.tokenFactors, document.partTokens);
  return { pool: { facts, prefixIndex: undefined, tokenScale }, load, random: Math.random, profile };
}
