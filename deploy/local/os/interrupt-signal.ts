/** Later signals within this time count as the same key press. */
const SAME_KEY_PRESS_MS = 1_500;

/**
 * Aborted on SIGINT, SIGTERM or SIGHUP. One Ctrl-C can arrive twice, from the terminal and from a runner. A later
 * second signal exits at once.
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
