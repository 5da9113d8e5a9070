import { freePort } from '#deploy/local/os/ports.ts';
import { type ServiceProcess, startProcess } from './processes.ts';

const READY_MESSAGES = {
  api: 'listening',
  ingest: 'ingest consumer started',
  projector: 'caught up',
  worker: '"worker started"',
  alerts: '"starting"',
  delivery: 'leader acquired',
  ops: 'listening',
} as const;
export type ProcessName = keyof typeof READY_MESSAGES;
export const PROCESS_NAMES = Object.keys(READY_MESSAGES) as readonly ProcessName[];

export const SERVICE_SECRETS = {
  CURSOR_SECRET: 'a cursor secret of tests only',
  OPS_TOKEN: 'an operator token of tests only',
  MEMBER_VAULT_KEY: Buffer.alloc(32, 9).toString('base64'),
  AUDIT_SIGNING_KEY: Buffer.alloc(32, 5).toString('base64'),
} as const;

export type RunningService = AsyncDisposable & {
  readonly apiUrl: string;
  readonly opsUrl: string;
  readonly processes: ReadonlyMap<ProcessName, ServiceProcess>;
  ready(): Promise<void>;
  assertAllRun(): void;
  output(): string;
};

export type ServiceServers = {
  readonly DATABASE_URL: string;
  readonly EVENT_STORE_URL: string;
  readonly NATS_URL: string;
};

export const startService = async (
  servers: ServiceServers,
  environment: Readonly<Record<string, string>> = {},
  names: readonly ProcessName[] = PROCESS_NAMES,
): Promise<RunningService> => {
  const [apiPort, opsPort] = [await freePort(), await freePort()];
  const [apiUrl, opsUrl] = [`http://127.0.0.1:${apiPort}`, `http://127.0.0.1:${opsPort}`];
  const settings = {
    ...servers,
    ...SERVICE_SECRETS,
    API_PORT: String(apiPort),
    API_BASE_URL: apiUrl,
    OPS_PORT: String(opsPort),
    EGRESS_ALLOW_LOOPBACK: 'true',
    ...environment,
  };
  const processes = new Map(names.map((name) => [name, startProcess(`services/${name}/main.ts`, settings)]));
  return {
    apiUrl,
    opsUrl,
    processes,
    ready: async () => {
      await Promise.all([...processes].map(([name, one]) => one.says(READY_MESSAGES[name])));
    },
    assertAllRun: () => {
      for (const [name, one] of processes) {
        if (one.child.exitCode === null && one.child.signalCode === null) continue;
        throw new Error(`${name} exited by itself:\n${one.output().slice(-3_000)}`);
      }
    },
    output: () => [...processes.values()].map((one) => one.output()).join('\n'),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...processes.values()].map((one) => one.stop()));
    },
  };
};
