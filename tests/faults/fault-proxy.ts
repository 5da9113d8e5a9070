import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

/**
 * A TCP proxy before a server, for faults of the network between. `pass`: forwards. `mute`: accepts and reads, and forwards nothing.
 * `one-way`: forwards what clients send, and no answers. `slow`: forwards each piece of an answer later. `cut`: ends
 * connections, and refuses new ones. Held bytes are forwarded when the proxy passes again, as a network does that was
 * interrupted.
 */
export type FaultMode = 'pass' | 'mute' | 'one-way' | 'slow' | 'cut';

export type FaultProxy = AsyncDisposable & {
  readonly port: number;
  /** `slowMs`: milliseconds by which each piece of an answer is late in the mode `slow`. */
  set(mode: FaultMode, slowMs?: number): void;
  /**
   * Forgets the open connections without a word to either end; new ones are not concerned. The server ends its side after 20 s,
   * as its keepalive is set. The client hears nothing, also not of that end, until `endFaults` or the end of the proxy.
   * `serverNoticesMs`: another time after which the server ends its side.
   */
  halfOpen(serverNoticesMs?: number): void;
  /** Resets the open connections, the next time that the server sends something if `midAnswer`. */
  reset(midAnswer?: boolean): void;
  /** Ends every fault, also those that connections still have before them: each connection that a fault met is closed. */
  endFaults(): void;
  /** Leads new connections to the server of another connection string, as after a failover. */
  leadTo(url: string): void;
  /** Number of the connections that clients have open. */
  connections(): number;
};

/** Milliseconds after which the server notices that a client is gone, as its keepalive is set. */
const SERVER_NOTICES_MS = 20_000;
/** Milliseconds by which each piece of an answer is late in the mode `slow`, unless `set` says otherwise. */
const SLOW_MS = 200;

type Link = {
  readonly client: Socket;
  readonly server: Socket;
  isDead: boolean;
  resetsOnAnswer: boolean;
  /** Pieces of answers that are late, in their order. Later ones wait behind them, also when the network is fast again. */
  readonly late: { readonly bytes: Buffer; readonly dueAt: number }[];
  /** Closes both sides. */
  end(): void;
};

/** `watch` is called with all that the server sends. */
export const startFaultProxy = async (
  first: NetConnectOpts,
  watch: (bytes: Buffer) => void = () => undefined,
): Promise<FaultProxy> => {
  let target = first;
  let mode: FaultMode = 'pass';
  let lateMs = SLOW_MS;
  const links = new Set<Link>();

  const isHeld = (link: Link, toClient: boolean): boolean =>
    link.isDead || mode === 'mute' || (mode === 'one-way' && toClient);
  /** Stops reading what must not be forwarded, and reads it again afterwards. */
  const holdOrRelease = (): void => {
    for (const link of links) {
      if (isHeld(link, false)) link.client.pause();
      else link.client.resume();
      if (isHeld(link, true)) link.server.pause();
      else link.server.resume();
    }
  };

  /** Forwards the late pieces whose time has come. */
  const forwardDue = ({ client, late, isDead }: Link): void => {
    if (isDead) return;
    while (late[0] && late[0].dueAt <= performance.now()) {
      const [{ bytes }] = late.splice(0, 1) as [Link['late'][number]];
      if (client.writable) client.write(bytes);
    }
  };
  const forwardAfter = (link: Link, bytes: Buffer, afterMs: number): void => {
    const dueAt = Math.max(performance.now() + afterMs, link.late.at(-1)?.dueAt ?? 0);
    link.late.push({ bytes, dueAt });
    // Timers may come a millisecond early.
    setTimeout(() => forwardDue(link), Math.ceil(dueAt - performance.now()) + 1).unref();
  };

  const proxy = createServer((client) => {
    if (mode === 'cut') {
      client.resetAndDestroy();
      return;
    }
    const server = connect(target);
    const end = (): void => {
      links.delete(link);
      client.destroy();
      server.destroy();
    };
    const link: Link = { client, server, isDead: false, resetsOnAnswer: false, late: [], end };
    links.add(link);
    /** Neither side of a dead connection hears that the other one has ended. */
    const endUnlessDead = (): void => {
      if (!link.isDead || (client.destroyed && server.destroyed)) end();
    };
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', endUnlessDead);
      socket.on('close', endUnlessDead);
    }
    client.on('data', (bytes) => server.write(bytes));
    server.on('data', (bytes) => {
      watch(bytes);
      if (link.resetsOnAnswer) {
        client.resetAndDestroy();
        end();
      } else if (mode === 'slow' || link.late.length > 0)
        forwardAfter(link, bytes, mode === 'slow' ? lateMs : 0);
      else client.write(bytes);
    });
    holdOrRelease();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as { port: number };

  return {
    port,
    set: (next, slowMs = SLOW_MS) => {
      mode = next;
      lateMs = slowMs;
      if (next === 'cut') for (const { client, isDead } of links) if (!isDead) client.destroy();
      holdOrRelease();
    },
    halfOpen: (serverNoticesMs = SERVER_NOTICES_MS) => {
      for (const link of links) {
        if (link.isDead) continue;
        link.isDead = true;
        setTimeout(() => link.server.destroy(), serverNoticesMs).unref();
      }
      holdOrRelease();
    },
    reset: (midAnswer = false) => {
      for (const link of links) {
        if (link.isDead) continue;
        if (midAnswer) link.resetsOnAnswer = true;
        else link.client.resetAndDestroy();
      }
    },
    endFaults: () => {
      mode = 'pass';
      for (const link of links) if (link.isDead || link.resetsOnAnswer) link.end();
      holdOrRelease();
    },
    leadTo: (url) => {
      target = targetOf(new URL(url));
    },
    connections: () => links.size,
    [Symbol.asyncDispose]: async () => {
      for (const link of links) link.end();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
};

/** Returns the address of a connection string: a socket of Postgres when its host is a folder. */
const targetOf = ({ hostname, port, searchParams }: URL): NetConnectOpts => {
  const folder = searchParams.get('host');
  return folder?.startsWith('/')
    ? { path: `${folder}/.s.PGSQL.${port}` }
    : { host: hostname, port: Number(port) };
};

/**
 * Starts a proxy before the server of a connection string. Returns it with the string that leads through it. `watch` is called
 * with all that the server sends.
 */
export const proxied = async (
  url: string,
  watch?: (bytes: Buffer) => void,
): Promise<{ readonly proxy: FaultProxy; readonly url: string }> => {
  const through = new URL(url);
  const proxy = await startFaultProxy(targetOf(through), watch);
  through.searchParams.delete('host');
  through.hostname = '127.0.0.1';
  through.port = String(proxy.port);
  return { proxy, url: through.href };
};
