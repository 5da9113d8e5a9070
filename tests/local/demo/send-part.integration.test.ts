import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { OBSERVATIONS_STREAM } from '#contracts/messages/subjects.ts';
import { Observation } from '#contracts/observations/index.ts';
import { openDemoCollector } from '#deploy/local/demo/workspace.ts';
import { sendToIntake } from '#deploy/local/demo/living/send-part.ts';
import { type IntakeServer, openIntakeServer, profileOf } from '#tests/intake/stack.ts';
import { until } from '#tests/stack/wait-until.ts';

const LINES = 1_203;
const WAIT_MS = 180_000;
/** Limit of a test that runs operator commands, which start slowly on a busy machine. */
const COMMANDS_MS = 6 * 60_000;

let server: IntakeServer;
let folder: string;
beforeAll(async () => {
  server = await openIntakeServer();
  folder = await mkdtemp(join(tmpdir(), 'send-part-'));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => server.nats.manager.streams.purge(OBSERVATIONS_STREAM));

const environment = () => ({
  DATABASE_URL: server.databaseUrl,
  NATS_URL: server.natsUrl,
  EVENT_STORE_URL: 'esdb://127.0.0.1:1?tls=false',
});
const live = new AbortController().signal;

test(
  'the demo sends its observations through the intake in their order, and waits until they are recorded',
  async () => {
    const file = join(folder, 'collector.json');
    const access = await openDemoCollector(environment(), server.url, file, live);
    const observations = Array.from({ length: LINES }, (_, index) =>
      Observation.parse(profileOf(`demo${index}.example`)),
    );
    let isRecorded = false;
    const send = async (): Promise<void> => {
      await sendToIntake(server.nats, access)(observations, live, () => undefined);
      isRecorded = true;
    };
    const sending = send();
    await until('all lines are queued', WAIT_MS, async () => {
      const { state } = await server.nats.manager.streams.info(OBSERVATIONS_STREAM);
      return state.messages === LINES;
    });
    expect(isRecorded).toBe(false);
    const queued = await server.queued();
    expect(queued.map(({ observation }) => observation['domain'])).toEqual(
      observations.map((observation) => ('domain' in observation ? observation.domain : '')),
    );
    // Ingest takes what is in the queue.
    await server.nats.manager.streams.purge(OBSERVATIONS_STREAM);
    await sending;
    expect(isRecorded).toBe(true);
    expect(await openDemoCollector(environment(), server.url, file, live)).toEqual(access);
    const { rows } = await server.database.query<{ key_id: string }>(
      'select key_id from intake.collector_key',
    );
    expect(rows).toHaveLength(1);
    await server.revoke(rows[0]?.key_id ?? '');
    const renewed = await openDemoCollector(environment(), server.url, file, live);
    expect(renewed.key).not.toBe(access.key);
    expect(await readFile(file, 'utf8')).toContain(renewed.key);
  },
  COMMANDS_MS,
);

test('the demo says what the intake refuses, and with which status', async () => {
  const { text: key } = await server.issue('other');
  const observation = {
    ...Observation.parse(profileOf('early.example')),
    observed_at: '1999-01-01T00:00:00.000Z',
  };
  const send = (withKey: string) =>
    sendToIntake(server.nats, { url: server.url, key: withKey })([observation], live, () => undefined);
  await expect(send(key)).rejects.toThrow('The intake refused observed_at');
  await expect(send('svc_collect_unknown')).rejects.toThrow('The intake answered 401');
});
