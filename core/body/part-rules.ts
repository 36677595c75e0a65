import type { PartKind } from "../contract/prompt-part.ts";

/** A part object of a conversation, without the long string that was found in it. */
export type PartObject = Readonly<Record<string, unknown>>;

/**
 * Keys whose string may be an image, audio, a video or a file. They end in one of the letters of `MEDIA_KEY_ENDS`, which few other
 * keys of prompts do.
 */
export const MEDIA_KEYS: readonly string[] = [
  "url",
  "data",
  "image_url",
  "audio_url",
  "video_url",
  "file_url",
  "file_data",
  "file_id",
];
export const MEDIA_KEY_ENDS: readonly [number, number, number] = [0x6c, 0x61, 0x64];

/**
 * Keys that lead from a conversation to its part objects: of messages, results of tools and documents. A part under any other key
 * (the input of a tool, a schema) is text for the engine.
 */
export const PATH_KEYS: readonly string[] = ["content", "output", "source"];

/** Files whose content the engine reads as text. */
const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|javascript|x-ndjson|yaml))/i;

/**
 * What a part object is for an engine; undefined for text, and for whatever no engine takes as a part. `place` is the path of the
 * string in the object ("image_url.url"), `head` its beginning.
 */
export function kindOfPart(part: PartObject, place: string, head: string): PartKind | undefined {
  const { type } = part;
  switch (place) {
    case "image_url":
    case "image_url.url":
      return type === undefined || type === "image_url" || type === "input_image" ? "image" : undefined;
    case "output.image_url":
      return type === "computer_call_output" ? "image" : undefined;
    case "audio_url":
    case "audio_url.url":
    case "input_audio.data":
      return type === undefined || type === "audio_url" || type === "input_audio" ? "audio" : undefined;
    case "video_url":
    case "video_url.url":
      return type === undefined || type === "video_url" ? "video" : undefined;
    case "file_id":
      return type === "input_image" ? "image" : fileKind(type, "input_file", head);
    case "file_data":
    case "file_url":
      return fileKind(type, "input_file", head);
    case "file.file_data":
    case "file.file_id":
      return fileKind(type, "file", head);
    default:
      return place.startsWith("source.") ? kindOfSource(part, place) : undefined;
  }
}

/** Whether the string holds the data themselves. */
export function isInline(place: string, head: string): boolean {
  return place.endsWith("data") || /^data:/i.test(head);
}

function fileKind(type: unknown, wanted: string, head: string): PartKind | undefined {
  return type === wanted && !TEXT_TYPE.test(head.replace(/^data:/i, "")) ? "file" : undefined;
}

/** The messages API says in `source` what the data are. */
function kindOfSource({ type, source }: PartObject, place: string): PartKind | undefined {
  if (typeof source !== "object" || source === null) return undefined;
  const { type: form, media_type: mediaType } = source as PartObject;
  if (typeof form !== "string" || place !== FORMS[form]) return undefined;
  if (type === "image") return "image";
  const isText = typeof mediaType === "string" && TEXT_TYPE.test(mediaType);
  return type === "document" && !isText ? "file" : undefined;
}

const FORMS: Readonly<Record<string, string>> = { base64: "source.data", url: "source.url", file: "source.file_id" };
