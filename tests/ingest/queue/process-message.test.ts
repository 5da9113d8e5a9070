import { headers, NatsError, type JsMsg } from 'nats';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#contracts/values/time.ts';
import { EventStoreBusy, EventStoreSilent } from '#platform/event-store/errors.ts';
import { silentLog } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { processMessage } from '#services/ingest/queue/process-message.ts';

const DAY_ATTEMPTS = 2_900;
const RETRY_MAX_AGE_MS = 6 * DAY_MS;
const NANOS_PER_MS = 1_000_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/**
 * Processes a message. `ageMs`: age at the first submission. Returns how it left, its age then, and the submissions.
 */
const processed = async (errors: readonly unknown[], ageMs = 0) => {
  const storedMs = Date.now() - ageMs;
  let leftAtMs = 0;
  let submissions = 0;
  const left: string[] = [];
  const leave = (how: string): void => {
    left.push(how);
    leftAtMs = Date.now();
  };
  const message = {
    subject: 'observations.one',
    seq: 1,
    headers: headers(),
    info: { deliveryCount: 1, timestampNanos: storedMs * NANOS_PER_MS },
    ack: () => leave('recorded'),
    term: () => leave('dead-lettered'),
    nak: () => leave('put back'),
  };
  const body = { bytes: new TextEncoder().encode('{"type":"any"}'), apart: null, fault: null };
  const done = processMessage({
    message: message as unknown as JsMsg,
    nats: { jetstream: { publish: async () => undefined } } as unknown as Nats,
    bodies: { read: async () => body, remove: async () => undefined },
    intake: {
      submit: async () => {
        submissions += 1;
        if (submissions <= errors.length) throw errors[submissions - 1];
        return { events: 0, totals: null };
      },
    },
    log: silentLog(),
    signal: new AbortController().signal,
    retryMaxAgeMs: RETRY_MAX_AGE_MS,
  });
  await vi.runAllTimersAsync();
  await done;
  return { left, submissions, ageMs: leftAtMs - storedMs };
};

const repeated = (error: unknown): readonly unknown[] => Array(DAY_ATTEMPTS).fill(error);
const withCode = (code: string): Error => Object.assign(new Error(code), { code });

describe('an observation', () => {
  it.each([
    ['refuses connections', withCode('ECONNREFUSED')],
    ['starts', withCode('57P03')],
    ['is full of connections', withCode('53300')],
    ['takes no writes, as a standby', withCode('25006')],
    ['has no free connection', new Error('timeout exceeded when trying to connect')],
    ['is silent', new Error('Query read timeout')],
    ['of events is silent', new EventStoreSilent(10_000)],
    ['of events is overloaded', new EventStoreBusy('1,000 appends wait')],
    ['of events is gone', Object.assign(new Error('unavailable'), { type: 'unavailable', code: 14 })],
    ['of the queue is silent', new NatsError('timeout', 'TIMEOUT')],
  ])('is recorded after a day in which a server %s', async (_, fault) => {
    const { left, submissions } = await processed(repeated(fault));
    expect(left).toEqual(['recorded']);
    expect(submissions).toBe(DAY_ATTEMPTS + 1);
  });

  it('has all attempts at a permanent error after slow moments of a server', async () => {
    const slow = Array(5).fill(withCode('57014'));
    const permanent = withCode('23505');
    expect(await processed([...slow, permanent, permanent])).toMatchObject({ left: ['recorded'] });
    expect(await processed([...slow, permanent, permanent, permanent])).toMatchObject({
      left: ['dead-lettered'],
    });
  });

  it.each([
    ['whose statement takes too long', withCode('57014'), 2_000],
    ['whose statement takes more memory than there is', withCode('53200'), 2_000],
    ['whose statement writes more temporary files than it may', withCode('53400'), 2_000],
    ['whose transaction takes too long', withCode('25P03'), 2_000],
    ['that fails for an unknown reason', new Error('unknown'), 2_000],
    ['that causes a permanent error', withCode('22P05'), 3],
  ])('%s becomes a dead letter after its last attempt', async (_, error, attempts) => {
    const outcome = await processed(repeated(error));
    expect(outcome).toMatchObject({ left: ['dead-lettered'], submissions: attempts });
  });

  it('at which a server fails each time becomes a dead letter before the queue drops it', async () => {
    const { left, ageMs } = await processed(repeated(withCode('57P02')), RETRY_MAX_AGE_MS - HOUR_MS);
    expect(left).toEqual(['dead-lettered']);
    expect(ageMs).toBeGreaterThanOrEqual(RETRY_MAX_AGE_MS);
    expect(ageMs).toBeLessThanOrEqual(RETRY_MAX_AGE_MS + MINUTE_MS);
  });

  it.each([
    [4, 'recorded'],
    [5, 'dead-lettered'],
  ])('of that age at which a server fails %i times is %s', async (failing, how) => {
    const errors = Array(failing).fill(withCode('40001'));
    const { left } = await processed(errors, RETRY_MAX_AGE_MS + HOUR_MS);
    expect(left).toEqual([how]);
  });
});
