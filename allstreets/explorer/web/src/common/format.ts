// Numbers for people. A missing number is a dash.

export const DASH = "–";

type Maybe = number | null | undefined;

function exists(value: Maybe): value is number {
  return value !== null && value !== undefined && Number.isFinite(value);
}

/** A share 0 … 1 in per cent: "33.3 %", small ones with more digits. */
export function percent(value: Maybe, digits = 1): string {
  return exists(value) ? `${fixed(100 * value, digits)} %` : DASH;
}

/** A share 0 … 1 in per cent; a positive one is never shown as 0. */
export function often(value: Maybe, digits = 1): string {
  if (!exists(value) || value <= 0) return percent(value, digits);
  const least = 10 ** -digits;
  return 100 * value < least / 2 ? `<${least} %` : percent(value, digits);
}

/** A number with the given digits after the point. */
export function fixed(value: Maybe, digits = 2): string {
  if (!exists(value)) return DASH;
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** A change: a number with its sign, and none where nothing changes. */
export function signed(value: Maybe, digits = 2): string {
  const text = fixed(value, digits);
  return exists(value) && Number(value.toFixed(digits)) > 0 ? `+${text}` : text;
}

/** A number without trailing zeros: 2.5, 100, 0.125. */
export function plain(value: Maybe, digits = 2): string {
  if (!exists(value)) return DASH;
  const text = fixed(value, digits);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Three significant digits: 0.0123, 1.23, 123. */
export function significant(value: Maybe, digits = 3): string {
  if (!exists(value)) return DASH;
  // Adding 0 takes the sign from a zero.
  return (Number(value.toPrecision(digits)) + 0).toLocaleString("en-US", {
    maximumSignificantDigits: digits,
  });
}

const LEAST = 1e-4; // smaller values make no difference to readers

/** How far from an equilibrium: "0.23 % of pot". */
export function quality(value: Maybe, unit: string): string {
  if (!exists(value)) return DASH;
  return `${value > 0 && value < LEAST ? `<${LEAST}` : significant(value)} ${unit}`;
}

export function count(value: Maybe): string {
  return exists(value) ? (Math.round(value) + 0).toLocaleString("en-US") : DASH;
}

export function bytes(value: Maybe): string {
  if (!exists(value)) return DASH;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = value;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${size >= 100 || unit === 0 ? size.toFixed(0) : size.toPrecision(2)} ${units[unit] ?? ""}`;
}

export function duration(seconds: Maybe): string {
  if (!exists(seconds)) return DASH;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${seconds.toFixed(0)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
