import { lineOfText, z } from "../../core/contract/options.ts";
import { MIN_TLS_VERSION } from "../../core/settings/tables.ts";
import type { CertificatePair, ServerTls } from "../../core/settings.ts";
import type { Path } from "../read/problems.ts";
import { orElse, setting } from "../schema/section.ts";
import type { TlsFiles, TlsPlace } from "./tls-files.ts";

// `spec.listen.tls` and `spec.admin.tls`: TLS on the router's own ports.

const hostName = z
  .string()
  .regex(/^(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, 'a host name such as api.example, or "*.example" for one more label');

const pair = {
  certFile: lineOfText.describe("The certificate, followed by those that lead to its authority, in PEM form."),
  keyFile: lineOfText.describe("Its private key in PEM form, without a passphrase."),
};

export const serverTlsSchema = z.strictObject({
  ...pair,
  clientCaFile: lineOfText
    .describe("Authorities in PEM form: clients must show a certificate that one of them has signed.")
    .optional(),
  minVersion: setting(MIN_TLS_VERSION),
  sni: orElse(
    z
      .array(
        z.strictObject({
          ...pair,
          names: z.array(hostName).min(1, "at least one name").describe("Default: the names in the certificate.").optional(),
        }),
      )
      .describe("Further certificates, for clients that ask for one of their names."),
    [],
  ),
});

type ServerTlsSpec = z.infer<typeof serverTlsSchema>;

/** Undefined where there is none, or it has problems, which are reported. Adds its files to `files`. */
export async function readServerTls(
  spec: ServerTlsSpec | undefined,
  path: Path,
  place: TlsPlace,
  tlsFiles: TlsFiles,
  files: Set<string>,
): Promise<ServerTls | undefined> {
  if (spec === undefined) return undefined;
  const { clientCaFile: ca, minVersion, sni } = spec;
  const first = await tlsFiles.pair(spec, path, place, files);
  const others = await Promise.all(
    sni.map(async ({ names, ...each }, index): Promise<CertificatePair | undefined> => {
      const read = await tlsFiles.pair(each, [...path, "sni", index], place, files);
      return read && { ...read, names: names?.map((name) => name.toLowerCase()) ?? read.names };
    }),
  );
  const pairs = [first, ...others].filter((read) => read !== undefined);
  const clientCa = ca === undefined ? undefined : await tlsFiles.authorities(ca, "clientCaFile", path, place, files);
  const isWhole = pairs.length === sni.length + 1 && (ca === undefined || clientCa !== undefined);
  return isWhole ? { pairs, clientCa, minVersion } : undefined;
}
