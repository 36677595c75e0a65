// What a row of the settings' table says of one setting.

/**
 * What a number counts, and how the config may write it. In a row all times are in milliseconds; the config writes "seconds" as
 * seconds. A "percent" is above its `min`, a "part" below its `max`; the config may write a part in percent.
 */
export type Unit = "count" | "bytes" | "milliseconds" | "seconds" | "share" | "percent" | "part";

export interface AnyRow {
  /** Its key in the config, where that is another one than the router's own name for it. */
  readonly key?: string;
  /** What it means, for editors. */
  readonly text: string;
}

export interface NumberRow extends AnyRow {
  readonly unit: Unit;
  readonly min: number;
  readonly max: number;
  /** The least number of bytes besides 0, where 0 stands for something else. */
  readonly least?: number;
}

type NumberSetting = NumberRow & { readonly default: number };
type SwitchSetting = AnyRow & { readonly default: boolean };

/** The text of a choice names the default itself. */
export interface ChoiceSetting<Choice extends string> extends AnyRow {
  readonly default: Choice;
  readonly choices: readonly Choice[];
}

type Setting = NumberSetting | SwitchSetting | ChoiceSetting<string>;

/** A setting, or a number that has another default in each place where it is used. */
export type Row = Setting | NumberRow;

/** The values of a table's settings, by their names. */
export type ValuesOf<Table extends Readonly<Record<string, Setting>>> = {
  readonly [Name in keyof Table]: Table[Name]["default"];
};

export function defaultsOf<Table extends Readonly<Record<string, Setting>>>(table: Table): ValuesOf<Table> {
  return Object.fromEntries(Object.entries(table).map(([name, row]) => [name, row.default])) as ValuesOf<Table>;
}

export const KIB = 1024;
export const MIB = 1024 * KIB;
/** The runtimes' timers take no longer time. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

// A row in one line: default, text, bounds.
const numbers = (unit: Unit, initial: number, text: string, min: number, max: number): NumberSetting => {
  return { unit, default: initial, text, min, max };
};
export const count = (initial: number, text: string, min = 1, max = 1_000_000) => numbers("count", initial, text, min, max);
export const bytes = (initial: number, text: string, min: number, max: number) => numbers("bytes", initial, text, min, max);
export const part = (initial: number, text: string, min: number, max: number) => numbers("part", initial, text, min, max);
export const share = (initial: number, text: string) => numbers("share", initial, text, 0, 1);
export const percent = (initial: number, text: string) => numbers("percent", initial, text, 0, 100);
export const onOff = (initial: boolean, text: string): SwitchSetting => ({ default: initial, text });
export const time = (initial: number, text: string, min = 1, max = LONGEST_TIMER_MS) =>
  numbers("milliseconds", initial, text, min, max);
/** A time that the config has in seconds, under `key`. */
export const seconds = (key: string, initial: number, text: string, min = 1, max = LONGEST_TIMER_MS) => {
  return { ...numbers("seconds", initial, text, min, max), key };
};
