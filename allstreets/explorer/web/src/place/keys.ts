// The keys of the exploring page.

export type Command =
  | { kind: "back" | "forward" | "up" | "down" | "root" | "mode" | "player" | "help" | "release" }
  | { kind: "enter" } // take the action that is chosen
  | { kind: "take"; action: number };

export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ["ArrowLeft", { kind: "back" }],
  ["ArrowRight", { kind: "forward" }],
  ["ArrowUp", { kind: "up" }],
  ["ArrowDown", { kind: "down" }],
  ["Home", { kind: "root" }],
  ["m", { kind: "mode" }],
  ["p", { kind: "player" }],
  ["?", { kind: "help" }],
  ["Escape", { kind: "release" }],
]);

export const HELP: readonly (readonly [string, string])[] = [
  ["← →", "one step back, one step forward"],
  ["↑ ↓", "choose among the actions, Enter takes the chosen one"],
  ["1 – 9", "take the first, second, … action"],
  ["Home", "to the beginning"],
  ["m", "next view of the grid: strategy, EV, EV loss, equity, EQR, reach, difference"],
  ["p", "the other player's hands"],
  ["Esc", "unpin the hand, leave the grid"],
  ["?", "this help"],
  ["in the grid", "arrows move, Enter opens a hand"],
];

/** The command of a key; null: none, the browser may have it. */
export function commandOf(pressed: Pressed): Command | null {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return null;
  if (/^[1-9]$/.test(pressed.key)) return { kind: "take", action: Number(pressed.key) - 1 };
  const key = pressed.key.length === 1 ? pressed.key.toLowerCase() : pressed.key;
  return COMMANDS.get(key) ?? null;
}

/** Whether a command can run before the requested place is there: it leads away from it. */
export function leads(command: Command): boolean {
  return command.kind === "back" || command.kind === "root" || command.kind === "help";
}

/** Whether an element needs the keys itself, for typing. */
export function takesKeys(element: {
  tagName: string;
  type?: string;
  isContentEditable?: boolean;
}): boolean {
  if (element.isContentEditable) return true;
  const name = element.tagName.toLowerCase();
  if (name === "input") return !["checkbox", "button", "submit"].includes(element.type ?? "text");
  return name === "textarea" || name === "select";
}

/** The next entry; after the last one the first. */
export function next<T>(all: readonly T[], current: T): T {
  return all[(all.indexOf(current) + 1) % all.length] ?? current;
}
