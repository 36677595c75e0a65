import type { Definition } from "../../core/contract/plugin.ts";
import { counted } from "../../core/report/number-text.ts";
import { targetLabel } from "../../core/report/target-label.ts";
import type { Address, ProfileConfig, RewriteRule, RouterConfig } from "../../core/router-config.ts";
import { type LoadedConfig, loadTexts } from "../load.ts";
import type { Registry } from "../plugins/instances.ts";
import { type ConfigText, readFiles } from "../read/files.ts";
import { formatProblem, formatProblems, type Problem } from "../read/problems.ts";
import { NO_OVERLAY } from "../rewrites/overlay.ts";
import { missingFilters } from "../router/profile.ts";
import { isWritten } from "./effective-parts.ts";
import { excerptOf } from "./excerpt.ts";

const MOST_ROWS = 12;
const MOST_WARNINGS = 50;

export interface CheckOptions {
  readonly paths: readonly string[];
  /** Further endpoints, as on the command line of `start`. */
  readonly urls: readonly string[];
  /** The output is one JSON document: { valid, unguarded, notes, problems, warnings }; `unguarded` names the default filters that the profile lacks. */
  readonly isJson: boolean;
  /** Warnings count as problems. */
  readonly isStrict: boolean;
  /** Problems that only show when a valid config is put to use. */
  readonly tryOut?: (loaded: LoadedConfig) => readonly Problem[];
}

/** The output of `signalbox check`: every problem in the files, or a summary of a valid config and its warnings. */
export async function checkConfig(
  { paths, urls, isJson, isStrict, tryOut = () => [] }: CheckOptions,
  registry: Registry,
): Promise<{ text: string; isValid: boolean }> {
  const unread: Problem[] = [];
  const texts = await readFiles(paths, unread);
  const loaded = await loadTexts(texts, registry, urls, NO_OVERLAY, false, unread);
  const { warnings } = loaded;
  const problems = loaded.problems ?? tryOut(loaded);
  const isValid = problems.length === 0 && !(isStrict && warnings.length > 0);
  const notes = loaded.problems === undefined ? loaded.notes : [];
  const unguarded = loaded.problems === undefined ? missingFilters(loaded.config.profile, loaded.definitions) : [];
  if (isJson) return { text: JSON.stringify({ valid: isValid, unguarded, notes, problems, warnings }, null, 2), isValid };
  const rows = warningRows(warnings);
  if (loaded.problems !== undefined || problems.length > 0)
    return { text: [formatProblems(problems, excerptIn(texts)), ...rows].join("\n"), isValid };
  if (!isValid) return { text: [...rows, "--strict accepts no warnings"].join("\n"), isValid };
  return { text: [summary(loaded), ...rows].join("\n"), isValid };
}

/** Shows below a problem its line of these files. */
function excerptIn(texts: readonly ConfigText[]): (problem: Problem) => readonly string[] {
  const byFile = new Map(texts.map(({ file, text }) => [file, text]));
  return (problem) => excerptOf(problem, byFile.get(problem.file));
}

/** A valid config in a few lines. */
function summary(loaded: LoadedConfig): string {
  const { config, definitions, notes } = loaded;
  const { listen, admin, pool, profile, rewrites } = config;
  const endpoints = pool.endpoints.map(({ name, url, labels }) =>
    [name, url, ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)].join("  "),
  );
  const sections = [
    `The config is valid.`,
    `listen    ${addressText(listen)}, admin ${admin === undefined ? "off" : addressText(admin)}`,
    ...section(`pool      ${pool.name}, ${counted(endpoints.length, "endpoint")}`, endpoints),
    ...section(
      `profile   ${profile.name}${unguardedText(missingFilters(profile, definitions))}`,
      profileRows(profile, config, definitions),
    ),
    ...section(
      `rewrites  ${counted(rewrites.length, "rule")}${rewrites.length === 0 ? "" : ": what clients write -> what replicas get"}`,
      rewrites.map(ruleText),
    ),
    ...featureRows(loaded),
    ...otherSections(loaded),
    ...otherPlugins(loaded),
    ...noteRows(notes),
  ];
  return sections.join("\n");
}

