import { describe, expect, test } from 'vitest';
import type { RecordedEvent } from '#contracts/events/event.ts';
import {
  canRead,
  currentVersion,
  requireReadable,
  SCHEMA_REGISTRY,
  type SchemaRegistry,
  UnreadableEvent,
  upcast,
} from '#contracts/events/schema-registry.ts';

/** Type in its third version: `cents` was `amount` in version 1, and became a string in version 3. */
const REGISTRY: SchemaRegistry = {
  invoice: {
    Paid: [
      ({ amount, ...data }) => ({ ...data, cents: Number(amount) * 100 }),
      ({ cents, ...data }) => ({ ...data, cents: String(cents) }),
    ],
    Sent: [],
  },
};

const recorded = (type: string, data: object, version?: number): RecordedEvent =>
  ({
    type,
    data,
    stream: 'invoice-1',
    revision: 0n,
    position: 1n,
    recordedAt: new Date(0),
    id: 'a',
    metadata: version === undefined ? {} : { schema_version: version },
  }) as unknown as RecordedEvent;

describe('an event', () => {
  test('of each older version is read as the current one, step by step', () => {
    expect(upcast(recorded('Paid', { amount: 2, by: 'x' }, 1), REGISTRY).data).toEqual({
      cents: '200',
      by: 'x',
    });
    expect(upcast(recorded('Paid', { cents: 200 }, 2), REGISTRY).data).toEqual({ cents: '200' });
  });

  test('of the current version is returned unchanged', () => {
    const event = recorded('Paid', { cents: '200' }, 3);
    expect(upcast(event, REGISTRY)).toBe(event);
  });

  test('without a version is of the first', () => {
    expect(upcast(recorded('Paid', { amount: 1 }), REGISTRY).data).toEqual({ cents: '100' });
  });

  test.each([
    ['of a newer version', 'Paid', 4],
    ['of an unknown type', 'Refunded', 1],
    ['of a version that is not a number of this world', 'Paid', 0.5],
    ['named like a property of every object', 'toString', 1],
  ])('%s is marked, never translated and never taken for readable', (_, type, version) => {
    const event = upcast(recorded(type, { amount: 1 }, version), REGISTRY);
    expect(event).toMatchObject({ data: { amount: 1 }, unreadable: version });
    expect(() => requireReadable(event)).toThrow(UnreadableEvent);
    expect(() => requireReadable(event)).toThrow(/invoice-1 holds \w+ in schema version .*Deploy a release/);
    expect(canRead({ stream: 'invoice-1', type, version }, REGISTRY)).toBe(false);
  });
});

test('the version that is written is the number of steps plus one; an unknown type is never written', () => {
  expect(currentVersion('invoice-1', 'Paid', REGISTRY)).toBe(3);
  expect(currentVersion('invoice-1', 'Sent', REGISTRY)).toBe(1);
  expect(() => currentVersion('invoice-1', 'Refunded', REGISTRY)).toThrow(
    'Refunded is not an event type of invoice',
  );
});

test('every released version of every type can be read by this release', () => {
  for (const [category, types] of Object.entries(SCHEMA_REGISTRY)) {
    for (const type of Object.keys(types)) {
      const stream = `${category}-x`;
      for (let version = 1; version <= currentVersion(stream, type); version += 1) {
        expect(canRead({ stream, type, version })).toBe(true);
      }
    }
  }
});
