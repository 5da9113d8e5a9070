import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HostMemory, HostRest, StoredRobots } from '#platform/http-client/polite-client.ts';

export type PlayedAnswer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
};
/** Site that answers requests. `undefined` answers 404; a function writes the answer itself. */
export type PlayedSite = (
  path: string,
  request: IncomingMessage,
) => PlayedAnswer | ((response: ServerResponse) => void) | undefined;

/** The `Host` header selects the host. */
export type PlayedSites = AsyncDisposable & {
  readonly origin: string;
  /** Requests so far, such as `shop.example /robots.txt`. */
  readonly requests: string[];
  readonly sites: Map<string, PlayedSite>;
};

export const openPlayedSites = async (): Promise<PlayedSites> => {
  const requests: string[] = [];
  const sites = new Map<string, PlayedSite>();
  const server = createServer((request, response) => {
    const host = request.headers.host ?? '';
    const path = request.url ?? '';
    requests.push(`${host} ${path}`);
    const answer = sites.get(host)?.(path, request);
    if (typeof answer === 'function') return answer(response);
    response.writeHead(answer === undefined ? 404 : (answer.status ?? 200), answer?.headers);
    response.end(answer?.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    sites,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** `reserved`: spacings in milliseconds, by host. */
export const createTestHosts = (): HostMemory & { readonly reserved: string[] } => {
  const robots = new Map<string, StoredRobots>();
  const rests = new Map<string, HostRest>();
  const reserved: string[] = [];
  return {
    reserved,
    readRobots: async (host) => robots.get(host) ?? null,
    writeRobots: async (host, stored) => void robots.set(host, stored),
    readRest: async (host) => rests.get(host) ?? null,
    writeRest: async (host, rest) => {
      if (rest === null) rests.delete(host);
      else rests.set(host, rest);
    },
    reserve: async (host, spacingMs, nowMs) => {
      reserved.push(`${host} ${spacingMs}`);
      return nowMs;
    },
  };
};
