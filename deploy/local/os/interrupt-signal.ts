/** Signals within this time of the first are the same key press. */
const SAME_KEY_PRESS_MS = 1_500;

/**
 * Aborted when this process is asked to end. The terminal sends Ctrl-C to every process of the group, and a runner
 * between us and the terminal may pass its own on: one key press can arrive twice. A later signal ends at once.
 */
export const watchInterrupts = (): AbortSignal => {
  const controller = new AbortController();
  let firstMs: number | undefined;
  const onSignal = (): void => {
    if (firstMs !== undefined && Date.now() - firstMs > SAME_KEY_PRESS_MS) process.exit(1);
    firstMs ??= Date.now();
    controller.abort(new Interrupted());
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  return controller.signal;
};

export class Interrupted extends Error {
  constructor() {
    super('Interrupted.');
    this.name = 'Interrupted';
  }
}
