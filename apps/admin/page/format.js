// Numbers and times as people read them. Null is what is not known.

const NONE = "–";

export const whole = (value) => (value === null ? NONE : Math.round(value).toLocaleString("en-US"));

export function percent(share) {
  return share === null ? NONE : `${Math.round(share * 1000) / 10} %`;
}

/** With about three digits. */
export function number(value) {
  if (value === null) return NONE;
  return value >= 100 ? whole(value) : String(Number(value.toPrecision(3)));
}

export function milliseconds(ms) {
  if (ms === null) return NONE;
  if (ms < 1000) return `${ms < 10 ? Number(ms.toPrecision(2)) : Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

export function duration(seconds) {
  if (seconds < 120) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** How long ago, at the time that the router shows. */
export const ageS = (iso, now) => (Date.parse(now) - Date.parse(iso)) / 1000;

export const clockTime = (iso) => new Date(iso).toLocaleTimeString("en-GB");

export const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : "s"}`;

/** The smallest of 1, 2, 5, 10, 20 … that is not below a value above 0: the full length of a bar, or the top of a chart. */
export function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((top) => top >= value) ?? value;
}

export const labelTexts = ({ labels }) => Object.entries(labels).map(([key, value]) => `${key}=${value}`);

/** "a, b, c and 4 more". */
export function listed(names, most) {
  const more = names.length - most;
  return more > 0 ? `${names.slice(0, most).join(", ")} and ${more} more` : names.join(", ");
}
