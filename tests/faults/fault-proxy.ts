import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

/**
 * Fault of the network: `mute` forwards nothing, `one-way` no answers, `slow` late answers; `cut` ends connections. At
 * `pass` held bytes are forwarded, as after an interruption.
 */
export type FaultMode = 'pass' | 'mute' | 'one-way' | 'slow' | 'cut';

export type FaultProxy = AsyncDisposable & {
  readonly port: number;
  /** `slowMs`: delay of each piece of an answer. */
  set(mode: FaultMode, slowMs?: number): void;
  /**
   * Drops open connections unseen by either end. The server ends its side after `serverNoticesMs`, by default its
   * keepalive of 20 s; the client hears nothing until `endFaults`.
   */
  halfOpen(serverNoticesMs?: number): void;
  /** Resets open connections; `midAnswer`: when the server next sends something. */
  reset(midAnswer?: boolean): void;
  /** Closes each connection that a fault met. */
  endFaults(): void;
  /** Leads new connections to another server, as after a failover. */
  leadTo(url: string): void;
  connections(): number;
};

/** Time by which the server's keepalive ends a lost client. */
const SERVER_NOTICES_MS = 20_000;
const SLOW_MS = 200;

type Link = {
  readonly client: Socket;
  readonly server: Socket;
  isDead: boolean;
  resetsOnAnswer: boolean;
  /** Later pieces wait behind these, also when the network is fast again. */
  readonly late: { readonly bytes: Buffer; readonly dueAt: number }[];
  end(): void;
};

/** `watch` gets all that the server sends. */
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
  const holdOrRelease = (): void => {
    for (const link of links) {
      if (isHeld(link, false)) link.client.pause();
      else link.client.resume();
      if (isHeld(link, true)) link.server.pause();
      else link.server.resume();
    }
  };

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

/** Address of a server; a socket of Postgres when the host is a folder. */
const targetOf = ({ hostname, port, searchParams }: URL): NetConnectOpts => {
  const folder = searchParams.get('host');
  return folder?.startsWith('/')
    ? { path: `${folder}/.s.PGSQL.${port}` }
    : { host: hostname, port: Number(port) };
};

/** Returns the string that leads through the proxy. `watch` gets all that the server sends. */
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
