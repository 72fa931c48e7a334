// A window onto a plane: one scale for both axes, y upwards.

export class Plane {
  /**
   * @param {number[]} size width and height in pixels
   * @param {number[]} middle of the window, in the plane
   * @param {number} unit pixels per unit of the plane
   */
  constructor(size, middle, unit) {
    this.size = size;
    this.middle = middle;
    this.unit = unit;
  }

  // The largest view that holds these ranges of x and y.
  static holding(ranges, size) {
    const unit = Math.min(...ranges.map(([low, high], axis) => size[axis] / Math.max(high - low, 1e-9)));
    return new Plane(
      size,
      ranges.map(([low, high]) => (low + high) / 2),
      unit,
    );
  }

  /**
   * A point of the plane in pixels.
   * @returns {[number, number]}
   */
  at([x, y]) {
    const [width, height] = this.size;
    return [width / 2 + (x - this.middle[0]) * this.unit, height / 2 - (y - this.middle[1]) * this.unit];
  }

  holds(point) {
    return this.at(point).every((pixels, axis) => pixels >= 0 && pixels <= this.size[axis]);
  }

  zoomed(factor) {
    return new Plane(this.size, this.middle, this.unit * factor);
  }

  // Moved with its contents, by distances in pixels.
  moved(right, down) {
    const [x, y] = this.middle;
    return new Plane(this.size, [x - right / this.unit, y + down / this.unit], this.unit);
  }

  // The same middle and scale in a window of another size.
  resized(size) {
    return new Plane(size, this.middle, (this.unit * size[0]) / this.size[0]);
  }
}
