import { execFileSync } from "node:child_process";

/** The parts of a CycloneDX document that are read here. */
interface Document {
  readonly metadata: { readonly component: Readonly<Record<string, unknown>>; readonly tools: unknown };
  readonly components: readonly { readonly "bom-ref": string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
  readonly [key: string]: unknown;
}

/**
 * The list of parts of the package (CycloneDX, JSON): what npm installs with it, by the lock file. `npm sbom --omit dev` leaves out what
 * a tool of ours needs too, so all of its list is walked from the dependencies. Two builds of one commit give the same text.
 */
export function partsOf(root: string, { name, version, dependencies }: { name: string; version: string; dependencies: object }) {
  const text = execFileSync("npm", ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const { serialNumber: _, metadata, components, dependencies: edges, ...rest } = JSON.parse(text) as Document;
  const self = `${name}@${version}`;
  const direct = Object.entries(dependencies).map(([part, exact]) => `${part}@${exact}`);
  const needed = new Map([[self, direct]]);
  for (const [, parts] of needed)
    for (const ref of parts) {
      const edge = edges.find((each) => each.ref === ref);
      if (edge === undefined) throw new Error(`package-lock.json does not have ${ref}: run npm install`);
      needed.set(ref, needed.get(ref) ?? [...(edge.dependsOn ?? [])]);
    }
  return {
    ...rest,
    metadata: { tools: metadata.tools, component: { ...metadata.component, "bom-ref": self, name, properties: [] } },
    components: components.filter((component) => needed.has(component["bom-ref"])),
    dependencies: [...needed].map(([ref, dependsOn]) => ({ ref, dependsOn })),
  };
}
