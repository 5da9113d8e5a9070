import { openPool } from '#platform/postgres/pool.ts';
import { type Killable, startKillableServers } from '#tests/stack/killable-servers.ts';
import { type ServiceProcess, startProcess } from '#tests/stack/processes.ts';
import { type FaultProxy, proxied } from './fault-proxy.ts';

const MAINS = { alerts: 'services/alerts/main.ts', delivery: 'services/delivery/main.ts' } as const;
type Name = keyof typeof MAINS;
const OUTPUT_SHOWN = 3_000;

export type Blow = Name | 'nats' | 'natsStorage' | 'postgres' | 'alertsTables';

export type AlertingStack = AsyncDisposable & {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  readonly proxies: Readonly<Record<'postgres' | 'eventStore' | 'nats', FaultProxy>>;
  readonly strike: Readonly<Record<Blow, () => Promise<void>>>;
  output(): string;
};

/** `vaultKey`: MEMBER_VAULT_KEY. */
export const openAlertingStack = async (name: string, vaultKey: string): Promise<AlertingStack> => {
  const resources = new AsyncDisposableStack();
  const servers = resources.use(await startKillableServers(name));
  const postgres = await proxied(servers.urls.DATABASE_URL);
  const eventStore = await proxied(servers.urls.EVENT_STORE_URL);
  const nats = await proxied(servers.urls.NATS_URL);
  for (const { proxy } of [postgres, eventStore, nats]) resources.use(proxy);
  const environment = {
    DATABASE_URL: postgres.url,
    EVENT_STORE_URL: eventStore.url,
    NATS_URL: nats.url,
    API_BASE_URL: 'https://api.test',
    MEMBER_VAULT_KEY: vaultKey,
    EGRESS_ALLOW_LOOPBACK: 'true',
    DATA_DIR: servers.home,
  };
  const running = new Map<Name, ServiceProcess>();
  const start = (process: Name): void => void running.set(process, startProcess(MAINS[process], environment));
  resources.defer(async () => {
    await Promise.all([...running.values()].map((process) => process.stop()));
  });
  start('alerts');
  start('delivery');
  const restartServer = async (server: Killable, meanwhile?: () => Promise<void>): Promise<void> => {
    await servers.kill(server);
    await meanwhile?.();
    await servers.start(server);
  };
  const restart = async (process: Name, meanwhile?: () => Promise<void>): Promise<void> => {
    await running.get(process)?.kill();
    await meanwhile?.();
    start(process);
  };
  const dropAlertsTables = async (): Promise<void> => {
    const pool = openPool(servers.urls.DATABASE_URL, 1);
    try {
      await pool.query('drop schema if exists alerting cascade');
    } finally {
      await pool.end();
    }
  };
  return {
    databaseUrl: servers.urls.DATABASE_URL,
    eventStoreUrl: servers.urls.EVENT_STORE_URL,
    proxies: { postgres: postgres.proxy, eventStore: eventStore.proxy, nats: nats.proxy },
    strike: {
      alerts: () => restart('alerts'),
      delivery: () => restart('delivery'),
      alertsTables: () => restart('alerts', dropAlertsTables),
      nats: () => restartServer('nats'),
      natsStorage: () => restartServer('nats', () => servers.loseNatsStorage()),
      postgres: () => restartServer('postgres'),
    },
    output: () => [...running.values()].map((process) => process.output().slice(-OUTPUT_SHOWN)).join('\n'),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
