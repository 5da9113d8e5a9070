import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandIdOf } from '#domain/ids.ts';
import { openPool } from '#platform/postgres/pool.ts';
import type { Intake } from '#services/ingest/intake-types.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { ad } from '#tests/dsl/scans.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

/** Tests switches of collectors in any order of arrival (rules 6 and 11). */

let stack: IntakeStack;
beforeAll(async () => {
  stack = await openIntakeStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

const COLOURS = ['red', 'green', 'blue', 'grey'];

/** Scan on a day of May, and how its collector frames the texts. */
type Shown = {
  readonly day: number;
  readonly collector: string;
  readonly frame: string;
  readonly from?: number;
};
const SCANS: readonly Shown[] = [
  { day: 1, collector: 'one', frame: '' },
  // The first ad misses this switch.
  { day: 2, collector: 'two', frame: 'Sponsored: ', from: 1 },
  { day: 3, collector: 'two', frame: 'Sponsored: ' },
  { day: 4, collector: 'one', frame: '' },
];

const submit = async (intake: Intake, brand: number, { day, collector, frame, from = 0 }: Shown) => {
  const ads = COLOURS.map((colour, index) =>
    ad(`${brand}${index}`, { page_id: `70000000${brand}`, body: `${frame}Socks in ${colour}` }),
  );
  const options = { pages: [], complete: false, collector };
  const time = `2026-05-0${day}T10:00:00.000Z`;
  const { chunks, end } = scanOf(`collectors-${brand}.example`, time, ads.slice(from), options);
  for (const message of [...chunks, end]) await intake.submit(message);
};

/** Changes as `revised/reworded` by day, as corrected. */
const changesOf = async (brand: number): Promise<Readonly<Record<string, string>>> => {
  const changes: Record<string, string> = {};
  const stream = adLibraryStream(brandIdOf(`collectors-${brand}.example`));
  for await (const { type, data } of stack.eventStore.read<AdLibraryEvent>(stream)) {
    if (type !== 'ScanRecorded' && type !== 'ScanCorrected') continue;
    changes[data.observed_at.slice(8, 10)] = `${data.totals.revised}/${data.totals.reworded}`;
  }
  return changes;
};
const EXPECTED = { '01': '0/0', '02': '0/3', '03': '0/1', '04': '0/4' };

describe('differences of a collector count as such', () => {
  it.each([
    ['in the order of observation', 1, [1, 2, 3, 4]],
    ['when the switch arrives late', 2, [1, 3, 4, 2]],
    ['when the scan before the switch arrives last', 3, [2, 3, 4, 1]],
    ['when all scans arrive late', 4, [4, 3, 2, 1]],
  ])('%s', async (_, brand, days) => {
    for (const day of days)
      for (const one of SCANS) if (one.day === day) await submit(stack.intake, brand, one);
    expect(await changesOf(brand)).toEqual(EXPECTED);
  });

  it('also after the working tables were folded from the log', async () => {
    const [first, second, third, fourth] = SCANS as [Shown, Shown, Shown, Shown];
    for (const one of [first, third, fourth]) await submit(stack.intake, 9, one);
    const database = openPool(stack.databaseUrl, 1);
    await database.query('drop schema ingest cascade');
    await database.end();
    await using intake = await openIntake(stack);
    await submit(intake, 9, second);
    expect(await changesOf(9)).toEqual(EXPECTED);
  });
});
