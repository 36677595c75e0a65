import { CommandError, type Input, print } from "../../../config/command.ts";
import type { EndpointUrl } from "../../../core/contract/endpoint.ts";
import { counted } from "../../../core/report/number-text.ts";
import { type Column, columnTable } from "../../../core/report/table.ts";
import { httpSend } from "../../../core/wire/http-get.ts";
import { sliceOf } from "../../lab/simulate/slice.ts";
import type { Trace } from "../../lab/simulate/trace.ts";
import { printableJson, unreachable } from "../admin/ask-admin.ts";
import { fileTextOf, headersOf, onlyWord } from "../frame/command.ts";
import { CLIENTS_URL_WANTED, numberArgument, urlArgument } from "../frame/usage.ts";
import { readTraceFile } from "../simulate/trace-file.ts";
import { stopSignal } from "../start/signals.ts";
import { replay } from "./replay.ts";
import type { Report } from "./tally.ts";

const ASK_MS = 5_000;
const MOST_BYTES = 4 * 1024 * 1024;

/** `signalbox replay`. Returns the exit code: 1 if a request was not answered well, or not all were sent. */
export async function replayCommand(input: Input): Promise<number> {
  const file = onlyWord(input, "the log to replay", "signalbox replay access.log --speed 2");
  const number = (name: string, min: number, max: number, isWhole = false) =>
    numberArgument(`--${name}`, input.text(name) ?? "", min, max, isWhole);
  const speed = number("speed", 0.001, 100_000);
  const connections = number("connections", 1, 10_000, true);
  const silenceMs = 1000 * number("timeout", 0.001, 1e6);
  const slice = {
    fromMinute: number("from", 0, 1e7),
    minutes: input.text("minutes") === undefined ? 1e9 : number("minutes", 0.001, 1e7),
  };
  const url = urlArgument(input.text("url") ?? "", CLIENTS_URL_WANTED);
  const key = fileTextOf(input, "key-file");
  const headers = { ...Object.fromEntries(headersOf(input)), ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  const trace = sliceOf(await readTraceFile(file), { ...slice, mostRequests: Number.POSITIVE_INFINITY });
  const stop = new AbortController();
  void stopSignal().then(() => stop.abort());
  const model = input.text("model") ?? (await firstModel(url, headers, trace));
  const tally = await replay(trace, { url, speed, connections, model, headers, silenceMs, signal: stop.signal });
  const report = { trace: trace.name, requests: trace.requests.length, speed, ...tally.report };
  print(input, report, () => reportText(report, trace));
  return report.good === report.requests ? 0 : 1;
}

/** Also finds out whether there is a router. The model is for traces that name none. */
async function firstModel(
  url: EndpointUrl,
  headers: Readonly<Record<string, string>>,
  trace: Trace,
): Promise<string | undefined> {
  const options = { method: "GET", body: undefined, headers, timeoutMs: ASK_MS, maxBytes: MOST_BYTES };
  const { status, body } = await httpSend(url, "/v1/models", options).catch((thrown) => unreachable(thrown, url, "--url"));
  if (trace.requests[0]?.served !== undefined) return undefined;
  const id = status === 200 ? modelIn(body) : undefined;
  if (id === undefined)
    throw new CommandError(
      1,
      `${url.href} lists no model (status ${status}), and the trace names none; name one with --model NAME.`,
    );
  return id;
}

function modelIn(body: string): string | undefined {
  try {
    const { data } = printableJson(body) as { readonly data?: readonly { readonly id?: unknown }[] };
    const id = data?.[0]?.id;
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}

type Shown = Report & { readonly trace: string; readonly requests: number; readonly speed: number };

const count = (value: number) => value.toLocaleString("en-US");
const ms = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;

function reportText(report: Shown, { skippedLines }: Trace): string {
  const { trace, requests, speed, sent, ended, statuses, lateMsP99, placed, samePlace, endpoints } = report;
  const skipped = skippedLines === 0 ? "" : `, ${counted(skippedLines, "line")} without a served request left out`;
  const stopped =
    ended === requests ? "" : `; stopped with ${count(requests - sent)} not sent and ${count(sent - ended)} under way`;
  const times = [
    { what: "first byte now", ...report.firstByteMs },
    { what: "as recorded", ...report.recordedFirstByteMs },
  ].filter(({ mean }) => mean !== undefined);
  const time = (key: "mean" | "p50" | "p90" | "p99"): Column<(typeof times)[number]> => [key, (row) => ms(row[key] ?? 0)];
  const places = Object.entries(endpoints).map(([name, counts]) => ({ name, ...counts }));
  return `${[
    `${trace}: ${count(sent)} of ${count(requests)} requests sent at ${speed} times the recorded pace${skipped}${stopped}`,
    `sent late (p99): ${ms(lateMsP99)}`,
    "",
    ...columnTable<readonly [string, number]>(
      [
        ["status", ([name]) => name, "left"],
        ["requests", ([, number]) => count(number)],
      ],
      Object.entries(statuses),
    ),
    ...(times.length === 0
      ? []
      : ["", ...columnTable([["", ({ what }) => what, "left"], time("mean"), time("p50"), time("p90"), time("p99")], times)]),
    ...(placed === 0
      ? []
      : [
          "",
          `${count(samePlace)} of ${count(placed)} went where they went then`,
          ...columnTable<(typeof places)[number]>(
            [
              ["endpoint", ({ name }) => name, "left"],
              ["then", (row) => count(row.recorded)],
              ["now", (row) => count(row.now)],
            ],
            places,
          ),
        ]),
  ].join("\n")}\n`;
}
