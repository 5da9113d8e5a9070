import type { UntypedServiceImplementation } from '@grpc/grpc-js';

/** Calls with a stream of replies close; the others end with their answer. */
interface Call {
  readonly cancelled: boolean;
  getPeer(): string;
  once(name: 'cancelled' | 'close' | 'finish', listener: () => void): unknown;
}
type Answer = (...args: readonly unknown[]) => void;
type Serve = (call: Call, answer?: Answer) => void;

/** Calls in progress, and those that have not begun. */
interface Connection {
  open: number;
  readonly waiting: Set<() => void>;
}

/**
 * Limits calls in progress per connection, as the real server does by its HTTP/2 settings. Node.js cannot: it counts a
 * stream for a moment after its end, and ends the next one with RESOURCE_EXHAUSTED.
 */
export function withCallLimit(
  service: UntypedServiceImplementation,
  callsMax: number,
): UntypedServiceImplementation {
  const connections = new Map<string, Connection>();

  const enter = (call: Call, begin: () => void): (() => void) => {
    const peer = call.getPeer();
    const connection = connections.get(peer) ?? { open: 0, waiting: new Set() };
    connections.set(peer, connection);
    let isOpen = false;
    const start = (): void => {
      isOpen = true;
      connection.open += 1;
      begin();
    };
    if (connection.open < callsMax) start();
    else connection.waiting.add(start);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      connection.waiting.delete(start);
      if (isOpen) connection.open -= 1;
      const [next] = connection.waiting;
      if (next && connection.open < callsMax) {
        connection.waiting.delete(next);
        next();
      }
      if (connection.open === 0) connections.delete(peer);
    };
  };

  const limited =
    (serve: Serve): Serve =>
    (call, answer) => {
      const over = { leave: (): void => undefined };
      const end = (): void => over.leave();
      for (const name of ['cancelled', 'close', 'finish'] as const) call.once(name, end);
      const answerAndEnd: Answer | undefined =
        answer &&
        ((...args) => {
          answer(...args);
          end();
        });
      over.leave = enter(call, () => serve(call, answerAndEnd));
      if (call.cancelled) end();
    };
  return Object.fromEntries(Object.entries(service).map(([name, serve]) => [name, limited(serve as Serve)]));
}
