import { hash } from "node:crypto";

/** The digest of a text's UTF-8 bytes, in 43 characters of base64url. */
export function sha256(text: string): string {
  return hash("sha256", text, "base64url");
}
