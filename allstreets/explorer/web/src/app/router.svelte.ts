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

  /** The way on from this page for an answer that takes a while: nowhere once another page is open. */
  onward(): (address: Address) => void {
    const page = location.pathname;
    return (address) => {
      if (location.pathname === page) this.go(address);
    };
  }

  /** As `go`, but no step to go back to: for what follows from where one is. */
  replace(address: Address): void {
    history.replaceState(null, "", writeAddress(address));
    this.address = address;
  }

  /** A place that rows of tables lead to: what was chosen to look at stays chosen there. */
  to(id: string, line: string): Looking {
    const there = looking(id, line);
    if (this.address.page !== "solution") return there;
    const { category, compare } = this.address;
    return { ...there, category, compare: this.address.id === id ? compare : null };
  }

  /** Change some of a place in a solution; elsewhere nothing happens. */
  change(part: Partial<Looking>): void {
    if (this.address.page === "solution") this.go({ ...this.address, ...part });
  }
}

export const router = new Router();
