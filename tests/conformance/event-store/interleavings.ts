import {
  type AppendExpectedRevision,
  type EventStoreDBClient,
  type JSONEventData,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventStoreAdapter } from '../event-store.ts';
import { idsOf, newEvents, newStream, readWhole } from './support.ts';
import { limitMs, runs } from '#tests/property-seed.ts';

const STREAMS = 3;
const MAX_STEPS = 25;
const MAX_EVENTS = 4;
const RUNS = 30;
const TIME_LIMIT_MS = limitMs(60_000);

interface Step {
  readonly stream: number;
  readonly expectation: 'any' | 'no_stream' | 'stream_exists' | 'right' | 'low' | 'high';
  readonly events: number;
  /** Index of the earlier append to repeat; `null` for a new append. */
  readonly repeats: number | null;
}

const step: fc.Arbitrary<Step> = fc.record({
  stream: fc.nat({ max: STREAMS - 1 }),
  expectation: fc.constantFrom('any', 'no_stream', 'stream_exists', 'right', 'right', 'low', 'high'),
  events: fc.integer({ min: 1, max: MAX_EVENTS }),
  repeats: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.nat({ max: MAX_STEPS }) },
  ),
});

interface Append {
  readonly stream: string;
  readonly expected: AppendExpectedRevision;
  readonly events: readonly JSONEventData[];
}

class Model {
  readonly streams = new Map<string, string[]>();

  ids(stream: string): string[] {
    return this.streams.get(stream) ?? [];
  }

  /** Returns the revision that the server must return; `null` for a conflict. */
  append({ stream, expected, events }: Append): number | null {
    const ids = this.ids(stream);
    const sent = idsOf(events);
    if (expected === 'stream_exists' && ids.length === 0) return null;
    const isExact = expected !== 'any' && expected !== 'stream_exists';
    const at = isExact ? (expected === 'no_stream' ? 0 : Number(expected) + 1) : ids.indexOf(sent[0] ?? '');
    if (at > ids.length) return null;
    if (at >= 0 && at < ids.length) {
      const isRepeat = sent.every((id, index) => ids[at + index] === id);
      return isRepeat ? at + sent.length - 1 : null;
    }
    this.streams.set(stream, [...ids, ...sent]);
    return ids.length + sent.length - 1;
  }
}

export function interleavingCases(adapter: EventStoreAdapter): void {
  let client: EventStoreDBClient;
  beforeAll(() => {
    client = adapter.connect();
  });
  afterAll(() => client.dispose());

  /** Returns the revision of the server; `null` for a conflict. Other errors are thrown. */
  async function send({ stream, expected, events }: Append): Promise<number | null> {
    try {
      const answer = await client.appendToStream(stream, [...events], { expectedRevision: expected });
      return Number(answer.nextExpectedRevision);
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) return null;
      throw error;
    }
  }

  async function idsIn(stream: string, model: Model): Promise<string[]> {
    return model.ids(stream).length === 0 ? [] : idsOf(await readWhole(client, stream));
  }

  describe('random histories', () => {
    test('of appends and repetitions behave like a list of ids', {
      timeout: TIME_LIMIT_MS,
    }, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: MAX_STEPS }), async (steps) => {
          const names = Array.from({ length: STREAMS }, () => newStream());
          const model = new Model();
          const sent: Append[] = [];
          for (const { stream, expectation, events, repeats } of steps) {
            const append =
              sent[repeats ?? -1] ?? newAppend(names[stream] as string, expectation, events, model);
            sent.push(append);
            expect(await send(append)).toBe(model.append(append));
          }
          for (const name of names) expect(await idsIn(name, model)).toEqual(model.ids(name));
        }),
        { numRuns: runs(RUNS) },
      );
    });

    test('of concurrent writers are explained by the order of $all', { timeout: TIME_LIMIT_MS }, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: MAX_STEPS }), async (steps) => {
          const names = Array.from({ length: STREAMS }, () => newStream());
          // All writers expect the same empty streams, then all append at once.
          const appends = steps.map(({ stream, events }, index) => ({
            stream: names[stream] as string,
            expected: index % 3 === 0 ? ('any' as const) : ('no_stream' as const),
            events: newEvents(events),
          }));
          const answers = await Promise.all(appends.map(send));
          const won = appends.filter((_, index) => answers[index] !== null);
          for (const name of names) {
            const own = won.filter((append) => append.stream === name);
            const stored = own.length === 0 ? [] : idsOf(await readWhole(client, name));
            // Each accepted append is stored once, in one piece, and the one that expected no stream is first.
            expect(stored).toHaveLength(own.reduce((sum, append) => sum + append.events.length, 0));
            for (const { events } of own) {
              const at = stored.indexOf(events[0]?.id ?? '');
              expect(stored.slice(at, at + events.length)).toEqual(idsOf(events));
            }
            const first = own
              .filter((append) => append.expected === 'no_stream')
              .map((append) => append.events[0]?.id);
            expect([[], [stored[0]]]).toContainEqual(first);
          }
          // An append with the expectation `any` never conflicts.
          const unconditional = answers.filter((_, index) => appends[index]?.expected === 'any');
          expect(unconditional).not.toContain(null);
        }),
        { numRuns: runs(RUNS) },
      );
    });
  });
}

function newAppend(stream: string, expectation: Step['expectation'], events: number, model: Model): Append {
  const last = model.ids(stream).length - 1;
  return { stream, expected: spell(expectation, last), events: newEvents(events) };
}

function spell(expectation: Step['expectation'], last: number): AppendExpectedRevision {
  if (expectation === 'right') return last < 0 ? 'no_stream' : BigInt(last);
  if (expectation === 'low') return last < 1 ? 'no_stream' : BigInt(last - 1);
  if (expectation === 'high') return BigInt(last + 2);
  return expectation;
}
