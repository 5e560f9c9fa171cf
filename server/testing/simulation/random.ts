/** Random numbers that depend only on the seed (sfc32). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  /** Streams of the same seed with different names are independent of each other. */
  constructor(seed: number, stream = 0) {
    this.#a = seed | 0;
    this.#b = stream | 0;
    this.#c = 0x9e3779b9;
    for (let round = 0; round < 12; round += 1) this.#next();
  }

  /** At least 0 and less than 1. */
  readonly fraction = (): number => (this.#next() >>> 0) / 2 ** 32;

  /** At least `least` and less than `end`. */
  integer(end: number, least = 0): number {
    return least + Math.floor(this.fraction() * (end - least));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.integer(values.length)]!;
  }

  readonly bytes = (size: number): Uint8Array => Uint8Array.from({ length: size }, () => this.#next() & 255);

  #next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#count) | 0;
    this.#count = (this.#count + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum;
  }
}
