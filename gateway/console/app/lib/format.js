// Values as people read them.
const NUMBER = new Intl.NumberFormat(undefined);
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const UNITS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** Counts travel as numbers, or as strings when they are int64. */
export function number(value) {
  return NUMBER.format(Number(value ?? 0));
}

export function tokens(value) {
  return `${number(value)} ${Number(value) === 1 ? "token" : "tokens"}`;
}

export function plural(count, one, many = `${one}s`) {
  return `${number(count)} ${Number(count) === 1 ? one : many}`;
}

/** "3 hours ago", "in 2 days"; "now" within a minute. */
export function ago(time, now = Date.now()) {
  const seconds = (Date.parse(time) - now) / 1000;
  if (Number.isNaN(seconds)) return "";
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return RELATIVE.format(Math.trunc(seconds / size), unit);
  }
  return "just now";
}

export function fullTime(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleString();
}

/** "2 d 4 h", "3 min 05 s", "9 s": what is left, largest two units. */
export function duration(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  const days = Math.floor(whole / 86_400);
  const hours = Math.floor((whole % 86_400) / 3_600);
  const minutes = Math.floor((whole % 3_600) / 60);
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  if (minutes) return `${minutes} min ${String(whole % 60).padStart(2, "0")} s`;
  return `${whole} s`;
}

/** "FLOOR_STATE_COMMITTED", "FLOOR_STATE_" -> "committed". */
export function enumWord(value, prefix) {
  return String(value ?? "").replace(prefix, "").replaceAll("_", " ").toLowerCase();
}

export function shortId(id) {
  return id ? id.slice(-6) : "";
}

export function clip(text, length = 80) {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length > length ? `${flat.slice(0, length - 1)}…` : flat;
}

/** JSON as it is kept, indented when it parses. */
export function prettyJson(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
