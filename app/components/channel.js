// What comes by a component of its own, which shows nothing: views hear what has come, and all that will come.

export class Channel {
  hearers = new Set();
  data = null;

  // `act` is called with it until `signal` ends that.
  hear(act, signal) {
    this.hearers.add(act);
    signal.addEventListener("abort", () => this.hearers.delete(act));
    if (this.data) act(this.data);
  }

  start() {}

  update(data) {
    this.data = data;
    for (const act of this.hearers) act(data);
  }

  end() {}
}
