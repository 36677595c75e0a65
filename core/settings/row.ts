// What a row of the settings' tables says of one setting.

/**
 * What a number counts, and how the config may write it. In a row all times are in milliseconds; the config writes "seconds" as
 * seconds. A "percent" is above its `min`, a "part" below its `max`; the config may write a part in percent.
 */
export type Unit = "count" | "bytes" | "milliseconds" | "seconds" | "share" | "percent" | "part";

interface Row {
  /** Its key in the config, where that is another one than the router's own name for it. */
  readonly key?: string;
  /** What it means, for editors. */
  readonly text: string;
}

/** A number without a default of its own. */
export interface NumberRow extends Row {
  readonly unit: Unit;
  readonly min: number;
  readonly max: number;
}

interface NumberSetting extends NumberRow {
  readonly default: number;
}

export interface Limit extends NumberSetting {
  /** What happens beyond it, and why this value: for config/LIMITS.md. */
  readonly beyond: string;
}

interface SwitchSetting extends Row {
  readonly default: boolean;
}

/** The text of a choice names the default itself. */
export interface ChoiceSetting<Choice extends string> extends Row {
  readonly default: Choice;
  readonly choices: readonly Choice[];
}

export type Setting = NumberSetting | SwitchSetting | ChoiceSetting<string>;
export type SettingsTable = Readonly<Record<string, Setting>>;

/** The values of a table's settings, by their names. */
export type ValuesOf<Table extends SettingsTable> = { readonly [Name in keyof Table]: Table[Name]["default"] };

export function defaultsOf<Table extends SettingsTable>(table: Table): ValuesOf<Table> {
  return Object.fromEntries(Object.entries(table).map(([name, row]) => [name, row.default])) as ValuesOf<Table>;
}

export const KIB = 1024;
export const MIB = 1024 * KIB;
/** The runtimes' timers take no longer time. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const numbers = (unit: Unit, min: number, max: number) => ({ unit, min, max });
export const seconds = (min = 1, max = LONGEST_TIMER_MS) => numbers("seconds", min, max);
export const TIMER = numbers("milliseconds", 1, LONGEST_TIMER_MS);
export const onOff = (value: boolean, text: string): SwitchSetting => ({ default: value, text });
