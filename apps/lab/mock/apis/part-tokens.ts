import { isObject, type JsonObject } from "../fields.ts";

/** Qwen2.5-VL: a token for each 28 x 28 pixels, from 4 to 16,384. */
const PIXELS_PER_SIDE = 28;
const LEAST_IMAGE_TOKENS = 4;
const MOST_IMAGE_TOKENS = 16_384;
/** For images whose size is not read (by URL, or no PNG): the 576 of LLaVA-1.5, as one of 672 x 672 pixels has. */
const UNREAD_IMAGE_TOKENS = 576;
/** Qwen2-Audio: 25 tokens a second, here of 16-bit sound at 16 kHz. */
const AUDIO_BYTES_PER_TOKEN = 32_000 / 25;
const UNREAD_AUDIO_TOKENS = 250;
/** LLaVA-OneVision: 32 frames of 196 tokens, whatever the length. */
const VIDEO_TOKENS = 6_272;
/** Claude: 1,500 to 3,000 tokens for a page of a PDF. A page is taken to be 100 KiB. */
const PAGE_TOKENS = 2_000;
const PAGE_BYTES = 100 * 1024;

const DATA_URL = /^data:[^,]*,/;
const PNG = "89504e470d0a1a0a";
/** Characters of base64 in which a PNG has its width and height. */
const PNG_HEAD_CHARS = 32;

/** What a part that is not text is for the model: its tokens, and what makes them the same for the same data. */
export interface Media {
  readonly tokens: number;
  readonly identity: string;
}

/** Undefined for a part that is text, or that no engine knows. */
export function mediaOf(part: JsonObject): Media | undefined {
  const image = urlOf(part["image_url"]) ?? (part["type"] === "image" ? sourceOf(part) : undefined);
  if (image !== undefined) return { tokens: imageTokens(image), identity: image };
  const audio = urlOf(part["audio_url"]) ?? stringAt(part["input_audio"], "data");
  if (audio !== undefined) return { tokens: audioTokens(audio), identity: audio };
  const video = urlOf(part["video_url"]);
  if (video !== undefined) return { tokens: VIDEO_TOKENS, identity: video };
  const file = stringAt(part["file"], "file_data") ?? stringAt(part, "file_data") ?? documentOf(part);
  return file === undefined ? undefined : { tokens: Math.ceil(bytesOf(file) / PAGE_BYTES) * PAGE_TOKENS, identity: file };
}

function urlOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : stringAt(value, "url");
}

function documentOf(part: JsonObject): string | undefined {
  const isText = isObject(part["source"]) && part["source"]["type"] === "text";
  return part["type"] === "document" && !isText ? sourceOf(part) : undefined;
}

function sourceOf({ source }: JsonObject): string | undefined {
  return stringAt(source, "data") ?? stringAt(source, "url");
}

function stringAt(value: unknown, key: string): string | undefined {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === "string" ? found : undefined;
}

function imageTokens(image: string): number {
  const head = Buffer.from(dataOf(image).slice(0, PNG_HEAD_CHARS), "base64");
  if (head.length < 24 || head.toString("hex", 0, 8) !== PNG) return UNREAD_IMAGE_TOKENS;
  const tokens = sideTokens(head.readUInt32BE(16)) * sideTokens(head.readUInt32BE(20));
  return Math.min(MOST_IMAGE_TOKENS, Math.max(LEAST_IMAGE_TOKENS, tokens));
}

function sideTokens(pixels: number): number {
  return Math.max(1, Math.round(pixels / PIXELS_PER_SIDE));
}

function audioTokens(audio: string): number {
  return audio.startsWith("http") ? UNREAD_AUDIO_TOKENS : Math.ceil(bytesOf(audio) / AUDIO_BYTES_PER_TOKEN);
}

function bytesOf(data: string): number {
  return Buffer.byteLength(dataOf(data), "base64");
}

function dataOf(url: string): string {
  return url.slice(DATA_URL.exec(url)?.[0].length ?? 0);
}
