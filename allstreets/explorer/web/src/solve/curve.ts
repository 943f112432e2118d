// The curve of a solve as a chart draws it.

import type { CurvePoint } from "./events";

export interface CurveData {
  iterations: number[];
  exploitability: (number | null)[];
  target: (number | null)[];
}

/** A logarithmic axis has no place for 0: a perfect solution leaves a gap. */
export function curveData(points: readonly CurvePoint[], target: number | null): CurveData {
  const checked = points.filter((point) => point.exploitability !== null);
  return {
    iterations: checked.map((point) => point.iteration),
    exploitability: checked.map(({ exploitability }) =>
      exploitability !== null && exploitability > 0 ? exploitability : null,
    ),
    target: checked.map(() => target),
  };
}
