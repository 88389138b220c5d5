// The page that keys in the text step through: the one that was shown last.

import { commands } from "vscode";

/** A page with steps. */
export interface Stepper {
  /** Presses a key in the page. */
  move(key: string): void;
}

class Stepping {
  private readonly open: Stepper[] = [];

  /** A page is shown, or the user goes to it. */
  show(page: Stepper): void {
    this.remove(page);
    this.open.push(page);
    this.tell();
  }

  hide(page: Stepper): void {
    this.remove(page);
    this.tell();
  }

  move(key: string): void {
    this.open.at(-1)?.move(key);
  }

  private remove(page: Stepper): void {
    const at = this.open.indexOf(page);
    if (at >= 0) {
      this.open.splice(at, 1);
    }
  }

  private tell(): void {
    void commands.executeCommand("setContext", "guard.stepping", this.open.length > 0);
  }
}

export const stepping = new Stepping();
