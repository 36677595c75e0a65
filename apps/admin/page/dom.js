// Names come from clients and replicas: they become texts, never HTML.

export const at = (id) => document.getElementById(id);

/** Makes an element with a class and children; a child is an element or a text, and "" is left out. */
export function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children.filter((child) => child !== ""));
  return element;
}

/** Changes nothing that is as it should be, so that selected text stays selected. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Returns what draws texts as the lines of a list. */
export function textLines(list) {
  const lines = new Kept((text) => ({ element: make("li", "", text), update() {} }));
  return (texts) =>
    keepChildren(
      list,
      lines.of(texts, (text) => text),
    );
}

export function makeButton(text, click) {
  const button = make("button", "", text);
  button.type = "button";
  button.addEventListener("click", click);
  return button;
}

/**
 * A row that opens into a second one, whose content is made when it is first opened. `open` has the keys of open rows; what it has
 * is shown by `show`. `turned` is told whether the row is open now.
 */
export function openable(row, opener, makeContent, open, key, turned) {
  const cell = make("td");
  cell.colSpan = row.cells.length;
  const detail = make("tr", "detail", cell);
  detail.hidden = true;
  row.classList.add("opens");
  opener.className = "opener";
  const show = () => {
    const isOpen = open.has(key);
    if (isOpen && cell.childElementCount === 0) cell.append(makeContent());
    detail.hidden = !isOpen;
    opener.ariaExpanded = String(isOpen);
  };
  row.addEventListener("click", () => {
    // Selecting text is no click.
    if (!getSelection().isCollapsed) return;
    if (!open.delete(key)) open.add(key);
    show();
    turned?.(open.has(key));
  });
  return { element: make("tbody", "", row, detail), show };
}

/** A cell whose head stands beside it on narrow screens. */
export function makeCell(label, className, ...children) {
  const cell = make("td", className, ...children);
  cell.dataset.label = label;
  return cell;
}

/** A table's head. */
export function makeHead(columns) {
  const cells = columns.map(([title, className]) => Object.assign(make("th", className, title), { scope: "col" }));
  return make("thead", "", make("tr", "", ...cells));
}

/** Gives `parent` these children in this order. Only those out of place are moved, and the focus stays where it is. */
export function keepChildren(parent, wanted) {
  const focused = document.activeElement;
  let next = parent.firstElementChild;
  for (const child of wanted) {
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
  while (next !== null) {
    const after = next.nextElementSibling;
    next.remove();
    next = after;
  }
  if (focused !== document.activeElement && parent.contains(focused)) focused.focus({ preventScroll: true });
}

/** One element for each key, made at first sight and then kept. `update` gets what the key stands for now. */
export class Kept {
  #make;
  #parts = new Map();

  /** `make` returns `{ element, update }`. */
  constructor(make) {
    this.#make = make;
  }

  /** The elements of these items, in their order; those of others are forgotten. */
  of(items, keyOf, ...context) {
    const known = this.#parts;
    this.#parts = new Map(items.map((item) => [keyOf(item), known.get(keyOf(item)) ?? this.#make(item)]));
    for (const item of items) this.#parts.get(keyOf(item)).update(item, ...context);
    return [...this.#parts.values()].map(({ element }) => element);
  }
}

/** A bar with a text. The returned function fills it to a share. */
export function makeMeter(parent) {
  const fill = make("span", "fill");
  const value = make("span");
  const track = make("span", "track", fill);
  track.setAttribute("aria-hidden", "true");
  parent.append(track, value);
  return (share, text) => {
    fill.style.width = `${Math.min(100, Math.max(0, share * 100)).toFixed(1)}%`;
    track.hidden = share === null;
    setText(value, text);
  };
}
