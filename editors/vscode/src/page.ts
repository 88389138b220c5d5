// Pages beside the text. Keys in the text step through the page that was shown last, and the text shows the values of its step.

import { commands, Disposable, ViewColumn, WebviewPanel, window } from "vscode";

/** The pages that are open, the one that was shown last at the end. */
const open: Page<never>[] = [];

/** Presses a key in the page that was shown last. */
export function press(key: string): void {
  open.at(-1)?.press(key);
}

/** A page of one kind, of which one is open at a time. It says to which place it goes. */
export abstract class Page<Place> implements Disposable {
  private panel: WebviewPanel | undefined;

  constructor(private readonly kind: string) {}

  /** The page went to a place. */
  protected abstract follow(place: Place): void;

  /** The page was closed. */
  protected abstract closed(): void;

  dispose(): void {
    this.panel?.dispose();
  }

  press(key: string): void {
    void this.panel?.webview.postMessage({ key });
  }

  protected show(title: string, html: string): void {
    this.panel ??= this.opened();
    this.panel.title = title;
    this.panel.webview.html = html;
    this.panel.reveal(undefined, false);
    this.last(true);
  }

  /** Asks the server to show values in the text of a spec, or none. */
  protected values(uri: string, shown: object): void {
    commands.executeCommand("guard.server.showValues", { uri, ...shown }).then(undefined, () => {
      // Without a server there are no hints.
    });
  }

  private opened(): WebviewPanel {
    const options = { enableScripts: true, retainContextWhenHidden: true, localResourceRoots: [] };
    const column = { viewColumn: ViewColumn.Beside, preserveFocus: false };
    const panel = window.createWebviewPanel(this.kind, "Guard", column, options);
    panel.webview.onDidReceiveMessage((place: Place) => this.follow(place));
    panel.onDidChangeViewState(() => {
      if (panel.active) {
        this.last(true);
      }
    });
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.last(false);
      this.closed();
    });
    return panel;
  }

  /** Puts the page last among the open ones, or takes it away. */
  private last(isOpen: boolean): void {
    const at = open.indexOf(this);
    if (at >= 0) {
      open.splice(at, 1);
    }
    if (isOpen) {
      open.push(this);
    }
    void commands.executeCommand("setContext", "guard.stepping", open.length > 0);
  }
}
