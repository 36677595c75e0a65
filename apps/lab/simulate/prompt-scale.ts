import { MAX_PROMPT_TOKENS, Prompt, type Trace, TraceError, type TraceRequest } from "./trace.ts";

/** The trace with prompts that are so many times as long, and share as much of them as before. Throws a TraceError for one that is too long. */
export function withPromptScale(trace: Trace, scale: number): Trace {
  if (scale === 1) return trace;
  const requests = trace.requests.map((request) => ({ ...request, prompt: scaled(request, scale) }));
  return { ...trace, name: `${trace.name} with prompts ${scale} times as long`, requests };
}

function scaled({ line, prompt }: TraceRequest, scale: number): Prompt {
  const { blocks } = prompt;
  const ends = [0];
  let end = 0;
  for (let block = 0; block < blocks.length; block++) {
    end += prompt.tokensIn(block);
    ends.push(Math.round(end * scale));
  }
  const tokens = Math.max(1, Math.round(prompt.tokens * scale));
  if (tokens > MAX_PROMPT_TOKENS)
    throw new TraceError(
      `Line ${line}: a prompt of ${prompt.tokens} tokens can't be ${scale} times as long; it may have ${MAX_PROMPT_TOKENS}.`,
    );
  return new Prompt(tokens, blocks, (block) => ends[block] ?? tokens);
}
