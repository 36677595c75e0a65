import { ReadOnlyViews } from "./read-only-views.ts";

/**
 * The views of one set of plugins, by author. The files of an operator are one author, each package is one. Plugins of one author see
 * one view of a request, so a scorer can keep in a WeakMap what its observer reads there. Another author's plugins see another one.
 */
export class AuthorViews {
  readonly #byAuthor = new Map<string, ReadOnlyViews>();

  /** `from`: as it stands in the config, a path or a package. */
  of(from: string): ReadOnlyViews {
    const author = PACKAGE.exec(from)?.[1] ?? "";
    const known = this.#byAuthor.get(author) ?? new ReadOnlyViews();
    this.#byAuthor.set(author, known);
    return known;
  }
}

/** The name of a package, whatever is loaded from it. Paths begin with a dot, a slash or "file:". */
const PACKAGE = /^(?!file:|[./\\]|[a-z]:[/\\])(?:npm:)?((?:@[^/]+\/)?[^/]+)/i;
