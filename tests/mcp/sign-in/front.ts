import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Stands before several processes at one address, as a load balancer does, and leads to one of them. */
export type Front = AsyncDisposable & {
  /** Leads new connections to a port and closes the open ones; `null`: to none. */
  readonly lead: (port: number | null) => void;
};

export const openFront = async (port: number): Promise<Front> => {
  const open = new Set<Socket>();
  let target: number | null = null;
  const closeAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  const server = createServer((incoming) => {
    if (target === null) return void incoming.destroy();
    const outgoing = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.once('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    lead: (to) => {
      target = to;
      closeAll();
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      closeAll();
    },
  };
};
