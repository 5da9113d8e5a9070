import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Milliseconds between two looks for idle connections while a server stops. */
const CLOSE_EVERY_MS = 50;

/**
 * Watches the connections of an HTTP server. Returns the function that begins to close idle ones; it is called when the
 * server stops. Without it, a stop would wait for a connection until it times out. That is one whose last reply is sent
 * during the stop, or one that a browser opened in advance and never used, which Node does not count as idle.
 */
export const closeIdleConnections = (server: Server): (() => void) => {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const close = (): void => {
    server.closeIdleConnections();
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
  return () => {
    close();
    const closing = setInterval(close, CLOSE_EVERY_MS);
    closing.unref();
    server.once('close', () => clearInterval(closing));
  };
};
