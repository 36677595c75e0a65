// What a new plugin's folder has beside the plugin, its test and its config.

/** Types of the plugin alone; `npm run build` makes the JavaScript that a package needs. */
export const TSCONFIG = `${JSON.stringify(
  {
    compilerOptions: {
      ...{ target: "es2022", module: "nodenext", lib: ["es2023", "dom"], types: [] },
      ...{ strict: true, verbatimModuleSyntax: true, erasableSyntaxOnly: true, noEmit: true },
      // Of a checkout, the types are in TypeScript files that name each other.
      rewriteRelativeImportExtensions: true,
    },
    files: ["plugin.ts"],
  },
  null,
  2,
)}\n`;

/** `dependency` is what npm installs as this program. */
export function manifestText(name: string, version: string, dependency: string): string {
  const scripts = {
    test: "node --import tsx --test plugin.test.ts",
    types: "tsc",
    build: "tsc --noEmit false --declaration",
  };
  const devDependencies = { signalbox: dependency, tsx: "4.x", typescript: ">=5.8" };
  const manifest = {
    ...{ name, version: "0.1.0", type: "module", exports: "./plugin.js", files: ["plugin.js", "plugin.d.ts"] },
    ...{ scripts, peerDependencies: { signalbox: `^${version}` }, devDependencies },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** `origin` says where the program comes from, if it is no version; else it is empty. */
export function readmeText(kind: string, name: string, origin: string): string {
  return `# ${name}

A ${kind} for Signalbox. \`plugin.ts\` is the plugin, \`plugin.test.ts\` its test, \`signalbox.yaml\` a config that loads it.

    npm install
    npm test            # or: deno test -A --no-check, or: bun test
    npx signalbox test  # on each of these that is here
    npm run types       # checks the types

${origin}    signalbox check -f signalbox.yaml     # every problem with its place
    signalbox dev --demo -f signalbox.yaml     # runs it on mock replicas; what you save takes effect at once

Replicas' addresses are in \`signalbox.yaml\`. To give the plugin to others, \`npm run build\` and publish: packages are JavaScript. A config
then names the package: \`from: ${name}\`.
`;
}
