import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What a module exports: whether each name is there when the program runs, or for the compiler alone. */
export type Names = Readonly<Record<string, "value" | "type">>;

/** The part of the built package.json that is read. */
interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

const LIST = /^export (type )?\{([^}]*)\}(?: from "[^"]+")?;/;
const DECLARED = /^export (?:declare (?:abstract )?(?:class|function|const|let|enum)|(interface|type)) (\w+)/;
const LISTED = /^(type )?(?:\w+ as )?(\w+)$/;

/** All that the package lets others import, as they write it. */
export function entriesOf(built: string): string[] {
  const { name, exports } = manifestOf(built);
  return Object.keys(exports).map((entry) => name + entry.slice(1));
}

/** What each module among them exports, by the declarations of the package; files that are no modules, and patterns, are left out. */
export function publicNames(built: string): Readonly<Record<string, Names>> {
  const { name, exports } = manifestOf(built);
  return Object.fromEntries(
    Object.entries(exports).flatMap(([entry, target]) =>
      typeof target === "string" || entry.includes("*")
        ? []
        : [[name + entry.slice(1), namesIn(readFileSync(join(built, target.types), "utf8"))]],
    ),
  );
}

/** The names that a declaration file exports, sorted. Throws an Error for an export in a form that is not read here, such as `export *`. */
export function namesIn(declarations: string): Names {
  const names: [string, "value" | "type"][] = [];
  for (const { index } of declarations.matchAll(/^export\b/gm)) {
    const rest = declarations.slice(index);
    const [, areTypes, list] = LIST.exec(rest) ?? [];
    const [, isType, declared] = DECLARED.exec(rest) ?? [];
    if (declared !== undefined) names.push([declared, isType === undefined ? "value" : "type"]);
    for (const each of list?.split(",").map((text) => text.trim()) ?? []) {
      const [, isListedType, listed] = LISTED.exec(each) ?? [];
      if (listed !== undefined) names.push([listed, areTypes || isListedType ? "type" : "value"]);
    }
    if (declared === undefined && list === undefined)
      throw new Error(`public-names.ts can't read this export: ${rest.split("\n", 1)[0]}`);
  }
  return Object.fromEntries(names.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function manifestOf(built: string): Manifest {
  return JSON.parse(readFileSync(join(built, "package.json"), "utf8")) as Manifest;
}