function section(title: string, rows: readonly string[], most = MOST_ROWS): readonly string[] {
  const more = rows.length > most ? [`          … and ${rows.length - most} more`] : [];
  return [title, ...rows.slice(0, most).map((row) => `          ${row}`), ...more];
}

function addressText({ host, port }: Address): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function profileRows(
  profile: ProfileConfig,
  { plugins }: RouterConfig,
  definitions: ReadonlyMap<string, Definition>,
): readonly string[] {
  return profile.plugins.map(({ pluginRef, weight }) => {
    const type = plugins.find(({ name }) => name === pluginRef)?.type;
    const kind = definitions.get(pluginRef)?.kind ?? "";
    const typeText = type === pluginRef ? "" : ` (${type})`;
    return `${kind.padEnd(7)} ${pluginRef}${typeText}${weight === undefined ? "" : `  weight ${weight}`}`;
  });
}

function featureRows({ config, definitions, sections }: LoadedConfig): readonly string[] {
  return sections.flatMap(({ section: { key, summary } }) => {
    const rowsOf = (path: string) => profileRows(config.others.get(path)!, config, definitions);
    const shown = summary?.(config.features.get(key), rowsOf);
    return shown === undefined ? [] : section(...shown);
  });
}

/** The sections that the config has of features that say no more of themselves, by name. */
function otherSections({ config, sections, positionOf, pickedSections }: LoadedConfig): readonly string[] {
  const keys = sections.flatMap(({ section: { key, summary, written } }) => {
    const isOn = summary === undefined && (written(config.features.get(key), () => false) ?? false) !== false;
    return isOn && (isWritten(positionOf, ["spec", key]) || pickedSections.has(key)) ? [key] : [];
  });
  return keys.length === 0 ? [] : [`features  ${keys.join(", ")}`];
}

/** The listed plugins that run without being in a profile: features, observers, parsers and others. */
function otherPlugins({ config, definitions }: LoadedConfig): readonly string[] {
  const rows = config.plugins.flatMap(({ name, type, from, position }) => {
    const kind = definitions.get(name)?.kind;
    if (position === undefined || kind === undefined || IN_PROFILES.has(kind) || name.includes("/")) return [];
    const what = from ?? type;
    return [`${kind.padEnd(KIND_COLUMNS)} ${name}${what === name ? "" : ` (${what})`}`];
  });
  return rows.length === 0 ? [] : section("plugins   that run beside the profile", rows);
}

const IN_PROFILES: ReadonlySet<string> = new Set(["filter", "scorer", "picker"]);
const KIND_COLUMNS = "authenticator".length;

/** On the reference router's entries, in columns. */
function noteRows(notes: LoadedConfig["notes"]): readonly string[] {
  if (notes.length === 0) return [];
  const width = Math.max(...notes.map(({ name }) => name.length));
  return section(
    "notes     on entries and parameters that are not taken as they are",
    notes.map(({ name, effect, why }) => `${name.padEnd(width)}  ${effect}: ${why}`),
  );
}

const UNGUARDED: Readonly<Record<string, string>> = {
  ready: "replicas that are not ready get requests",
  "serves-model": "unknown models reach replicas",
};

/** What an unguarded profile leaves out, and what that means. */
function unguardedText(missing: readonly string[]): string {
  if (missing.length === 0) return "";
  const effects = missing.map((type) => UNGUARDED[type]);
  return `, unguarded: without ${missing.join(" and ")}, so ${effects.join(", and ")}`;
}

function ruleText({ name, models, targets, stickyHeader, onUnavailable }: RewriteRule): string {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0);
  const shares = targets.map((each) =>
    targets.length === 1 ? targetLabel(each) : `${targetLabel(each)} ${percent(each.weight / total)}`,
  );
  const sticky = stickyHeader === "" ? "" : `, sticky by ${stickyHeader}`;
  const redistributed = onUnavailable === "redistribute" ? ", redistributed when unavailable" : "";
  return `${models.join(", ") || "every model"} -> ${shares.join(", ")}${sticky}${redistributed}  (${name})`;
}

const percent = (share: number) => `${Math.round(share * 1000) / 10}%`;

function warningRows(warnings: readonly Problem[]): readonly string[] {
  if (warnings.length === 0) return [];
  return section(`warnings  ${warnings.length}`, warnings.map(formatProblem), MOST_WARNINGS);
}
