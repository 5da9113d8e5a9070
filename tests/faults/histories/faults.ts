import { freePort } from '#deploy/local/os/ports.ts';
import { pause } from '#platform/clock.ts';
import { type ServiceProcess, startProcess } from '../../stack/processes.ts';
import { type FaultProxy, proxied } from '../fault-proxy.ts';
import type { Target } from './callers.ts';

/** An API process that reaches its servers through proxies, and the faults that a trial plays on it. */

const FAULT_MIN_MS = 150;
const FAULT_SPREAD_MS = 1_500;
const PAUSE_SPREAD_MS = 600;
const NETWORK_FAULTS = ['mute', 'one-way', 'slow', 'cut', 'reset', 'reset mid-answer', 'half-open'] as const;
const PROCESS_FAULTS = ['stop', 'kill'] as const;
type Choose = (below: number) => number;

export type FaultyApi = AsyncDisposable & {
  readonly target: Target;
  /** Plays one fault to its end. Returns its name. */
  playFault(choose: Choose): Promise<string>;
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
  { DATABASE_URL = '', EVENT_STORE_URL = '', ...environment }: Readonly<Record<string, string>>,
): Promise<FaultyApi> => {
  const resources = new AsyncDisposableStack();
  const postgres = await proxied(DATABASE_URL);
  resources.use(postgres.proxy);
  const eventStore = await proxied(EVENT_STORE_URL);
  resources.use(eventStore.proxy);
  const proxies = { Postgres: postgres.proxy, 'the event store': eventStore.proxy };
  const port = await freePort();
  let run = 0;
  const start = async (): Promise<ServiceProcess> => {
    const api = startProcess('services/api/main.ts', {
      ...environment,
      DATABASE_URL: postgres.url,
      EVENT_STORE_URL: eventStore.url,
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
  return {
    target: { url: `http://127.0.0.1:${port}`, run: () => run },
    playFault: async (choose) => {
      await pause(choose(PAUSE_SPREAD_MS));
      const ms = FAULT_MIN_MS + choose(FAULT_SPREAD_MS);
      const at = choose(NETWORK_FAULTS.length * 2 + PROCESS_FAULTS.length);
      const processFault = PROCESS_FAULTS[at - NETWORK_FAULTS.length * 2];
      if (processFault !== undefined) {
        await playOnProcess(processFault, ms);
        return `${processFault} ${name}`;
      }
      const fault = NETWORK_FAULTS[at % NETWORK_FAULTS.length] ?? 'cut';
      const server = at < NETWORK_FAULTS.length ? 'Postgres' : 'the event store';
      await playOnNetwork(proxies[server], fault, ms);
      return `${fault} between ${name} and ${server}, ${ms} ms`;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
