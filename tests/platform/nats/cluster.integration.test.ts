import { AckPolicy } from 'nats';
import { expect, test } from 'vitest';
import { OBSERVATIONS_STREAM } from '#contracts/messages/subjects.ts';
import { Observation } from '#contracts/observations/index.ts';
import { pause } from '#platform/clock.ts';
import { silentLog } from '#platform/logger.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { type QueuedLine, publishLines } from '#services/intake/receive-observations.ts';
import { IntakeRefusal } from '#services/intake/server/refusal.ts';
import { until } from '#tests/stack/wait-until.ts';
import { judge } from '#tests/trials/judge.ts';
import { startNatsCluster } from './nats-cluster.ts';

const environment = inheritedEnvironment();
const OBSERVATIONS = Number(environment['NATS_CLUSTER_OBSERVATIONS'] ?? 400);
const KILLS = Number(environment['NATS_CLUSTER_KILLS'] ?? 2);
const LINES_PER_REQUEST = 20;
const RETRY_MS = 100;
const POLL_MS = 100;
const LIMIT_MS = 120_000;
const READ_MS = 2_000;
const FETCH_MAX = 1_000;
const SETTINGS = { NATS_REPLICAS: 3, OBSERVATIONS_MAX_GB: 1 };

const lineOf = (n: number): QueuedLine => {
  const input = {
    type: 'operator.record',
    name: `Operator ${n} GmbH`,
    observed_at: '2026-05-01T08:00:00.000Z',
    collector: 'tests',
    country: null,
    sources: [],
  };
  return { bytes: Buffer.from(JSON.stringify(input)), input, observation: input as unknown as Observation };
};

/** Repeats lines until accepted, as a collector does. Returns the refusals. */
const sendUntilAccepted = async (nats: Nats, lines: readonly QueuedLine[]): Promise<number> => {
  for (let refusals = 0; ; refusals += 1) {
    try {
      await publishLines(nats, lines, silentLog());
      return refusals;
    } catch (error) {
      if (!(error instanceof IntakeRefusal)) throw error;
      await pause(RETRY_MS);
    }
  }
};

const untilComplete = ({ manager }: Nats): Promise<void> =>
  until('all copies complete', LIMIT_MS, async () => {
    try {
      const { cluster } = await manager.streams.info(OBSERVATIONS_STREAM);
      const replicas = cluster?.replicas ?? [];
      return replicas.length === 2 && replicas.every(({ current, offline }) => current && !offline);
    } catch {
      return false;
    }
  });

const leaderOf = async ({ manager }: Nats): Promise<string> =>
  (await manager.streams.info(OBSERVATIONS_STREAM)).cluster?.leader ?? '';

const readAll = async (nats: Nats): Promise<readonly string[]> => {
  const config = { durable_name: 'reader', ack_policy: AckPolicy.Explicit, max_ack_pending: -1 };
  // Nodes that come back first choose a leader, and none answers meanwhile.
  await until('a consumer', LIMIT_MS, () =>
    nats.manager.consumers.add(OBSERVATIONS_STREAM, config).then(
      () => true,
      () => false,
    ),
  );
  const consumer = await nats.jetstream.consumers.get(OBSERVATIONS_STREAM, 'reader');
  const { messages: stored } = (await nats.manager.streams.info(OBSERVATIONS_STREAM)).state;
  const names: string[] = [];
  // A fetch ends with its last message, or without some of them on a busy machine.
  while (names.length < stored) {
    const waiting = Math.min(FETCH_MAX, stored - names.length);
    const messages = await consumer.fetch({ max_messages: waiting, expires: READ_MS });
    for await (const message of messages) {
      names.push(message.json<{ name: string }>().name);
      message.ack();
    }
  }
  return names;
};

test(
  'three nodes of NATS lose no observation that was accepted while one after the other is killed',
  async (context) => {
    await using cluster = await startNatsCluster();
    let opened: Nats | undefined;
    await until('the cluster', LIMIT_MS, async () => {
      opened = await openNats(cluster.url, 'test', SETTINGS).catch(() => undefined);
      return opened !== undefined;
    });
    await using nats = opened as Nats;
    await untilComplete(nats);
    const { config } = await nats.manager.streams.info(OBSERVATIONS_STREAM);
    expect(config.num_replicas).toBe(3);

    let kills = 0;
    const isOver = (): boolean => kills >= KILLS;
    const killInTurn = async (): Promise<void> => {
      while (!isOver()) {
        // The others may lack what the leader has.
        const leader = kills % 2 === 0 ? await leaderOf(nats).catch(() => '') : '';
        const node = leader === '' ? (cluster.nodes[kills % 3] ?? '') : leader;
        await cluster.kill(node);
        await pause(POLL_MS);
        await cluster.start(node);
        await untilComplete(nats);
        kills += 1;
      }
    };
    const killing = killInTurn();
    let refusals = 0;
    let sent = 0;
    while (sent < OBSERVATIONS || !isOver()) {
      const lines = Array.from({ length: LINES_PER_REQUEST }, (_, n) => lineOf(sent + n));
      refusals += await sendUntilAccepted(nats, lines);
      sent += LINES_PER_REQUEST;
      if (sent >= OBSERVATIONS) await pause(POLL_MS);
    }
    await killing;
    const found = await readAll(nats);
    const names = new Set(found);
    const lost = Array.from({ length: sent }, (_, n) => `Operator ${n} GmbH`).filter(
      (name) => !names.has(name),
    );
    const repeats = `${refusals} requests repeated, ${found.length - names.size} observations twice`;
    judge(context, `lost of ${sent} accepted over ${kills} kills (${repeats})`, lost.length, { equals: 0 });
    expect(lost).toEqual([]);
  },
  LIMIT_MS + KILLS * LIMIT_MS,
);
