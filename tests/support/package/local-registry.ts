import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** What `npm pack --json` says of one package. */
interface Packed {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly integrity: string;
  readonly shasum: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

interface LocalRegistry {
  readonly url: string;
  readonly packages: readonly Packed[];
  close(): Promise<void>;
}

/** Packs the packages in these folders and serves them as a registry does, so that clients install them from nowhere else. */
export async function startLocalRegistry(packageFolders: readonly string[], store: string): Promise<LocalRegistry> {
  const words = ["pack", "--json", "--ignore-scripts", "--pack-destination", store, ...packageFolders];
  const packages = JSON.parse(execFileSync("npm", words, { cwd: store, encoding: "utf8" })) as readonly Packed[];
  const manifests = packageFolders.map((folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as object);
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1);
    // Also where lock files without addresses look for it.
    const file = packages.find(({ filename }) => path.split("/-/").at(-1) === filename);
    const at = packages.findIndex(({ name }) => name === path);
    const packed = packages[at];
    if (file !== undefined) response.end(readFileSync(join(store, file.filename)));
    else if (packed !== undefined) sendJson(response, documentOf(packed, manifests[at] ?? {}, `http://${request.headers.host}`));
    else response.writeHead(404).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    packages,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** What a registry says of a package that has one version. */
function documentOf({ name, version, filename, integrity, shasum }: Packed, manifest: object, origin: string) {
  const dist = { tarball: `${origin}/${filename}`, integrity, shasum };
  return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } };
}

function sendJson(response: ServerResponse, value: object): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(value));
}
