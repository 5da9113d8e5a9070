import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '#platform/clock.ts';
import { type ArchiveWorld, createArchiveWorld } from './archive-world.ts';
import { libraryAdsAt, type PlacedWorld } from './library-ads.ts';
import { NOT_FOUND, type PlayedHost } from './played-host.ts';
import { createShopSite } from './shop-site.ts';
import { createWorldFaults, type FaultyReply, type WorldFaults } from './world-faults.ts';

export const ARCHIVE_HOST = 'graph.facebook.com';
const REQUESTS_MAX = 100_000;

export type WorldOptions = {
  /** `null` plays no brands. */
  readonly placed: PlacedWorld | null;
  readonly clock: Clock;
  /** Hosts of media files, for example. They win over the sites of brands. */
  readonly hosts?: ReadonlyMap<string, PlayedHost>;
};

/** A collector reaches this loopback server with `COLLECT_VIA`. */
export type OpenWorld = AsyncDisposable & {
  readonly origin: string;
  readonly archive: ArchiveWorld;
  readonly faults: WorldFaults;
  /** Requests so far, such as `shop.example /robots.txt`. */
  readonly requests: readonly string[];
};

const hostsOf = (
  { placed, clock, hosts }: WorldOptions,
  archive: ArchiveWorld,
): ReadonlyMap<string, PlayedHost> => {
  const now = (): Date => clock.now();
  const library: PlayedHost = ({ path, headers }) =>
    archive.answer({ path, authorization: headers['authorization'] });
  const sites = (placed?.world.brandList ?? []).flatMap((brand): [string, PlayedHost][] => {
    const site = createShopSite(placed as PlacedWorld, brand, now);
    return [
      [brand.domain, site],
      [`www.${brand.domain}`, site],
    ];
  });
  return new Map<string, PlayedHost>([...sites, [ARCHIVE_HOST, library], ...(hosts ?? [])]);
};

const archiveOf = ({ placed, clock }: WorldOptions): ArchiveWorld => {
  const now = (): Date => clock.now();
  if (placed === null) return createArchiveWorld(now);
  const pages = new Map(placed.world.pageList.map((page) => [page.id, page]));
  const adsOf = (pageId: string) => {
    const page = pages.get(pageId);
    return page === undefined ? [] : libraryAdsAt(placed, page, now().getTime());
  };
  return createArchiveWorld(now, adsOf, [...pages.keys()]);
};

const sendSlowly = (response: ServerResponse, body: Buffer, everyMs: number): void => {
  let sent = 0;
  const timer = setInterval(() => {
    if (sent >= body.length) {
      clearInterval(timer);
      response.end();
      return;
    }
    response.write(body.subarray(sent, sent + 1));
    sent += 1;
  }, everyMs);
  response.on('close', () => clearInterval(timer));
};

const send = (response: ServerResponse, reply: FaultyReply | null): void => {
  if (reply === null) {
    response.destroy();
    return;
  }
  const { status, headers, body, byteEveryMs, closes } = reply;
  response.writeHead(status, headers);
  if (byteEveryMs !== undefined) return sendSlowly(response, Buffer.from(body), byteEveryMs);
  if (closes === true) {
    response.write(body, () => response.destroy());
    return;
  }
  response.end(body);
};

/** A request names the host that it is for. */
export const openWorld = async (options: WorldOptions): Promise<OpenWorld> => {
  const archive = archiveOf(options);
  const faults = createWorldFaults();
  const hosts = hostsOf(options, archive);
  const requests: string[] = [];

  const answer = (request: IncomingMessage): FaultyReply | null => {
    const host = (request.headers.host ?? '').toLowerCase();
    const path = request.url ?? '/';
    requests.push(`${host} ${path}`);
    if (requests.length > REQUESTS_MAX) requests.splice(0, REQUESTS_MAX / 2);
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    return faults.answer({ host, path, headers }, hosts.get(host) ?? (() => NOT_FOUND));
  };
  const server = createServer((request, response) => {
    send(response, answer(request));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    archive,
    faults,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
