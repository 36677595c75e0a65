import type { Random } from "../../../core/contract/profile-plugin.ts";
import { Prompt, type Trace, type TraceRequest } from "./trace.ts";

/** Which requests get an image: a share of them, from 0 to 1. */
export interface ImageSettings {
  readonly share: number;
  readonly areRecognised: boolean;
}

/** Photos and screenshots: a side of 600 to 1,800 pixels, a token for each 28 x 28 pixels (Qwen2.5-VL), 0.2 to 1 byte a pixel. */
const SMALLEST_SIDE = 600;
const LARGEST_SIDE = 1_800;
const PIXELS_PER_TOKEN = 28 * 28;
const FEWEST_BYTES_PER_PIXEL = 0.2;
const MOST_BYTES_PER_PIXEL = 1;

/** The trace with images of its own at the end of some prompts: the engine computes more tokens, the body has many more bytes. */
export function withImages(trace: Trace, { share, areRecognised }: ImageSettings, random: Random): Trace {
  if (share === 0) return trace;
  let last = trace.requests.reduce((most, { prompt }) => prompt.blocks.reduce((id, block) => Math.max(id, block), most), 0);
  const requests = trace.requests.map((request) => {
    if (random() >= share) return request;
    const side = SMALLEST_SIDE + random() * (LARGEST_SIDE - SMALLEST_SIDE);
    const bytesPerPixel = FEWEST_BYTES_PER_PIXEL + random() * (MOST_BYTES_PER_PIXEL - FEWEST_BYTES_PER_PIXEL);
    const tokens = Math.round(side ** 2 / PIXELS_PER_TOKEN);
    const image = { bytes: 4 * Math.round((side ** 2 * bytesPerPixel) / 3), isRecognised: areRecognised };
    last += 1;
    return { ...request, prompt: longer(request.prompt, last, tokens), image } satisfies TraceRequest;
  });
  const name = `${trace.name} with an image in ${Math.round(share * 100)} % of its prompts${areRecognised ? "" : ", taken for text"}`;
  return { ...trace, name, requests };
}

/** The prompt with one more block. */
function longer(prompt: Prompt, id: number, tokens: number): Prompt {
  const { blocks } = prompt;
  const starts = [0];
  for (let block = 0; block < blocks.length; block++) starts.push(starts[block]! + prompt.tokensIn(block));
  const all = prompt.tokens + tokens;
  return new Prompt(all, Int32Array.from([...blocks, id]), (block) => starts[block] ?? all);
}
