import { expect, test } from 'vitest';
import { createKeyText } from '#application/access/api-key-format.ts';
import { createCallerTurns } from '#services/api/server/caller-turns.ts';

const headersOf = (authorization: string) => ({ authorization });

/** Enters the turns with each of the headers. Returns how many start in this turn of the event loop. */
const started = (
  turns: ReturnType<typeof createCallerTurns>,
  texts: readonly string[],
  address = '192.0.2.1',
): number => texts.filter((text) => turns.enter(headersOf(text), address) === undefined).length;

const spellingsOf = (key: string): readonly string[] =>
  ['Bearer', 'bearer', 'BEARER', 'bEARER'].flatMap((scheme) =>
    Array.from({ length: 50 }, (_, spaces) => `${scheme}${' '.repeat(spaces + 1)}${key}`),
  );

test('200 spellings of one key start no more requests in a turn than one spelling', () => {
  const key = createKeyText();
  const unknown = createCallerTurns();
  expect(started(unknown, spellingsOf(key))).toBe(2);
  const known = createCallerTurns();
  known.learn(key, 'workspace');
  expect(started(known, spellingsOf(key))).toBe(2);
});

test('200 keys of a workspace share its turns, and another workspace behind the same address has its own', () => {
  const turns = createCallerTurns();
  const keys = Array.from({ length: 200 }, () => createKeyText());
  for (const key of keys) turns.learn(key, 'workspace');
  const other = createKeyText();
  turns.learn(other, 'other');
  expect(
    started(
      turns,
      keys.map((key) => `Bearer ${key}`),
    ),
  ).toBe(2);
  expect(started(turns, [`Bearer ${other}`, `Bearer ${other}`])).toBe(2);
});

test('invented keys, malformed ones and none share the turns of their network', () => {
  const turns = createCallerTurns();
  const sent = Array.from({ length: 100 }, (_, place) => [`Bearer ${createKeyText()}`, `Basic ${place}`]);
  expect(started(turns, sent.flat())).toBe(2);
  const addresses = Array.from({ length: 100 }, (_, place) => `2001:db8:1:2::${place.toString(16)}`);
  expect(addresses.filter((address) => turns.enter({}, address) === undefined)).toHaveLength(2);
  expect(started(turns, ['Bearer x'], '192.0.2.2')).toBe(1);
});

test('a refused key no longer shares the turns of its workspace', () => {
  const turns = createCallerTurns();
  const [revoked, valid] = [createKeyText(), createKeyText()];
  for (const key of [revoked, valid]) turns.learn(key, 'workspace');
  turns.learn(revoked, null);
  expect(
    started(
      turns,
      Array.from({ length: 10 }, () => `Bearer ${revoked}`),
    ),
  ).toBe(2);
  expect(started(turns, [`Bearer ${valid}`])).toBe(1);
});
