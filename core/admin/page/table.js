// A table whose rows stay while their contents change, so that focus, selection and scroll stay too. It is sorted by its heads.

import { keepChildren, make, setText } from "./dom.js";

const collator = new Intl.Collator("en", { numeric: true });

/**
 * A column is { id, title, hint?, className?, sortKey?, makeCell }: `sortKey(item)` is what it is sorted by (a number, a text, or null,
 * which comes last), `makeCell(td)` returns the function that draws an item, with a context, into the cell.
 */
export class SortedTable {
  #columns;
  #heads = new Map();
  #body = make("tbody");
  #rows = new Map();
  #items = [];
  #isShown = () => true;
  #sort;
  #chooser;

  /** `sort` is { id, isDown } at first; `chooser` is a <select> that does what the heads do, for narrow screens. */
  constructor(table, columns, sort, chooser) {
    this.#columns = columns;
    this.#sort = sort;
    this.#chooser = chooser;
    const heads = columns.map((column) => this.#head(column));
    table.append(make("thead", "", make("tr", "", ...heads)), this.#body);
    const sortable = columns.filter(({ sortKey }) => sortKey !== undefined);
    chooser.append(...sortable.map(({ id, title }) => Object.assign(make("option", "", title), { value: id })));
    chooser.addEventListener("change", () => this.#sortBy(chooser.value));
    this.#markSort();
  }

  /** `note(id)` is a second line of the column's head. */
  draw(items, keyOf, context, note) {
    this.#items = items;
    const rows = new Map();
    for (const item of items) rows.set(keyOf(item), this.#rows.get(keyOf(item)) ?? this.#makeRow());
    const isNew = rows.size !== this.#rows.size || [...rows.keys()].some((key) => !this.#rows.has(key));
    this.#rows = rows;
    for (const item of items) {
      const row = rows.get(keyOf(item));
      row.item = item;
      for (const update of row.updates) update(item, context);
    }
    for (const [index, { id, title }] of this.#columns.entries()) this.#note(index, id, title, note(id));
    this.#filter();
    // Rows hold still under the pointer and the focus, unless one comes or goes.
    if (isNew || !(this.#body.matches(":hover") || this.#body.contains(document.activeElement))) this.#order();
  }

  /** Shows only rows of items for which it returns true; returns how many those are. */
  filter(isShown) {
    this.#isShown = isShown;
    return this.#filter();
  }

  /** On narrow screens, each cell has its head, and what the head says of a full bar. */
  #note(index, id, title, text) {
    setText(this.#heads.get(id).noteLine, text);
    const label = text === "" ? title : `${title}, ${text}`;
    for (const { element } of this.#rows.values()) {
      const { dataset } = element.cells[index];
      if (dataset.label !== label) dataset.label = label;
    }
  }

  #filter() {
    let shown = 0;
    for (const row of this.#rows.values()) {
      const isShown = this.#isShown(row.item);
      if (isShown) shown += 1;
      if (row.element.hidden === isShown) row.element.hidden = !isShown;
    }
    return shown;
  }

  #head({ id, title, hint = "", className = "", sortKey }) {
    const noteLine = make("span", "note");
    const label = make(sortKey === undefined ? "span" : "button", "label", title);
    const head = make("th", className, label, noteLine);
    head.scope = "col";
    label.title = hint;
    if (sortKey !== undefined) {
      label.type = "button";
      label.addEventListener("click", () => this.#sortBy(id));
    }
    this.#heads.set(id, { head, noteLine });
    return head;
  }

  #makeRow() {
    const cells = this.#columns.map(({ className = "" }) => make("td", className));
    const updates = this.#columns.map(({ makeCell }, index) => makeCell(cells[index]));
    return { element: make("tr", "", ...cells), updates, item: undefined };
  }

  /** Numbers begin with the largest, texts with "a". */
  #sortBy(id) {
    const { sortKey } = this.#columns.find((column) => column.id === id);
    const first = this.#items.map((item) => sortKey(item)).find((value) => value !== null);
    const isSame = this.#sort.id === id;
    this.#sort = { id, isDown: isSame ? !this.#sort.isDown : typeof first === "number" };
    this.#markSort();
    this.#order();
  }

  #markSort() {
    const { id: sorted, isDown } = this.#sort;
    for (const [id, { head }] of this.#heads) {
      if (id === sorted) head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    this.#chooser.value = sorted;
  }

  #order() {
    const { sortKey } = this.#columns.find(({ id }) => id === this.#sort.id);
    const sign = this.#sort.isDown ? -1 : 1;
    const rows = [...this.#rows.values()].map((row) => ({ row, value: sortKey(row.item) }));
    rows.sort((one, other) => {
      if (one.value === null || other.value === null) return Number(one.value === null) - Number(other.value === null);
      return sign * compare(one.value, other.value);
    });
    keepChildren(
      this.#body,
      rows.map(({ row }) => row.element),
    );
  }
}

function compare(one, other) {
  return typeof one === "number" ? one - other : collator.compare(one, other);
}
