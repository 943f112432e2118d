// Light or dark, and colours that everyone can tell apart; kept by the browser.

import { keep, kept } from "../common/kept";

export type Look = "light" | "dark";
export type Palette = "usual" | "safe";

class Theme {
  look: Look = $state("light");
  palette: Palette = $state("usual");

  constructor() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const look = kept("look");
    this.look = look === "light" || look === "dark" ? look : dark ? "dark" : "light";
    this.palette = kept("palette") === "safe" ? "safe" : "usual";
    this.apply();
  }

  setLook(look: Look): void {
    this.look = look;
    keep("look", look);
    this.apply();
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    keep("palette", palette);
    this.apply();
  }

  private apply(): void {
    document.documentElement.dataset["look"] = this.look;
    document.documentElement.dataset["palette"] = this.palette;
  }
}

export const theme = new Theme();
