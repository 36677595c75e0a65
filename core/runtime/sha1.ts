import { hash } from "node:crypto";

/** The digest of a text's UTF-8 bytes in base64. For protocols that ask for it; it keeps no secret. */
export function sha1(text: string): string {
  return hash("sha1", text, "base64");
}
