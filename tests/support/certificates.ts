import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate and its key, in PEM form. */
export interface MadeCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateWishes {
  /** Host names and IPv4 addresses; the first is its common name too. */
  readonly names: readonly string[];
  /** When it expires, from now; negative for one that has expired. */
  readonly hours?: number;
}

/** An authority that signs certificates. */
export interface Authority {
  readonly cert: string;
  issue(wishes: CertificateWishes): MadeCertificate;
}

/** A folder for one test's files. */
export function certificateFolder() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-tls-"));
  const at = (name: string) => join(folder, name);
  return {
    at,
    write: (name: string, { cert, key }: MadeCertificate) => {
      writeFileSync(at(`${name}.crt`), cert);
      writeFileSync(at(`${name}.key`), key);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function makeAuthority(name: string): Authority {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const cert = certificate({ names: [name] }, keys.publicKey, name, keys.privateKey, true);
  return {
    cert,
    issue(wishes) {
      const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
      return { cert: certificate(wishes, own.publicKey, name, keys.privateKey, false), key: pemKey(own.privateKey) };
    },
  };
}

/** A certificate that nobody else has signed. */
export function selfSigned(wishes: CertificateWishes): MadeCertificate {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const cert = certificate(wishes, keys.publicKey, wishes.names[0] ?? "", keys.privateKey, false);
  return { cert, key: pemKey(keys.privateKey) };
}

// X.509 (RFC 5280) in DER.

const HOUR_MS = 3_600_000;
const ECDSA_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const COMMON_NAME = oid(0x55, 0x04, 0x03);
const ALT_NAME = oid(0x55, 0x1d, 0x11);
const BASIC_CONSTRAINTS = oid(0x55, 0x1d, 0x13);
const TRUE = tagged(0x01, Buffer.from([0xff]));

function certificate(
  { names, hours = 24 }: CertificateWishes,
  publicKey: KeyObject,
  issuer: string,
  signer: KeyObject,
  isAuthority: boolean,
): string {
  const untilMs = Date.now() + hours * HOUR_MS;
  const extensions = [
    sequence(ALT_NAME, tagged(0x04, sequence(...names.map(altName)))),
    ...(isAuthority ? [sequence(BASIC_CONSTRAINTS, TRUE, tagged(0x04, sequence(TRUE)))] : []),
  ];
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    nameOf(issuer),
    sequence(time(Math.min(Date.now(), untilMs) - HOUR_MS), time(untilMs)),
    nameOf(names[0] ?? ""),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions)),
  );
  const signature = tagged(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", body, signer)]));
  return pem("CERTIFICATE", sequence(body, ECDSA_SHA256, signature));
}

function altName(name: string): Buffer {
  const isAddress = /^[\d.]+$/.test(name);
  return isAddress ? tagged(0x87, Buffer.from(name.split(".").map(Number))) : tagged(0x82, Buffer.from(name));
}

function nameOf(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from(commonName)))));
}

/** UTCTime: YYMMDDHHMMSSZ. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, "");
  return tagged(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function oid(...bytes: readonly number[]): Buffer {
  return tagged(0x06, Buffer.from(bytes));
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function tagged(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  const head = length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

function pem(title: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${title}-----\n${lines.join("\n")}\n-----END ${title}-----\n`;
}

function pemKey(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}
