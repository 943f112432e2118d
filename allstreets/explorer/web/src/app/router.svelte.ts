// The address bar as state: reading it follows the back button, setting it adds a step to go back.

import { looking, readAddress, writeAddress, type Address, type Looking } from "./address";

export class Router {
  address: Address = $state.raw(readAddress(location.pathname, location.search));

  constructor() {
    addEventListener("popstate", () => {
      this.address = readAddress(location.pathname, location.search);
    });
  }

  go(address: Address): void {
    const text = writeAddress(address);
    if (text === location.pathname + location.search) return;
    history.pushState(null, "", text);
    this.address = address;
  }

  /** Leave this page after a slow answer; nothing happens once another page is open. */
  onward(): (address: Address) => void {
    const page = location.pathname;
    return (address) => {
      if (location.pathname === page) this.go(address);
    };
  }

  /** As `go`, but without a step to go back to: for changes that follow from the place. */
  replace(address: Address): void {
    history.replaceState(null, "", writeAddress(address));
    this.address = address;
  }

  /** A place that rows of tables lead to: the current view stays selected there. */
  to(id: string, line: string): Looking {
    const there = looking(id, line);
    if (this.address.page !== "solution") return there;
    const { category, compare } = this.address;
    return { ...there, category, compare: this.address.id === id ? compare : null };
  }

  /** Change a part of a place in a solution; elsewhere nothing happens. */
  change(part: Partial<Looking>): void {
    if (this.address.page === "solution") this.go({ ...this.address, ...part });
  }
}

export const router = new Router();
