import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { freePort } from '#deploy/local/os/ports.ts';
import { startNats } from '#deploy/local/nats/start.ts';
import { pause } from '#platform/clock.ts';
import { readSettings } from '#platform/settings.ts';
import { openApiStack } from '../../operations/fixtures/stack.ts';
import { startProcess } from '../../stack/processes.ts';
import { SERVICE_SECRETS } from '../../stack/service.ts';
import { until } from '../../stack/wait-until.ts';
import { judge } from '../../trials/judge.ts';
import { AS_IN_PRODUCTION, createCaller, startLoadedApi } from './loaded-api.ts';
import { isSuccess, sendSteadily } from './steady-load.ts';

/** Writes, reads and the start of an API must work without NATS. */

const { NATS_DOWN_SECONDS: downSeconds } = readSettings(
  z.object({ NATS_DOWN_SECONDS: z.coerce.number().int().min(1).default(2) }),
);
const isLong = downSeconds >= 600;
const PER_SECOND = isLong ? 40 : 10;
const ANSWER_MS = 60_000;
const POLL_MS = isLong ? 1_000 : 200;
const READY_MS = 120_000;
const LIMIT_MS = 400_000 + downSeconds * 2_000;
/** The short form leaves out what `tests/delivery/endpoints/without-nats` starts without NATS. */
const BACKGROUND = isLong ? ['ingest', 'alerts', 'delivery', 'worker'] : ['ingest'];

test('no call fails and every process stays ready while NATS is gone', {
  timeout: LIMIT_MS,
}, async (context) => {
  await using resources = new AsyncDisposableStack();
  const stack = resources.use(await openApiStack());
  const folder = await mkdtemp(join(tmpdir(), 'test-nats-down-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  let nats = await startNats({ folder: join(folder, 'nats'), port: 0 });
  resources.defer(() => nats.stop());
  const settings = {
    ...SERVICE_SECRETS,
    NATS_URL: nats.url,
    EGRESS_ALLOW_LOOPBACK: 'true',
    DATA_DIR: folder,
    ...(isLong ? AS_IN_PRODUCTION : {}),
  };
  const ports = new Map<string, number>();
  const caller = await createCaller(stack);
  const startApi = async (name: string) => {
    const port = await freePort();
    const api = await startLoadedApi(stack, caller, { ...settings, METRICS_PORT: String(port) });
    resources.defer(async () => void (await api.process.stop()));
    ports.set(name, port);
    return api;
  };
  for (const name of BACKGROUND) {
    const port = await freePort();
    ports.set(name, port);
    const environment = {
      ...stack.environment,
      ...settings,
      API_BASE_URL: 'https://api.test',
      METRICS_PORT: String(port),
    };
    const started = startProcess(`services/${name}/main.ts`, environment);
    resources.defer(async () => void (await started.stop()));
  }
  const readiness = async (name: string): Promise<{ status: number; body: string }> => {
    const reply = await fetch(`http://127.0.0.1:${ports.get(name)}/readyz`).catch(() => null);
    return { status: reply?.status ?? 0, body: (await reply?.text()) ?? '' };
  };
  const api = await startApi('api');
  for (const name of ports.keys())
    await until(`${name} is ready`, READY_MS, async () => (await readiness(name)).body.includes('"ready"'));

  const ending = new AbortController();
  const sends = [api.read, api.write, api.read, api.track];
  const loading = sendSteadily({ sends, perSecond: PER_SECOND, answerMs: ANSWER_MS }, ending.signal);
  await nats.stop();
  const untilMs = performance.now() + downSeconds * 1_000;
  const late = await startApi('an API that starts without NATS');
  await until('the late API is ready', READY_MS, async () => {
    return (await readiness('an API that starts without NATS')).status === 200;
  });
  let asked = 0;
  const unready: string[] = [];
  let degraded = 0;
  do {
    for (const name of ports.keys()) {
      const { status, body } = await readiness(name);
      asked += 1;
      if (status !== 200) unready.push(`${name}: ${status} ${body}`);
      if (body.includes('degraded')) degraded += 1;
    }
    await pause(POLL_MS);
  } while (performance.now() < untilMs || degraded === 0);
  const lateReply = await late.read(AbortSignal.timeout(ANSWER_MS));
  nats = await startNats({ folder: join(folder, 'nats'), port: nats.port });
  await until('all processes have NATS again', READY_MS, async () => {
    const all = await Promise.all([...ports.keys()].map(readiness));
    return all.every(({ body }) => body.includes('"ready"'));
  });
  ending.abort();
  const calls = await loading;
  judge(
    context,
    `failed of ${calls.length} calls, NATS down for ${downSeconds} s`,
    calls.filter((one) => !isSuccess(one)).length,
    {
      equals: 0,
    },
  );
  judge(context, `answers of /readyz other than 200, of ${asked}`, unready.length, { equals: 0 });
  expect(unready).toEqual([]);
  expect(lateReply.status).toBe(200);
});
