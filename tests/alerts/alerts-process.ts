import { readFile } from 'node:fs/promises';
import { type ServiceProcess, startProcess } from '#tests/stack/processes.ts';
import type { AlertsStack } from './stack.ts';

export const startAlertsProcess = (stack: AlertsStack, heapMib: number): ServiceProcess =>
  startProcess('services/alerts/main.ts', {
    ...stack.environment,
    // No server: matched alerts do not wait for NATS.
    NATS_URL: 'nats://127.0.0.1:1',
    API_BASE_URL: 'https://api.test',
    NODE_OPTIONS: `--max-old-space-size=${heapMib}`,
  });

export const requireAlive = (running: ServiceProcess): void => {
  if (running.child.exitCode === null && running.child.signalCode === null) return;
  throw new Error(`the alerts process ended:\n${running.output().slice(-2_000)}`);
};

/** Peak resident memory of a process so far, in MiB. */
export const peakMemory = async ({ child }: ServiceProcess): Promise<number> => {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
};

type Sent = { readonly deliveries: number; readonly most_at_once: number };

export const sentSoFar = async ({ pool }: AlertsStack): Promise<Sent> => {
  const { rows } = await pool.query<Sent>(
    `select coalesce(sum(n), 0)::int as deliveries, coalesce(max(n), 0)::int as most_at_once
     from (select count(*) as n from delivery.delivery group by xmin::text) of_transaction`,
  );
  return rows[0] ?? { deliveries: 0, most_at_once: 0 };
};
