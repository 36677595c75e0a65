import type { Definition } from "../core/contract/plugin.ts";
import type { Address, RouterConfig } from "./config.ts";
import type { Registry } from "./instances.ts";
import { type LoadedConfig, loadConfig } from "./load.ts";
import { formatProblems } from "./problems.ts";
import type { RewriteRule } from "./rewrite-rule.ts";

const MOST_ROWS = 12;

/** The output of `signalbox check`: every problem in the files, or a summary of a valid config. */
export async function checkConfig(paths: readonly string[], registry: Registry): Promise<{ text: string; isValid: boolean }> {
  const loaded = await loadConfig(paths, registry);
  if (loaded.problems !== undefined) return { text: formatProblems(loaded.problems), isValid: false };
  return { text: summary(loaded), isValid: true };
}

/** A valid config in a few lines. */
function summary({ config, definitions, unneeded }: LoadedConfig): string {
  const { listen, admin, pool, profile, rewrites } = config;
  const endpoints = pool.endpoints.map(({ name, url, labels }) =>
    [name, url, ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)].join("  "),
  );
  const sections = [
    `The config is valid.`,
    `listen    ${addressText(listen)}, admin ${admin === undefined ? "off" : addressText(admin)}`,
    ...section(`pool      ${pool.name}, ${counted(endpoints.length, "endpoint")}`, endpoints),
    ...section(`profile   ${profile.name}`, profileRows(config, definitions)),
    ...section(`rewrites  ${counted(rewrites.length, "rule")}`, rewrites.map(ruleText)),
    ...unusedRows(config, definitions),
    ...(unneeded.length === 0 ? [] : [`unneeded  ${unneeded.join(", ")}: the router does this itself`]),
  ];
  return sections.join("\n");
}

function section(title: string, rows: readonly string[]): readonly string[] {
  const more = rows.length > MOST_ROWS ? [`          … and ${rows.length - MOST_ROWS} more`] : [];
  return [title, ...rows.slice(0, MOST_ROWS).map((row) => `          ${row}`), ...more];
}

function addressText({ host, port }: Address): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function profileRows({ profile, plugins }: RouterConfig, definitions: ReadonlyMap<string, Definition>): readonly string[] {
  return profile.plugins.map(({ pluginRef, weight }) => {
    const type = plugins.find(({ name }) => name === pluginRef)?.type;
    const kind = definitions.get(pluginRef)?.kind ?? "";
    return `${kind.padEnd(7)} ${pluginRef}${type === pluginRef ? "" : ` (${type})`}${weight === undefined ? "" : `  weight ${weight}`}`;
  });
}

function ruleText({ name, models, targets, stickyHeader, onUnavailable }: RewriteRule): string {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0);
  const shares = targets.map((target) =>
    targets.length === 1 ? target.name : `${target.name} ${percent(target.weight / total)}`,
  );
  const sticky = stickyHeader === "" ? "" : `, sticky by ${stickyHeader}`;
  const redistributed = onUnavailable === "redistribute" ? ", redistributed when unavailable" : "";
  return `${models.join(", ") || "every model"} -> ${shares.join(", ")}${sticky}${redistributed}  (${name})`;
}

const percent = (share: number) => `${Math.round(share * 1000) / 10}%`;

/** Listed filters, scorers and pickers that the profile does not use. */
function unusedRows({ plugins, profile }: RouterConfig, definitions: ReadonlyMap<string, Definition>): readonly string[] {
  const used = new Set(profile.plugins.map(({ pluginRef }) => pluginRef));
  const unused = plugins.filter(
    ({ name }) => !used.has(name) && ["filter", "scorer", "picker"].includes(definitions.get(name)?.kind ?? ""),
  );
  return unused.length === 0 ? [] : [`unused    ${unused.map(({ name }) => name).join(", ")}: the profile does not name them`];
}
