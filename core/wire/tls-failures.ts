/** Why TLS with a replica failed, in words for the log and the status. */
export type TlsFailure =
  | "certificate expired"
  | "certificate not yet valid"
  | "certificate for another name"
  | "certificate self-signed"
  | "certificate of an unknown authority"
  | "client certificate refused" // or none was shown
  | "no TLS there" // plain HTTP, most often
  | "TLS failed";

const CODES: Readonly<Record<string, TlsFailure>> = {
  CERT_HAS_EXPIRED: "certificate expired",
  CERT_NOT_YET_VALID: "certificate not yet valid",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificate for another name",
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificate self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "certificate of an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT: "certificate of an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "certificate of an unknown authority",
  // On Deno a certificate that has expired too.
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "certificate of an unknown authority",
  ERR_SSL_WRONG_VERSION_NUMBER: "no TLS there",
};

/** Alerts that a server sends to a client whose certificate it does not accept. */
const CLIENT_CERTIFICATE = /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_(EXPIRED|UNKNOWN))/;

/** Undefined for an error that has nothing to do with TLS. */
export function tlsFailure({ code = "" }: Error & { readonly code?: string }): TlsFailure | undefined {
  const known = CODES[code];
  if (known !== undefined) return known;
  if (CLIENT_CERTIFICATE.test(code)) return "client certificate refused";
  return code.startsWith("ERR_SSL_") || code.startsWith("CERT_") ? "TLS failed" : undefined;
}
