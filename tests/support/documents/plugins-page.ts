import type { Registry } from "../../../config/plugins/instances.ts";
import { describePlugins, type OptionDescription, type PluginDescription } from "../../../config/show/plugin-reference.ts";
import { markdownTable } from "./markdown-table.ts";

const HEAD = `# Plugins

Every built-in plugin type, made of its definition by \`npm run plugins-page\`. \`signalbox plugins show TYPE\` shows one, also of your own
with \`-f\`. An instance is an entry of \`spec.plugins\`; filters, scorers and pickers run where a profile names them, the others wherever
they are listed. \`signalbox new KIND NAME\` makes a plugin of your own.
`;

/** The reference page of all plugin types, in Markdown. */
export function pluginsPage(registry: Registry): string {
  const all = describePlugins(registry);
  const kinds = [...new Set(all.map(({ kind }) => kind))];
  const parts = kinds.map((kind) => [`## ${kind}`, ...all.filter((each) => each.kind === kind).map(section)].join("\n\n"));
  return `${HEAD}\n${parts.join("\n\n")}\n`;
}

function section({ type, summary, otherNames, configuredBy, options, example }: PluginDescription): string {
  const names = otherNames.map((name) => `\`${name}\``).join(", ");
  return [
    `### ${type}`,
    `${summary}${names === "" ? "" : ` The reference router's name: ${names}.`}`,
    ...(configuredBy === "" ? [] : [`It runs by itself: configured by ${configuredBy}.`]),
    ...(options.length === 0 || configuredBy !== "" ? [] : [optionTable(options)]),
    ...(example === "" || options.length === 0 ? [] : [`    ${example}`]),
  ].join("\n\n");
}

function optionTable(options: readonly OptionDescription[]): string {
  const rows = options.map(({ name, value, default: usual, isRequired, meaning }) => {
    return [`\`${name}\``, value, isRequired ? "required" : usual === "" ? "" : `\`${usual}\``, meaning];
  });
  return markdownTable([["option", "value", "default", "meaning"], ...rows]);
}
