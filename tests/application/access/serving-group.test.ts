import { describe, expect, test } from 'vitest';
import { createMembership, REGISTERED_BEFORE_SECONDS } from '#application/access/rights/serving-group.ts';

const SECONDS = 60;
/** A window, and the epoch second of its start. */
const WINDOW = 1_000;
const START = WINDOW * SECONDS;

const member = (id: string, started_at: number) => ({ id, started_at });
const OLD = ['a', 'b', 'c'].map((id, place) => member(id, START - 600 + place));

describe('processes that have rights in a minute', () => {
  test('are those that were registered before it, each at a place of its own', () => {
    const places = OLD.map(({ id }) => {
      const membership = createMembership(id, SECONDS);
      membership.see(OLD.toReversed(), WINDOW);
      return membership.holders(WINDOW);
    });
    expect(places).toEqual([0, 1, 2].map((place) => ({ count: 3, place, live: 3, holdersLive: 3 })));
  });

  test('do not change when one starts within it, which has a place in the next minute', () => {
    const late = member('late', START - REGISTERED_BEFORE_SECONDS);
    const [one, own] = [createMembership('a', SECONDS), createMembership('late', SECONDS)];
    for (const membership of [one, own]) membership.see([...OLD, late], WINDOW);
    expect(one.holders(WINDOW)).toEqual({ count: 3, place: 0, live: 4, holdersLive: 3 });
    expect(own.holders(WINDOW)).toEqual({ count: 3, place: null, live: 4, holdersLive: 3 });
    expect(one.holders(WINDOW + 1)).toEqual({ count: 4, place: 0, live: 4, holdersLive: 4 });
    expect(own.holders(WINDOW + 1)).toEqual({ count: 4, place: 3, live: 4, holdersLive: 4 });
  });

  test('keep the share of one that dies until the minute ends', () => {
    const membership = createMembership('b', SECONDS);
    membership.see(OLD, WINDOW);
    membership.see(OLD.slice(1), WINDOW);
    expect(membership.holders(WINDOW)).toMatchObject({ count: 3, place: 1, holdersLive: 2 });
    expect(membership.holders(WINDOW + 1)).toEqual({ count: 2, place: 0, live: 2, holdersLive: 2 });
  });

  test('are the first one alone when all started within it', () => {
    const all = [member('second', START + 2), member('first', START + 1)];
    const [first, second] = [createMembership('first', SECONDS), createMembership('second', SECONDS)];
    for (const membership of [first, second]) membership.see(all, WINDOW);
    expect(first.holders(WINDOW)).toEqual({ count: 1, place: 0, live: 2, holdersLive: 1 });
    expect(second.holders(WINDOW)).toEqual({ count: 1, place: null, live: 2, holdersLive: 1 });
  });

  test('do not change when the row of the first one is late', () => {
    const all = [member('first', START + 1), member('second', START + 2)];
    const [first, second] = [createMembership('first', SECONDS), createMembership('second', SECONDS)];
    for (const membership of [first, second]) {
      membership.see(all, WINDOW);
      membership.see(all.slice(1), WINDOW);
    }
    expect(first.holders(WINDOW)).toMatchObject({ count: 1, place: 0 });
    expect(second.holders(WINDOW)).toMatchObject({ count: 1, place: null });
  });

  test('are known as dead to one that starts after them', () => {
    const late = member('late', START + 1);
    const membership = createMembership('late', SECONDS);
    membership.see([...OLD, late], WINDOW);
    membership.see([late], WINDOW);
    expect(membership.holders(WINDOW)).toMatchObject({ count: 3, place: null, holdersLive: 0 });
  });

  test('are this process alone when Postgres knows none', () => {
    const membership = createMembership('own', SECONDS);
    membership.see([], WINDOW);
    expect(membership.holders(WINDOW)).toEqual({ count: 1, place: 0, live: 1, holdersLive: 1 });
  });
});
