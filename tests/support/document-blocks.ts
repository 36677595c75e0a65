import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname ?? ".", "..", "..");

export type BlockKind = "commands" | "yaml" | "json" | "typescript" | "text";

/** Indented lines of a document behind an empty one, without an empty one among them. */
export interface Block {
  /** Where it begins, such as "README.md:9". */
  readonly place: string;
  readonly kind: BlockKind;
  readonly text: string;
}

/** Every document that people read, but what a tool writes whole. */
export const DOCUMENTS: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  ...markdownBelow("docs"),
  ...markdownBelow("examples"),
  ...markdownBelow("config"),
].filter((name) => !["docs/plugins.md", "docs/config.md"].includes(name));

export function documentText(name: string): string {
  return readFileSync(join(root, name), "utf8");
}

/** The blocks of a document, in order. A YAML block goes on behind a line of "---". */
export function blocksOf(name: string): readonly Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  let isBehindEmpty = false;
  documentText(name)
    .split("\n")
    .concat("")
    .forEach((line, index) => {
      if (line.startsWith("    ") && (isBehindEmpty || lines.length > 0)) {
        lines.push(line.slice(4));
        return;
      }
      isBehindEmpty = line === "";
      const text = lines.join("\n");
      if (text !== "") blocks.push({ place: `${name}:${index + 1 - lines.length}`, kind: kindOf(text), text });
      lines = [];
    });
  return blocks;
}

/** Commands of the router, and scripts of the checkout, that the prose of a document names. */
export function inlineCommands(name: string): readonly string[] {
  const prose = documentText(name).replaceAll(/^ {4}.*$/gm, "");
  const codes = [...prose.matchAll(/`((?:[^`\n]|\n(?!\n))+)`/g)].map(([, code = ""]) => code.replace(/\s+/g, " "));
  return codes.filter((code) => NAMED_COMMAND.test(code));
}

const NAMED_COMMAND = /^(?:npm run |npm test|signalbox |deno task |bun run |npx (?:deno|bun|signalbox) )(?!-s$|.*COMMAND)[a-z-]/;
const PROGRAMS =
  /^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:signalbox|npm|npx|bunx|bun|deno|node|curl|envoy|kubectl|helm|prometheus|docker|systemctl|sysctl|vllm|cp|alias)\b/;

/** Commands in the comments of the examples: lines of a comment that are indented. */
export function exampleCommands(): readonly string[] {
  const names = readdirSync(join(root, "examples"), { recursive: true, encoding: "utf8" });
  const texts = names.filter((name) => /\.ya?ml$|Dockerfile$/.test(name)).map((name) => documentText(join("examples", name)));
  const lines = texts.flatMap((text) => [...text.matchAll(/^# {3}(\S.*)$/gm)].map(([, line = ""]) => line));
  return lines.filter((line) => PROGRAMS.test(line));
}

function kindOf(text: string): BlockKind {
  if (PROGRAMS.test(text)) return "commands";
  if (/^(?:# |apiVersion:|spec:|- \{)/.test(text)) return "yaml";
  if (/^[{[]/.test(text)) return "json";
  return /^(?:import|export) /.test(text) ? "typescript" : "text";
}

function markdownBelow(folder: string): readonly string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .sort();
}

/** A command line as a shell reads it: words, without comment and redirections. `input` and `output` are files. */
export interface CommandLine {
  readonly words: readonly string[];
  readonly input: string | undefined;
  readonly output: string | undefined;
}

export function commandLine(line: string): CommandLine {
  const words: string[] = [];
  let input: string | undefined;
  let output: string | undefined;
  let redirect = "";
  for (const [word] of line.replace(/^\$ /, "").matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)) {
    if (word.startsWith("#")) break;
    const bare = word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single);
    if (word === "<" || word === ">") redirect = word;
    else if (redirect === "<") [input, redirect] = [bare, ""];
    else if (redirect === ">") [output, redirect] = [bare, ""];
    else words.push(bare);
  }
  return { words, input, output };
}

/** What follows "signalbox" in such a line; undefined for other programs. */
export function routerArguments({ words }: CommandLine): readonly string[] | undefined {
  const rest = words.slice(words.findIndex((word) => !/^[A-Z_]+=/.test(word)));
  if (rest[0] === "signalbox") return rest.slice(1);
  if (rest[0] !== "npm") return undefined;
  if (rest[1] === "start") return ["start", ...rest.slice(rest[2] === "--" ? 3 : 2)];
  const [script = "", dashes = "", ...given] = rest.slice(rest[2] === "-s" ? 3 : 2);
  return rest[1] === "run" && script === "signalbox" && dashes === "--" ? given : undefined;
}
