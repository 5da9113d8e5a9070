import { expect } from 'vitest';
import { postOnce } from '#platform/channels/http-post.ts';
import { systemClock } from '#platform/clock.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { dripsHead, hangs, openReceivers } from '#tests/delivery/receivers.ts';
import { attack, tries } from './attack.ts';

/** Endpoints of one origin that stall, and concurrent sends to each: the limit of an endpoint. */
const STALLED = 8;
const SENDS_PER_ENDPOINT = 16;
const BODY = Buffer.from('{}');

attack('receivers that stall hold up no other endpoint of their origin', async () => {
  await using receivers = await openReceivers();
  await using egress = openEgress({ allowLoopback: true });
  const post = (path: string) =>
    postOnce(egress, systemClock, { url: receivers.url + path, headers: [], body: BODY });
  const measure = async (): Promise<number> => {
    const times: number[] = [];
    for (let count = 0; count < tries(50); count += 1) {
      const since = performance.now();
      expect(await post('/well')).toMatchObject({ delivered: true });
      times.push(performance.now() - since);
    }
    return times.toSorted((one, other) => one - other)[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN;
  };
  await measure();
  const undisturbed = await measure();
  for (let place = 0; place < STALLED; place += 1) {
    receivers.behave(`/stalls/${place}`, place % 2 === 0 ? hangs : dripsHead);
    for (let count = 0; count < SENDS_PER_ENDPOINT; count += 1) void post(`/stalls/${place}`);
  }
  const stalled = () => receivers.received.filter(({ path }) => path.startsWith('/stalls')).length;
  await expect.poll(stalled, { timeout: 10_000 }).toBe(STALLED * SENDS_PER_ENDPOINT);
  const beside = await measure();
  const ratio = (beside / undisturbed).toFixed(2);
  return `${stalled()} sends stalled; p99 of another endpoint ${undisturbed.toFixed(2)} → ${beside.toFixed(2)} ms (${ratio} ×)`;
});
