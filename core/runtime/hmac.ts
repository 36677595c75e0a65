import { createHmac, timingSafeEqual } from "node:crypto";

/** The keyed digest (HMAC-SHA-256) of a text's UTF-8 bytes, in 43 characters of base64url. */
export function hmac(key: string, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

/** Whether `digest` is that of the text. It takes the same time for each wrong one. */
export function isHmac(digest: string, key: string, text: string): boolean {
  const wanted = Buffer.from(hmac(key, text));
  const given = Buffer.from(digest);
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}
