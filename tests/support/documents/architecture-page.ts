import { NO_SLOTS, type Slots } from "../../../core/slots.ts";
import { FLOORS } from "../layers.ts";
import { closureOf, importsOf, isOurs, linesOf, roomOf, SOURCE_FOLDERS, sourcesBelow } from "../source-graph.ts";
import { mermaid, withPart } from "./made-part.ts";
import { markdownTable } from "./markdown-table.ts";

/** The text of ARCHITECTURE.md with the pictures that are made of the source. */
export function withPictures(text: string): string {
  return withPart(withPart(text, "way", wayPicture()), "picture", picture());
}

/** The text of ARCHITECTURE.md with the lines of each room as they are now. */
export function withClosure(text: string): string {
  return withPart(text, "closure", closureTable());
}

/** The stages of a request, each with the slots that it calls, and those that may follow it. */
const WAY: Readonly<Record<string, { readonly slots: readonly (keyof Slots)[]; readonly next: readonly string[] }>> = {
  "the head has come": { slots: ["upgrade", "enter", "decode"], next: ["the body is parsed"] },
  "the body is parsed": { slots: ["choosePool", "admit"], next: ["it may go on", "its pool can't serve it"] },
  "it may go on": { slots: ["answer"], next: ["decide", "respond"] },
  "its pool can't serve it": { slots: ["fallBack"], next: ["the body is parsed"] },
  decide: { slots: ["plan", "compare"], next: ["send to a replica", "its pool can't serve it"] },
  "send to a replica": {
    slots: ["send", "copy", "lost", "admitAgain"],
    next: ["decide", "pass the response on", "its pool can't serve it"],
  },
  "pass the response on": { slots: ["tap", "inflate"], next: ["respond"] },
  respond: { slots: ["lines"], next: ["the request has ended"] },
  "the request has ended": { slots: ["settled", "explain"], next: [] },
};

/** The way of a request as a Mermaid diagram. Throws an Error if it does not show every slot once. */
function wayPicture(): string {
  const shown = Object.values(WAY).flatMap(({ slots }) => slots);
  if (shown.toSorted().join() !== Object.keys(NO_SLOTS).sort().join())
    throw new Error("WAY of architecture-page.ts shows other slots than core/slots.ts has: write each of them once.");
  const stages = Object.keys(WAY);
  const boxes = stages.map((stage, at) => `  s${at}["${stage}<br><i>${WAY[stage]?.slots.join(", ")}</i>"]`);
  const arrows = stages.flatMap((stage, at) => WAY[stage]?.next.map((next) => `  s${at} --> s${stages.indexOf(next)}`) ?? []);
  return mermaid(["flowchart LR", ...boxes, ...arrows]);
}

/** The floors as a Mermaid diagram. An arrow goes to each floor that is imported, but for those that the others' arrows lead to. */
function picture(): string {
  const floorOf = new Map(FLOORS.flatMap(({ layers }, floor) => layers.flat().map((room) => [room, floor])));
  const below = FLOORS.map(() => new Set<number>());
  for (const { file, target } of SOURCE_FOLDERS.flatMap((folder) => sourcesBelow(folder)).flatMap(importsOf)) {
    const [from, to] = [floorOf.get(roomOf(file)), floorOf.get(isOurs(target) ? roomOf(target) : "")];
    if (from !== undefined && to !== undefined && from !== to) below[from]?.add(to);
  }
  const reaches = (from: number, to: number): boolean =>
    [...(below[from] ?? [])].some((next) => next === to || reaches(next, to));
  const boxes = FLOORS.map(({ title, layers }, floor) => `  f${floor}["<b>${title}</b><br>${namesOf(layers.flat())}"]`);
  const arrows = below.flatMap((targets, from) =>
    [...targets]
      .filter((to) => ![...targets].some((other) => reaches(other, to)))
      .sort((a, b) => a - b)
      .map((to) => `  f${from} --> f${to}`),
  );
  return mermaid(["flowchart TD", ...boxes.reverse(), ...arrows.reverse()]);
}

/** "core: body, wire", the folders in front. */
function namesOf(rooms: readonly string[]): string {
  const tops = [...new Set(rooms.map((room) => room.split("/")[0] ?? ""))];
  return tops
    .map((top) => {
      const names = rooms.filter((room) => room.startsWith(`${top}/`)).map((room) => room.slice(top.length + 1));
      const folders = names.filter((name) => !name.endsWith(".ts"));
      return `${top}: ${[...folders, ...names.filter((name) => name.endsWith(".ts"))].join(", ")}`;
    })
    .join("<br>");
}

/** What `signalbox/core` loads, by room. */
function closureTable(): string {
  const [loaded, read] = [false, true].map((isWithTypes) => [...closureOf("core/create-core.ts", isWithTypes)]) as [
    string[],
    string[],
  ];
  const row = (name: string, isOfRow: (file: string) => boolean) => {
    const [files, all] = [loaded.filter(isOfRow), read.filter(isOfRow)];
    return [name, inHundreds(linesOf(files)), inHundreds(linesOf(all))];
  };
  const isFile = (file: string) => roomOf(file) === file;
  const rooms = [...new Set(read.filter((file) => !isFile(file)).map(roomOf))].sort();
  return markdownTable([
    ["room", "lines that are loaded", "lines with types"],
    ...rooms.map((room) => row(`\`${room}/\``, (file) => !isFile(file) && roomOf(file) === room)),
    row("files of `core/`", isFile),
    row("all", () => true),
  ]);
}

/** So that not every change of the source changes the page. */
function inHundreds(lines: number): string {
  return String(Math.round(lines / 100) * 100);
}
