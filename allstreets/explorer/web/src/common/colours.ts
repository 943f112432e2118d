// Colours of actions and of numbers, written with the custom properties of the theme: when the
// theme changes, drawings change with it.

export interface Toned {
  tone: "fold" | "call" | "aggressive";
  shade: number; // of bets and raises: 0 the smallest … 1 all-in
}

/** A share of a bar. */
export interface Part {
  colour: string;
  share: number;
}

export function actionColour(action: Toned): string {
  if (action.tone === "fold") return "var(--fold)";
  if (action.tone === "call") return "var(--call)";
  return between("var(--raise-low)", "var(--raise-high)", action.shade);
}

/** From bad to good: 0 … 1. */
export function heatColour(share: number): string {
  return share < 0.5
    ? between("var(--value-low)", "var(--value-mid)", 2 * share)
    : between("var(--value-mid)", "var(--value-high)", 2 * share - 1);
}

/** From little to much: 0 … 1. */
export function amountColour(share: number): string {
  return between("var(--rest-cell)", "var(--amount)", share);
}

function between(from: string, to: string, share: number): string {
  const percent = Math.round(100 * Math.min(Math.max(share, 0), 1));
  if (percent === 0) return from;
  if (percent === 100) return to;
  return `color-mix(in oklab, ${to} ${percent}%, ${from})`;
}

/** The actions of a range as shares of a bar, in the usual order: from the fold to all-in. */
export function actionParts(
  actions: readonly Toned[],
  chances: readonly (number | null | undefined)[],
): Part[] {
  return actions
    .map((action, place) => ({ colour: actionColour(action), share: chances[place] ?? 0 }))
    .filter((part) => part.share > 0);
}

/** A bar as a CSS background, from the left to the right. */
export function barBackground(parts: readonly Part[]): string {
  const total = parts.reduce((sum, part) => sum + part.share, 0);
  if (total <= 0) return "none";
  let from = 0;
  const stops = parts.map((part) => {
    const to = from + (100 * part.share) / total;
    const stop = `${part.colour} ${short(from)}% ${short(to)}%`;
    from = to;
    return stop;
  });
  return `linear-gradient(90deg, ${stops.join(", ")})`;
}

function short(value: number): string {
  return String(Number(value.toFixed(2)));
}
