import { freePort } from '#deploy/local/os/ports.ts';
import { pause } from '#platform/clock.ts';
import { type ServiceProcess, startProcess } from '../../stack/processes.ts';
import { type FaultProxy, proxied } from '../fault-proxy.ts';
import type { PlayedFault } from './history.ts';
import type { Target } from './session.ts';

/** Reads from a standby while that answers. */

const FAULT_MIN_MS = 150;
const FAULT_SPREAD_MS = 1_500;
const PAUSE_SPREAD_MS = 600;
/** Limit of waiting for a request that meets the fault. */
const MEETS_MS = 5_000;
const LOOK_MS = 2;
const NETWORK_FAULTS = ['mute', 'one-way', 'slow', 'cut', 'reset', 'reset mid-answer', 'half-open'] as const;
const PROCESS_FAULTS = ['stop', 'kill'] as const;
/** Domains of `histories.integration.test.ts`. */
const TRACKED = /brand\d/;
type Choose = (below: number) => number;

export type FaultyApi = AsyncDisposable & {
  readonly target: Target;
  /** Plays a fault that begins while a request is under way. */
  playFault(choose: Choose): Promise<Omit<PlayedFault, 'api'>>;
  standbyReplies(): number;
};

const playOnNetwork = async (
  proxy: FaultProxy,
  fault: (typeof NETWORK_FAULTS)[number],
  ms: number,
): Promise<void> => {
  if (fault === 'reset') proxy.reset();
  else if (fault === 'reset mid-answer') proxy.reset(true);
  else if (fault === 'half-open') proxy.halfOpen();
  else {
    proxy.set(fault);
    await pause(ms);
    proxy.set('pass');
  }
};

export const startFaultyApi = async (
  name: string,
  {
    DATABASE_URL = '',
    EVENT_STORE_URL = '',
    READ_DATABASE_URL = '',
    ...environment
  }: Readonly<Record<string, string>>,
): Promise<FaultyApi> => {
  const resources = new AsyncDisposableStack();
  const postgres = await proxied(DATABASE_URL);
  resources.use(postgres.proxy);
  const eventStore = await proxied(EVENT_STORE_URL);
  resources.use(eventStore.proxy);
  let standbyReplies = 0;
  const standby = await proxied(READ_DATABASE_URL, (bytes) => {
    if (TRACKED.test(bytes.toString('latin1'))) standbyReplies += 1;
  });
  resources.use(standby.proxy);
  const servers = [
    ['Postgres', postgres],
    ['the event store', eventStore],
    ['the standby', standby],
  ] as const;
  const port = await freePort();
  let run = 0;
  const start = async (): Promise<ServiceProcess> => {
    const api = startProcess('services/api/main.ts', {
      ...environment,
      DATABASE_URL: postgres.url,
      EVENT_STORE_URL: eventStore.url,
      READ_DATABASE_URL: standby.url,
      EVENT_STORE_ANSWER_MS: '2000',
      API_PORT: String(port),
      API_REQUESTS_PER_MINUTE: '100000',
      CURSOR_SECRET: 'a secret for tests only',
    });
    run += 1;
    await api.says('"listening"');
    return api;
  };
  let api = await start();
  resources.defer(async () => void (await api.stop()));

  const playOnProcess = async (fault: (typeof PROCESS_FAULTS)[number], ms: number): Promise<void> => {
    if (fault === 'stop') {
      api.child.kill('SIGSTOP');
      await pause(ms);
      api.child.kill('SIGCONT');
    } else {
      await api.kill();
      api = await start();
    }
  };
  const target: Target = { url: `http://127.0.0.1:${port}`, run: () => run, underWay: 0 };
  const untilRequested = async (): Promise<void> => {
    const untilMs = Date.now() + MEETS_MS;
    while (target.underWay === 0 && Date.now() < untilMs) await pause(LOOK_MS);
  };
  return {
    target,
    playFault: async (choose) => {
      await pause(choose(PAUSE_SPREAD_MS));
      const ms = FAULT_MIN_MS + choose(FAULT_SPREAD_MS);
      const at = choose(NETWORK_FAULTS.length * servers.length + PROCESS_FAULTS.length);
      const processFault = PROCESS_FAULTS[at - NETWORK_FAULTS.length * servers.length];
      await untilRequested();
      const beganMs = Date.now();
      if (processFault !== undefined) {
        await playOnProcess(processFault, ms);
        return { what: `${processFault} ${name}`, beganMs, endedMs: Date.now() };
      }
      const fault = NETWORK_FAULTS[at % NETWORK_FAULTS.length] ?? 'cut';
      const [server, { proxy }] = servers[Math.floor(at / NETWORK_FAULTS.length)] as (typeof servers)[number];
      await playOnNetwork(proxy, fault, ms);
      return { what: `${fault} between ${name} and ${server}, ${ms} ms`, beganMs, endedMs: Date.now() };
    },
    standbyReplies: () => standbyReplies,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
