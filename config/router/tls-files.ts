import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { secretOf } from "../../core/contract/secret.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import { readBounded } from "../../core/runtime/read-file.ts";
import type { Authorities, CertificatePair } from "../../core/settings.ts";
import { besideFile, unreadableFile } from "../read/files.ts";
import { type Finding, type Path, quoted, type Report } from "../read/problems.ts";

/** Where paths of files begin, and where problems are reported. */
export interface TlsPlace {
  readonly file: string;
  readonly report: Report;
}

const MOST_BYTES = 1024 * 1024;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** What can't be used, with the key of the section that names the file. */
interface Broken extends Finding {
  readonly key: string;
}

/**
 * Reads certificates and keys. What could be read once outlives files that are broken later: a certificate is renewed in steps, and
 * between them no connection should be refused.
 */
export class TlsFiles {
  /** By the names of their files. */
  readonly #pairs = new Map<string, CertificatePair>();
  readonly #authorities = new Map<string, Authorities>();

  /** Reports a problem below `path`, and resolves to undefined, if the files can't be used and never could. Adds them to `files`. */
  async pair(
    spec: { readonly certFile: string; readonly keyFile: string },
    path: Path,
    place: TlsPlace,
    files: Set<string>,
  ): Promise<CertificatePair | undefined> {
    const certFile = besideFile(place.file, spec.certFile);
    const keyFile = besideFile(place.file, spec.keyFile);
    files.add(certFile).add(keyFile);
    const read = async () => pairOf(certFile, keyFile, await textOf(certFile, "certFile"), await textOf(keyFile, "keyFile"));
    return usable(`${certFile}\n${keyFile}`, this.#pairs, read, path, place);
  }

  /** The same for a file of authorities, which `key` of the section names. */
  async authorities(
    name: string,
    key: string,
    path: Path,
    place: TlsPlace,
    files: Set<string>,
  ): Promise<Authorities | undefined> {
    const file = besideFile(place.file, name);
    files.add(file);
    const read = async (): Promise<Authorities | Broken> => {
      const pem = await textOf(file, key);
      if (typeof pem !== "string") return pem;
      const found = parsed(pem, file, key);
      if ("found" in found) return found;
      const last = found.reduce((late, one) => (Date.parse(one.validTo) > Date.parse(late.validTo) ? one : late));
      return { file, pem, ...timesOf(last), fault: "" };
    };
    return usable(file, this.#authorities, read, path, place);
  }
}

/** What was read; what could be read before, with what is wrong with it now; or undefined, and a problem. */
async function usable<Value extends { readonly fault: string }>(
  id: string,
  known: Map<string, Value>,
  read: () => Promise<Value | Broken>,
  path: Path,
  { report }: TlsPlace,
): Promise<Value | undefined> {
  const found = await read();
  if (!("found" in found)) {
    known.set(id, found);
    return found;
  }
  const { key, ...finding } = found;
  const before = known.get(id);
  if (before !== undefined) return { ...before, fault: finding.found };
  report([...path, key], finding);
  return undefined;
}

function pairOf(certFile: string, keyFile: string, cert: string | Broken, key: string | Broken): CertificatePair | Broken {
  if (typeof cert !== "string") return cert;
  if (typeof key !== "string") return key;
  const chain = parsed(cert, certFile, "certFile");
  if ("found" in chain) return chain;
  const [leaf] = chain;
  const broken = leaf && brokenKey(leaf, cert, key, certFile, keyFile);
  if (leaf === undefined || broken !== undefined) return broken ?? notPem(certFile, "certFile");
  return {
    certFile,
    keyFile,
    names: namesOf(leaf),
    cert,
    key: secretOf(key, `file:${keyFile}`),
    ...timesOf(leaf),
    fault: "",
  };
}

function brokenKey(leaf: X509Certificate, cert: string, key: string, certFile: string, keyFile: string): Broken | undefined {
  const file = `the file ${quoted(keyFile)}`;
  if (/ENCRYPTED/.test(key))
    return {
      key: "keyFile",
      found: `${file}, whose key has a passphrase`,
      wanted: "a key without one: openssl pkey -in FILE -out FILE",
    };
  try {
    const isOwn = leaf.checkPrivateKey(createPrivateKey(key));
    const found = `${file}, whose key does not belong to the certificate in ${quoted(certFile)}`;
    if (!isOwn) return { key: "keyFile", found, wanted: "the key that the certificate was made for" };
  } catch {
    return { key: "keyFile", found: `${file}, which holds no private key that can be read`, wanted: "a key in PEM form" };
  }
  try {
    createSecureContext({ cert, key });
    return undefined;
  } catch (thrown) {
    return { key: "certFile", found: `a certificate that this runtime can't use (${thrownMessage(thrown)})` };
  }
}

function timesOf({ validFrom, validTo }: X509Certificate) {
  return { beginsAtMs: Date.parse(validFrom), expiresAtMs: Date.parse(validTo) };
}

/** The certificates in a PEM text. */
function parsed(pem: string, file: string, key: string): readonly X509Certificate[] | Broken {
  try {
    const certificates = (pem.match(CERTIFICATE) ?? []).map((text) => new X509Certificate(text));
    return certificates.length > 0 ? certificates : notPem(file, key);
  } catch {
    return notPem(file, key);
  }
}

function notPem(file: string, key: string): Broken {
  const wanted = "certificates in PEM form: blocks that begin with -----BEGIN CERTIFICATE-----";
  return { key, found: `the file ${quoted(file)}, which holds no certificate that can be read`, wanted };
}

/** Host names of the certificate; where it has none, TLS clients of today accept it for none. */
function namesOf({ subjectAltName = "" }: X509Certificate): readonly string[] {
  return [...(subjectAltName ?? "").matchAll(/DNS:([^,\s"]+)/g)].map(([, name = ""]) => name.toLowerCase());
}

async function textOf(file: string, key: string): Promise<string | Broken> {
  try {
    const bytes = await readBounded(file, MOST_BYTES);
    if (bytes.length <= MOST_BYTES) return bytes.toString("latin1");
    return { key, found: `the file ${quoted(file)}, which is longer than 1 MiB`, wanted: "a file in PEM form" };
  } catch (error) {
    return { key, ...unreadableFile(file, error, "a file in PEM form") };
  }
}
