/** The parts of this project's package.json that the package's is made of. */
interface Source {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

interface Manifest extends Omit<Source, "exports"> {
  readonly bin: { readonly signalbox: string };
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
}

const TAKEN = ["name", "version", "description", "license", "keywords", "type", "engines"] as const;
const NEEDED = ["dependencies", "peerDependencies", "peerDependenciesMeta"] as const;

/**
 * The package.json of the package: no scripts, no development dependencies, JavaScript for TypeScript. `repository` is the one on
 * GitHub that builds it ("owner/name"), which npm compares with the provenance of what is published.
 */
export function manifestOf(source: Source, repository: string | undefined): Manifest {
  const chosen = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, source[key]]));
  const { name, version } = source;
  // A checkout's program helps Node 20 with TypeScript.
  const bin = { signalbox: "apps/cli/bin.mjs" };
  return {
    ...chosen(TAKEN),
    ...{ name, version, bin },
    ...(repository && { repository: { type: "git", url: `git+https://github.com/${repository}.git` } }),
    exports: Object.fromEntries(Object.entries(source.exports).map(([path, file]) => [path, compiled(file)])),
    ...chosen(NEEDED),
    publishConfig: { access: "public", provenance: true },
  };
}

function compiled(file: string) {
  const [, path] = /^(.*)\.ts$/.exec(file) ?? [];
  return path === undefined ? file : { types: `${path}.d.ts`, default: `${path}.js` };
}
