// Two ranges as curves over the same axis.

export type Points = readonly (readonly [number, number])[]; // x rising

export const SAMPLES = 400;

/** The heights of a curve at SAMPLES + 1 places, evenly from 0 to 1; null where there is no curve. */
export function sampled(points: Points): (number | null)[] {
  let at = 0; // the last point at or before x
  return places().map((x) => {
    while (at + 1 < points.length && (points[at + 1]?.[0] ?? Infinity) <= x) at += 1;
    const [before, after] = [points[at], points[at + 1]];
    if (!before) return null;
    if (!after || x <= before[0]) return before[1];
    const share = (x - before[0]) / (after[0] - before[0]);
    return before[1] + share * (after[1] - before[1]);
  });
}

export function places(): number[] {
  return Array.from({ length: SAMPLES + 1 }, (_, place) => place / SAMPLES);
}
