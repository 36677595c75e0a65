const UTF8 = new TextEncoder();

interface Source {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly decoder: TextDecoder;
  /** The beginning of an event whose end has not come. */
  rest: string;
}

/**
 * One stream of server-sent events of several; it ends when one of them does, or when `ended` is aborted. Its reader sets the pace: of each
 * source one part waits at most.
 */
export function mergedStream(streams: readonly ReadableStream<Uint8Array>[], ended: AbortSignal): ReadableStream<Uint8Array> {
  const sources: readonly Source[] = streams.map((stream) => ({
    reader: stream.getReader(),
    decoder: new TextDecoder(),
    rest: "",
  }));
  const ready: { readonly source: Source; readonly events: string }[] = [];
  let isOver = false;
  let wake = () => {};
  const finish = () => {
    if (isOver) return;
    isOver = true;
    ended.removeEventListener("abort", finish);
    for (const { reader } of sources) reader.cancel().catch(() => {});
    wake();
  };
  const readNext = (source: Source): void => {
    source.reader.read().then(({ value }) => {
      if (value === undefined) return finish();
      const events = wholeEvents(source, value);
      if (events === "") return readNext(source);
      ready.push({ source, events });
      wake();
    }, finish);
  };
  ended.addEventListener("abort", finish);
  if (ended.aborted) finish();
  for (const source of sources) readNext(source);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (ready.length === 0 && !isOver)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        const next = ready.shift();
        if (next === undefined) return controller.close();
        controller.enqueue(UTF8.encode(next.events));
        if (!isOver) readNext(next.source);
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  );
}

/** The events that are complete now; the rest of the text waits for its end. */
function wholeEvents(source: Source, bytes: Uint8Array): string {
  const text = source.rest + source.decoder.decode(bytes, { stream: true });
  const end = text.lastIndexOf("\n\n");
  source.rest = end < 0 ? text : text.slice(end + 2);
  return end < 0 ? "" : text.slice(0, end + 2);
}
