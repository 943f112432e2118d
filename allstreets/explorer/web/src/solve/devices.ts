// The devices for a spot, as a list to choose from.

import type { Schemas } from "../api/client";

export type DeviceChoice = Schemas["DeviceChoice"];

/**
 * The choices of a form; none where there is nothing to choose. A spot of another machine may name
 * a device that this one does not have: it is listed, so that it can be changed.
 */
export function choices(known: readonly DeviceChoice[], current: string): readonly DeviceChoice[] {
  const named = known.some(({ device }) => device === current);
  const all = named ? known : [...known, { device: current, name: `${current}: not here` }];
  return all.length > 1 ? all : [];
}
