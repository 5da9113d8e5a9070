import { describe, it } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { radar } from '#projections/radar/project.ts';
import { listRadar } from '#projections/radar/read.ts';
import { given } from '../dsl/projections.ts';
import { correctedAds, scanOf } from './fixtures/corrected-ads.ts';
import { at, idOf, orders, parsed } from './fixtures/network-events.ts';

const AD = '9000000001';
const FIRST = { limit: 100, after: null } as const;
const story = () => correctedAds(['a', 'b']);

const occurrence = (kind: 'started' | 'stopped' | 'destination_changed', day: number) => ({
  kind,
  scan_id: scanOf('a', day),
  observed_at: at(day),
});

describe('radar items', () => {
  const read = async (db: ReadDatabase) =>
    parsed((await listRadar(db, { brandIds: [idOf('a'), idOf('b')], since: at(1) }, FIRST)).items).map(
      ({ type, observed_at, correction, brand }) => [
        type,
        observed_at,
        correction,
        (brand as { id: string }).id,
      ],
    );

  it('stay with a mark when a correction withdraws them, and are added with a mark at their own time', async () => {
    const { events } = story()
      .start('a', AD, 6)
      .stop(AD, 9)
      .correct(
        AD,
        4,
        { novelty: 'baseline' },
        { withdrawn: [occurrence('started', 6)], added: [occurrence('stopped', 7)] },
      );
    await given(events)
      .into(radar)
      .shows(read, [
        ['ad_stopped', at(9), null, idOf('a')],
        ['ad_stopped', at(7), 'added', idOf('a')],
        ['ad_started', at(6), 'withdrawn', idOf('a')],
      ]);
  });

  it('show the destination at the start that a correction adds, not the later one', async () => {
    const [early, late] = ['https://a.example/early', 'https://a.example/late'];
    const { events } = story()
      .start('a', AD, 6, {}, { link_url: late })
      .correct(
        AD,
        4,
        { first_seen_at: at(4) },
        {
          withdrawn: [occurrence('started', 6)],
          added: [
            { ...occurrence('started', 4), to_url: early },
            { ...occurrence('destination_changed', 6), from_url: early, to_url: late },
            occurrence('stopped', 7),
          ],
        },
      );
    const destinations = async (db: ReadDatabase) =>
      parsed((await listRadar(db, { brandIds: [idOf('a')], since: at(1) }, FIRST)).items)
        .map(({ type, destination_url, previous_destination_url, correction }) =>
          [type, destination_url, previous_destination_url, correction].join(' '),
        )
        .toSorted();
    await given(events)
      .into(radar)
      .shows(destinations, [
        `ad_started ${early}  added`,
        `ad_started ${late}  withdrawn`,
        'ad_stopped   added',
        `destination_changed ${late} ${early} added`,
      ]);
  });

  it('show the previous destination that a correction states, with a mark until another restores it', async () => {
    const [early, between, late] = ['https://a.example/1', 'https://a.example/2', 'https://a.example/3'];
    const change = (day: number, from_url: string, to_url: string) => ({
      ...occurrence('destination_changed', day),
      from_url,
      to_url,
    });
    const reported = change(8, early, late);
    const corrected = [change(6, early, between), change(8, between, late)];
    const once = () =>
      story()
        .start('a', AD, 4, { novelty: 'baseline' }, { link_url: early })
        .leadTo(AD, 8, late)
        .correct(AD, 6, {}, { withdrawn: [reported], added: corrected });
    const destinations = async (db: ReadDatabase) =>
      parsed((await listRadar(db, { brandIds: [idOf('a')], since: at(1) }, FIRST)).items).map(
        ({ destination_url, previous_destination_url, correction }) => [
          previous_destination_url,
          destination_url,
          correction,
        ],
      );
    await given(once().events)
      .into(radar)
      .shows(destinations, [
        [between, late, 'changed'],
        [early, between, 'added'],
      ]);
    await given(once().correct(AD, 7, {}, { withdrawn: corrected, added: [reported] }).events)
      .into(radar)
      .shows(destinations, [
        [early, late, null],
        [early, between, 'withdrawn'],
      ]);
  });

  it('have a mark when a correction states another brand for them, in any order of the streams', async () => {
    const ofOther = { ...occurrence('started', 6), brand_id: idOf('b') };
    const { events } = story()
      .start('a', AD, 6)
      .move(AD, 7, 'b')
      .correct(AD, 4, {}, { withdrawn: [{ ...ofOther, brand_id: idOf('a') }], added: [ofOther] });
    for (const order of orders(events).slice(0, 2)) {
      await given(order)
        .into(radar)
        .shows(read, [['ad_started', at(6), 'changed', idOf('b')]]);
    }
  });

  it('have no mark when a second correction restores them', async () => {
    const { events } = story()
      .start('a', AD, 6)
      .correct(AD, 4, {}, { withdrawn: [occurrence('started', 6)] })
      .correct(AD, 5, {}, { added: [occurrence('started', 6)] });
    await given(events)
      .into(radar)
      .shows(read, [['ad_started', at(6), null, idOf('a')]]);
  });

  it('are withdrawn from the brand that reported them, also after the ad moved', async () => {
    const { events } = story()
      .start('a', AD, 6)
      .move(AD, 7, 'b')
      .correct(AD, 4, {}, { withdrawn: [occurrence('started', 6)] });
    for (const order of orders(events).slice(0, 2)) {
      await given(order)
        .into(radar)
        .shows(read, [['ad_started', at(6), 'withdrawn', idOf('a')]]);
    }
  });

  it('do not come from an ad that moves or that a late scan shows first', async () => {
    const { events } = story().correct(AD, 4, {}, { brand: 'a' }).move(AD, 6, 'b');
    await given(events).into(radar).shows(read, []);
  });
});
