import { describe, expect, it } from "vitest";
import theme from "../app/theme.css?raw";
import { actionColour, actionParts, amountColour, barBackground, heatColour } from "./colours";

const FOLD = { tone: "fold", shade: 0 } as const;
const CALL = { tone: "call", shade: 0 } as const;
const RAISE = { tone: "aggressive", shade: 0.5 } as const;
const ALL_IN = { tone: "aggressive", shade: 1 } as const;

describe("colours", () => {
  it("grade bets and raises by their size", () => {
    expect(actionColour(FOLD)).toBe("var(--fold)");
    expect(actionColour(RAISE)).toContain("50%");
    expect(actionColour(ALL_IN)).toBe("var(--raise-high)");
  });

  it("run from bad through the middle to good, and no further", () => {
    expect(heatColour(0)).toBe("var(--value-low)");
    expect(heatColour(0.5)).toBe("var(--value-mid)");
    expect(heatColour(1)).toBe("var(--value-high)");
    expect(heatColour(-3)).toBe(heatColour(0));
    expect(heatColour(7)).toBe(heatColour(1));
  });
});

describe("bars", () => {
  it("begin with the fold and end with the biggest raise, as the keys do", () => {
    const parts = actionParts([FOLD, CALL, RAISE, ALL_IN], [0.25, 0.5, 0, 0.25]);
    expect(parts.map((part) => part.colour)).toEqual([
      "var(--fold)",
      "var(--call)",
      "var(--raise-high)",
    ]);
    expect(barBackground(parts)).toBe(
      "linear-gradient(90deg, var(--fold) 0% 25%, var(--call) 25% 75%, var(--raise-high) 75% 100%)",
    );
  });

  it("are full even if shares are rounded, and empty where nothing is known", () => {
    expect(barBackground(actionParts([FOLD, CALL], [0.333, 0.333]))).toContain("50% 100%");
    expect(barBackground(actionParts([FOLD, CALL], [null, null]))).toBe("none");
    expect(barBackground([])).toBe("none");
  });
});

// The theme's own colours, mixed as browsers mix them, against WCAG's measure for small letters.
type Triple = readonly [number, number, number];
const triple = (of: (at: 0 | 1 | 2) => number): Triple => [of(0), of(1), of(2)];
const times = (matrix: readonly Triple[], [a, b, c]: Triple): Triple =>
  triple((row) => {
    const [x, y, z] = matrix[row] ?? [0, 0, 0];
    return x * a + y * b + z * c;
  });

/** The properties of the theme in a look and a palette. */
function properties(look: string, palette: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, selector = "", body = ""] of theme.matchAll(/(:root[^{]*){([^}]*)}/g)) {
    const fits = [...selector.matchAll(/\[data-(\w+)="(\w+)"\]/g)].every(
      ([, kind, value]) => value === (kind === "look" ? look : palette),
    );
    if (!fits) continue;
    for (const [, name = "", value = ""] of body.matchAll(/(--[\w-]+): (#\w{6});/g))
      found.set(name, value);
  }
  return found;
}

function linear(hex: string): Triple {
  return triple((at) => {
    const value = parseInt(hex.slice(1 + 2 * at, 3 + 2 * at), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
}

function oklab(colour: Triple): Triple {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    colour,
  );
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    triple((at) => Math.cbrt(cones[at])),
  );
}

function fromOklab(lab: Triple): Triple {
  const cones = times(
    [
      [1, 0.3963377774, 0.2158037573],
      [1, -0.1055613458, -0.0638541728],
      [1, -0.0894841775, -1.291485548],
    ],
    lab,
  );
  return times(
    [
      [4.0767416621, -3.3077115913, 0.2309699292],
      [-1.2684380046, 2.6097574011, -0.3413193965],
      [-0.0041960863, -0.7034186147, 1.707614701],
    ],
    triple((at) => cones[at] ** 3),
  );
}

/** What a colour of this file comes to: a property, or a mix of two. */
function seen(text: string, known: ReadonlyMap<string, string>): Triple {
  const named = [...text.matchAll(/--[\w-]+/g)].map(([name]) => linear(known.get(name) ?? "none"));
  const share = Number(/(\d+)%/.exec(text)?.[1] ?? 100) / 100;
  const [to, from] = named;
  if (!to || !from) return to ?? [NaN, NaN, NaN];
  const [a, b] = [oklab(to), oklab(from)];
  return fromOklab(triple((at) => share * a[at] + (1 - share) * b[at]));
}

function contrast(one: Triple, other: Triple): number {
  const [bright, dark] = [one, other]
    .map(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
    .sort((a, b) => b - a);
  return (bright ?? NaN) / (dark ?? NaN);
}

describe.each([
  ["light", "usual"],
  ["dark", "usual"],
  ["light", "safe"],
  ["dark", "safe"],
])("letters in the grid, %s and %s", (look, palette) => {
  const known = properties(look, palette);
  const shares = Array.from({ length: 101 }, (_, percent) => percent / 100);
  const least = (text: string, colours: string[]) =>
    Math.min(
      ...colours.map((colour) => contrast(seen(`var(${text})`, known), seen(colour, known))),
    );

  it("can be read on every action, and on what is left of the cell", () => {
    const raises = shares.map((shade) => actionColour({ tone: "aggressive", shade }));
    const cells = [...raises, actionColour(FOLD), actionColour(CALL), "var(--rest-cell)"];
    expect(least("--strong-text", cells)).toBeGreaterThanOrEqual(4.5);
    const others = ["var(--oop-cell)", "var(--ip-cell)", ...shares.map(amountColour)];
    expect(least("--strong-text", others)).toBeGreaterThanOrEqual(4.5);
  });

  it("stand on another colour than that of folding where reach is shown", () => {
    const fold = oklab(seen("var(--fold)", known));
    for (const name of ["--oop-cell", "--ip-cell", "--amount"]) {
      const lab = oklab(seen(`var(${name})`, known));
      expect(Math.hypot(...lab.map((value, at) => value - (fold[at] ?? 0)))).toBeGreaterThan(0.1);
    }
  });

  it("can be read on every number", () => {
    expect(least("--pale-text", shares.map(heatColour))).toBeGreaterThanOrEqual(4.5);
  });
});

describe.each(["usual", "safe"])("marks of actions on a dark panel, %s", (palette) => {
  it("stand out", () => {
    const known = properties("dark", palette);
    for (const name of ["fold", "call", "raise-low", "raise-high"])
      expect(contrast(seen(`var(--${name})`, known), seen("var(--panel)", known))).toBeGreaterThan(1.6);
  });
});
