import { BlockIds, numberIn, Prompt, type TraceFormat, type TraceRequest } from "./trace.ts";
export function accessLogFormat(): TraceFormat {
  const ids = new BlockIds();
  return { hasPrefixes: () => false, request: () => undefined as TraceRequest | undefined };
}
