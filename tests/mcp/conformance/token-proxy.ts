import { once } from 'node:events';
import { createServer, request } from 'node:http';

/** The official suite cannot sign in. This adds a token to its requests, and names the host that the server expects. */
export type TokenProxy = AsyncDisposable & { readonly url: string };

/** Requests for another host keep it, so that the server can refuse them. */
export const openTokenProxy = async (url: string, token: string): Promise<TokenProxy> => {
  const target = new URL(url);
  const server = createServer((incoming, outgoing) => {
    const { host: asked, origin: from } = incoming.headers;
    const host = asked === `127.0.0.1:${port}` ? target.host : asked;
    const origin = from === `http://127.0.0.1:${port}` ? { origin: target.origin } : {};
    const headers = { ...incoming.headers, ...origin, host, authorization: `Bearer ${token}` };
    const sent = request(target, { method: incoming.method ?? 'GET', headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(outgoing);
    });
    sent.once('error', () => outgoing.destroy());
    outgoing.once('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
