import { guardPicture, guardStates } from "./guard-picture.ts";
import { linePicture, turnPicture } from "./line-picture.ts";
import { withPart } from "./made-part.ts";
import { sessionsPicture } from "./sessions-picture.ts";

/** The files in docs/ with pictures that are made by the router's own code, and what each is made of its text. */
export const PICTURES: readonly (readonly [file: string, make: (text: string) => string | Promise<string>])[] = [
  ["guard.svg", guardPicture],
  ["sessions-first-token.svg", sessionsPicture],
  ["rollouts.md", (text) => withPart(text, "guard", guardStates())],
  ["admission.md", (text) => withPart(withPart(text, "line", linePicture()), "turn", turnPicture())],
];
