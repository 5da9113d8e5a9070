/**
 * Work side by side, so much at once; work of one key one after the other, in the order in which it came. The first
 * failure is thrown where the next work is brought, or where the end is waited for.
 */
export class Lanes {
  readonly #atOnce: number;
  readonly #lanes = new Map<string, Promise<void>>();
  #running = 0;
  #leave: (() => void) | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Waits for room, not for the work. */
  async add(key: string, work: () => Promise<void>): Promise<void> {
    while (this.#running >= this.#atOnce) await this.#left();
    this.#rethrow();
    this.#running += 1;
    const lane = (this.#lanes.get(key) ?? Promise.resolve())
      .then(() => (this.#failure === null ? work() : undefined))
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#running -= 1;
        if (this.#lanes.get(key) === lane) this.#lanes.delete(key);
        this.#leave?.();
      });
    this.#lanes.set(key, lane);
  }

  /** Waits until nothing is under way. */
  async end(): Promise<void> {
    await Promise.all(this.#lanes.values());
    this.#rethrow();
  }

  #left(): Promise<void> {
    return new Promise((resolve) => {
      this.#leave = resolve;
    });
  }

  #rethrow(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}
