import { z } from "../../core/contract/options.ts";
import { onOff } from "../../core/settings/row.ts";
import type { ReplicaTls, ReplicaTlsSettings } from "../../core/settings.ts";
import type { Path } from "../read/problems.ts";
import { setting } from "../schema/section.ts";
import { lineOfText } from "../schema/values.ts";
import type { TlsFiles, TlsPlace } from "./tls-files.ts";

const INSECURE = onOff(false, "Accepts every certificate: for tests only, since anybody can then stand in for the replica.");

/** `spec.pool.tls`, and `tls` of one endpoint: how replicas at https:// addresses are spoken to. */
export const replicaTlsSchema = z
  .strictObject({
    caFile: lineOfText
      .describe("Authorities in PEM form that sign the replicas' certificates. Default: those of the system.")
      .optional(),
    serverName: lineOfText
      .describe("The name that must be in the replica's certificate. Default: the host of its URL.")
      .optional(),
    certFile: lineOfText.describe("A certificate for replicas that ask for one, in PEM form.").optional(),
    keyFile: lineOfText.describe("Its private key in PEM form, without a passphrase.").optional(),
    insecure: setting(INSECURE),
  })
  .refine(({ certFile, keyFile }) => (certFile === undefined) === (keyFile === undefined), "certFile and keyFile together");

type ReplicaTlsSpec = z.infer<typeof replicaTlsSchema>;

/** A section of the config, its place, and the endpoint that it is of; undefined for the pool's own. */
export interface ReplicaTlsEntry {
  readonly endpoint: string | undefined;
  readonly spec: ReplicaTlsSpec | undefined;
  readonly path: Path;
  readonly place: TlsPlace;
}

/** Undefined if no section says anything. Adds its files to `files`. */
export async function readReplicaTls(
  entries: readonly ReplicaTlsEntry[],
  tlsFiles: TlsFiles,
  files: Set<string>,
): Promise<ReplicaTlsSettings | undefined> {
  let ofPool: ReplicaTls | undefined;
  const ofEndpoint = new Map<string, ReplicaTls>();
  for (const { endpoint, spec, path, place } of entries) {
    if (spec === undefined) continue;
    const { caFile, serverName, certFile, keyFile, insecure: isInsecure } = spec;
    const authorities = caFile === undefined ? undefined : await tlsFiles.authorities(caFile, "caFile", path, place, files);
    const isPair = certFile !== undefined && keyFile !== undefined;
    const pair = isPair ? await tlsFiles.pair({ certFile, keyFile }, path, place, files) : undefined;
    const read: ReplicaTls = { authorities, serverName, pair, isInsecure };
    if (endpoint === undefined) ofPool = read;
    else ofEndpoint.set(endpoint, read);
  }
  return ofPool === undefined && ofEndpoint.size === 0 ? undefined : { ofPool, ofEndpoint };
}
