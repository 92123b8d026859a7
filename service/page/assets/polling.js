// Calls a function again and again while a view is visible, never twice at once.

export class Polling {
  constructor(every, call) {
    this.every = every;
    this.call = call;
    this.timer = 0;
    this.is = false;
    this.busy = false;
  }

  /** Begin or stop. */
  run(is) {
    this.is = is;
    clearTimeout(this.timer);
    if (is) this.turn();
  }

  async turn() {
    if (this.busy) return;
    this.busy = true;
    try {
      if (!document.hidden) await this.call();
    } finally {
      this.busy = false;
      if (this.is) this.timer = setTimeout(() => this.turn(), this.every);
    }
  }
}
