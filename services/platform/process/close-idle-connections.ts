import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const CLOSE_EVERY_MS = 50;

/**
 * Returns the function to call at a stop. Node does not count a connection as idle that a browser opened and never
 * used, and would wait until it times out.
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
