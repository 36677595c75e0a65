// A table of items, each in a line that opens: sorted, filtered, shown a page at a time.

import { Kept, keepChildren, make, makeButton, openable, setText } from "./dom.js";
import { whole } from "./format.js";

const PAGE_ROWS = 25;

const collator = new Intl.Collator("en", { numeric: true });

/**
 * A column is { id, title, hint?, className, sortKey, makeCell }: `sortKey(item)` is a number, a text, or null, which comes last;
 * `makeCell(td)` returns what draws an item, with a context, into the cell. The first one's cell is the button that opens the row.
 */
export class SortedTable {
  #table;
  #columns;
  #keyOf;
  #makeDetails;
  #heads = new Map();
  #items = new Map();
  /** Sorted. */
  #keys = [];
  #rows = new Kept((item) => this.#makeRow(item));
  #open = new Set();
  #context = {};
  #isShown = () => true;
  #page = 0;
  #sort;
  #pager;

  /** `pager` has two buttons and an <output>; `makeDetails()` returns { element, update }; `sort` is { id, isDown } at first. */
  constructor(table, pager, columns, keyOf, makeDetails, sort) {
    this.#table = table;
    this.#columns = columns;
    this.#keyOf = keyOf;
    this.#makeDetails = makeDetails;
    this.#sort = sort;
    this.#pager = pager;
    const heads = columns.map((column) => this.#head(column));
    table.append(make("thead", "", make("tr", "", ...heads)));
    for (const [index, step] of [-1, 1].entries())
      pager.children[index].addEventListener("click", () => {
        this.#page += step;
        this.#show();
      });
    this.#markSort();
  }

  /** Returns how many items the filter leaves. */
  draw(items, context) {
    const known = this.#items;
    this.#items = new Map(items.map((item) => [this.#keyOf(item), item]));
    this.#context = context;
    for (const key of this.#open) if (!this.#items.has(key)) this.#open.delete(key);
    const isNew = known.size !== this.#items.size || [...this.#items.keys()].some((key) => !known.has(key));
    // Rows hold still under the pointer and the focus, unless one comes or goes.
    const isHeld = this.#table.querySelector("tbody:is(:hover, :focus-within)") !== null;
    if (isNew || !isHeld) this.#order();
    return this.#show();
  }

  /** Shows only items for which it returns true; returns how many those are. */
  filter(isShown) {
    this.#isShown = isShown;
    this.#page = 0;
    return this.#show();
  }

  #show() {
    const shown = this.#keys.map((key) => this.#items.get(key)).filter(this.#isShown);
    const lastPage = Math.max(0, Math.ceil(shown.length / PAGE_ROWS) - 1);
    this.#page = Math.min(this.#page, lastPage);
    const from = this.#page * PAGE_ROWS;
    const page = shown.slice(from, from + PAGE_ROWS);
    keepChildren(this.#table, [this.#table.tHead, ...this.#rows.of(page, this.#keyOf, this.#context)]);
    const [back, on, place] = this.#pager.children;
    this.#pager.hidden = lastPage === 0;
    back.disabled = this.#page === 0;
    on.disabled = this.#page === lastPage;
    setText(place, `${whole(from + 1)} to ${whole(from + page.length)} of ${whole(shown.length)}`);
    return shown.length;
  }

  #head({ id, title, hint = "", className }) {
    const label = makeButton(title, () => this.#sortBy(id));
    label.className = "label";
    label.title = hint;
    const head = make("th", className, label);
    head.scope = "col";
    this.#heads.set(id, head);
    return head;
  }

  #makeRow(item) {
    const key = this.#keyOf(item);
    const cells = this.#columns.map(({ className }) => make("td", className));
    const opener = makeButton("", () => {});
    cells[0].append(opener);
    const updates = this.#columns.map(({ makeCell }, index) => makeCell(index === 0 ? opener : cells[index]));
    let details;
    const makeContent = () => {
      details = this.#makeDetails();
      details.update(this.#items.get(key), this.#context);
      return details.element;
    };
    const { element, show } = openable(make("tr", "", ...cells), opener, makeContent, this.#open, key);
    return {
      element,
      update: (next, context) => {
        for (const update of updates) update(next, context);
        show();
        if (this.#open.has(key)) details.update(next, context);
      },
    };
  }

  /** Numbers begin with the largest, texts with "a". */
  #sortBy(id) {
    const { sortKey } = this.#columns.find((column) => column.id === id);
    const first = [...this.#items.values()].map((item) => sortKey(item)).find((value) => value !== null);
    const isSame = this.#sort.id === id;
    this.#sort = { id, isDown: isSame ? !this.#sort.isDown : typeof first === "number" };
    this.#page = 0;
    this.#markSort();
    this.#order();
    this.#show();
  }

  #markSort() {
    const { id: sorted, isDown } = this.#sort;
    for (const [id, head] of this.#heads) {
      if (id === sorted) head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  }

  #order() {
    const { sortKey } = this.#columns.find(({ id }) => id === this.#sort.id);
    const sign = this.#sort.isDown ? -1 : 1;
    const rows = [...this.#items].map(([key, item]) => ({ key, value: sortKey(item) }));
    rows.sort((one, other) => {
      if (one.value === null || other.value === null) return Number(one.value === null) - Number(other.value === null);
      return sign * compare(one.value, other.value);
    });
    this.#keys = rows.map(({ key }) => key);
  }
}

function compare(one, other) {
  return typeof one === "number" ? one - other : collator.compare(one, other);
}
