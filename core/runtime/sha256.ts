import { createHash, hash } from "node:crypto";

/** The digest of a text's UTF-8 bytes, in 43 characters of base64url. */
export function sha256(text: string): string {
  return hash("sha256", text, "base64url");
}

/** The digest of bytes that are in pieces, in the same form. */
export function sha256OfPieces(pieces: Iterable<string | Uint8Array>): string {
  const digest = createHash("sha256");
  for (const piece of pieces) digest.update(piece);
  return digest.digest("base64url");
}
