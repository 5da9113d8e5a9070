import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const CLOSE_EVERY_MS = 50;

/**
 * Returns the function to call when the server stops. Node would wait for connections that a browser opened and never
 * used.
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
