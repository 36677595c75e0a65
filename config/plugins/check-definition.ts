import { isOwnKind, KNOWN_KINDS } from "../../core/contract/kinds.ts";
import type { Definition } from "../../core/contract/plugin.ts";
import { contractProblem } from "../../core/contract/version.ts";
import { didYouMean, quoted } from "../read/problems.ts";
import { linesOf } from "./module-error.ts";

/** A module's default export. Throws an Error if it is not a plugin. */
export function checkDefinition(module: unknown, file: string): Definition {
  const exported = defaultOf(module);
  // For a file outside an ES module package, tsx nests the exports one level deeper.
  const plugin = defaultOf(exported) ?? exported;
  if (typeof plugin !== "object" || plugin === null)
    throw new Error(`${exportingLine(file)} has no plugin as its default export${othersOf(module)}: ${EXPORT_ONE}`);
  const definition = plugin as Partial<Definition>;
  const { kind, type, create, options, contract } = definition;
  const it = `The default export of ${file}`;
  if (typeof kind !== "string") throw new Error(`${it} has no known kind: ${EXPORT_ONE}`);
  if (!KNOWN_KINDS.some((known) => known === kind) && !isOwnKind(kind)) throw new Error(`${it} ${unknownKind(kind)}`);
  if (typeof type !== "string" || type === "") throw new Error(`${it} has no type: give it a name such as type: "my-scorer".`);
  if (typeof create !== "function") throw new Error(`${it} has no create function: add create(options, host).`);
  if (typeof options?.["~standard"]?.validate !== "function")
    throw new Error(`The options of ${file} are no Standard Schema: write options: z.strictObject({ … }).`);
  const outdated = contract === undefined ? "" : contractProblem(contract);
  if (outdated !== "") throw new Error(`The plugin ${type} in ${file} ${outdated}`);
  const odd = OPTIONAL.find(([key, isRight]) => definition[key] !== undefined && !isRight(definition[key]));
  if (odd !== undefined)
    throw new Error(`The plugin ${type} in ${file} has ${odd[0]} that is no ${odd[2]}: write one, or leave it out.`);
  return plugin as Definition;
}

const isFunction = (value: unknown) => typeof value === "function";
const isList = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === "string");
/** What a definition may have besides, and what it must be then. */
const OPTIONAL: readonly (readonly [key: keyof Definition, isRight: (value: unknown) => boolean, wanted: string])[] = [
  ["uses", isList, "list of kinds"],
  ["gives", isList, "list of names"],
  ["reports", isList, "list of numbers"],
  ["ignores", isList, "list of names"],
  ["reads", isFunction, "function"],
  ["needs", isFunction, "function"],
  ["load", isFunction, "function"],
  ["secrets", isFunction, "function"],
  ["tls", isFunction, "function"],
];

function unknownKind(kind: string): string {
  const hint = didYouMean(kind, KNOWN_KINDS);
  const others = `The kinds are ${KNOWN_KINDS.join(", ")}; one of a package's own has a slash, as acme/tokenizer.`;
  return `has no known kind, but ${quoted(kind)}. ${hint || others}`;
}

/** The file, with its first line that exports something. */
function exportingLine(file: string): string {
  const line = linesOf(file).findIndex((each) => /^\s*(?:export|module\.exports|exports\.)/.test(each));
  return line === -1 ? file : `${file}:${line + 1}`;
}

/** The module's other exports, one of which may be meant. */
function othersOf(module: unknown): string {
  const names = Object.keys(module ?? {}).filter((name) => name !== "default" && name !== "__esModule");
  return names.length === 0 ? "" : `, but exports ${names.slice(0, 5).join(", ")}`;
}

function defaultOf(value: unknown): unknown {
  return typeof value === "object" && value !== null && "default" in value ? value.default : undefined;
}

const EXPORT_ONE = "write export default defineScorer({ … }), or defineFilter, definePicker and so on.";
