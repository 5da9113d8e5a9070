import { expect, test } from 'vitest';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { BACKTEST_EVENTS_MAX, backtestRule } from '#application/alerts/backtest.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { scanRecorded } from '#tests/dsl/ad-events.ts';
import { metadataOf } from '#tests/dsl/metadata.ts';
import { BRAND, ruleOf } from './rule.ts';

const NOW = new Date('2026-11-20T09:00:00.000Z');
const WINDOW = { since: new Date(NOW.getTime() - 1_000), until: NOW };

/** A log in which the library of the brand has that many events; `change` makes others of them. */
const logOf = (
  count: number,
  change: (event: RecordedEvent, index: number) => RecordedEvent = (event) => event,
): Pick<EventStore, 'read'> => {
  const events = Array.from({ length: count }, (_, index) =>
    change(
      {
        ...scanRecorded(BRAND, '2026-05-02T08:00:00.000Z'),
        stream: `adLibrary-${BRAND}`,
        revision: BigInt(index),
        position: BigInt(index + 1),
        recordedAt: NOW,
        id: String(index),
        metadata: metadataOf(String(index)),
      },
      index,
    ),
  );
  const read = async function* (stream: string) {
    for (const event of events) if (event.stream === stream) yield event;
  };
  return { read: read as unknown as EventStore['read'] };
};

const backtest = (eventStore: Pick<EventStore, 'read'>) =>
  backtestRule(
    { eventStore, db: { query: async () => [], slow: async () => [] }, pastReads: {} as never, baseUrl: '' },
    ruleOf(),
    WINDOW,
  );

test('a backtest is refused when the brands have more events than are kept in memory', async () => {
  expect(await backtest(logOf(BACKTEST_EVENTS_MAX))).toMatchObject({ events: BACKTEST_EVENTS_MAX, sent: [] });
  await expect(backtest(logOf(BACKTEST_EVENTS_MAX + 1))).rejects.toMatchObject({
    code: 'invalid_input',
    details: [{ path: 'brand_ids', code: 'too_big' }],
  });
});

test('a backtest counts an event of a newer release and those after it in its stream as unread', async () => {
  const log = logOf(5, (event, index) => (index === 2 ? { ...event, unreadable: 99 } : event));
  expect(await backtest(log)).toMatchObject({ events: 5, eventsUnread: 3 });
});
