import { randomUUID } from 'node:crypto';
import { freePort } from '#deploy/local/os/ports.ts';
import { EVENT_STORE_ANSWER_MS } from '#platform/event-store/settings.ts';
import { READ_ANSWER_MS } from '#platform/postgres/settings.ts';
import type { ApiStack, Key } from '../../operations/fixtures/stack.ts';
import { type ServiceProcess, startProcess } from '../../stack/processes.ts';
import type { Send } from './steady-load.ts';

/** Settings of the long forms. Other tests set longer limits for a busy machine. */
export const AS_IN_PRODUCTION = {
  EVENT_STORE_ANSWER_MS: String(EVENT_STORE_ANSWER_MS),
  READ_ANSWER_MS: String(READ_ANSWER_MS),
  LOOP_DELAY_MS: '100',
} as const;

export type LoadedApi = {
  readonly process: ServiceProcess;
  readonly origin: string;
  /** URL without a slash at its end. */
  readonly base: string;
  readonly read: Send;
  readonly write: Send;
  /** Tracking requests a scan of the brand. */
  readonly track: Send;
};

export type Caller = { readonly key: Key; readonly brandId: string };

export const createCaller = async (stack: ApiStack): Promise<Caller> => {
  const [brand] = await stack.seed(['alpha']);
  return { key: await stack.key(), brandId: brand?.id ?? '' };
};

/** Starts the API on the servers of `stack`, or those of `environment`. */
export const startLoadedApi = async (
  stack: ApiStack,
  { key, brandId }: Caller,
  environment: Readonly<Record<string, string>>,
): Promise<LoadedApi> => {
  const port = await freePort();
  const process = startProcess('services/api/main.ts', {
    ...stack.environment,
    API_PORT: String(port),
    API_REQUESTS_PER_MINUTE: '1000000',
    CURSOR_SECRET: 'a secret for tests only',
    ...environment,
  });
  await process.says('"listening"');
  const origin = `http://127.0.0.1:${port}`;
  const base = `${origin}/v1`;
  const headers = { authorization: `Bearer ${key.text}` };
  const post =
    (path: string, body: object): Send =>
    (signal) =>
      fetch(`${base}/workspaces/${key.workspaceId}/${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
        body: JSON.stringify(body),
        signal,
      });
  return {
    process,
    origin,
    base,
    read: (signal) => fetch(`${base}/brands/alpha`, { headers, signal }),
    write: post('notes', { subject_type: 'ad', subject_key: '100000000000001', body: 'kept' }),
    track: post('tracked-brands', { brand_id: brandId }),
  };
};
