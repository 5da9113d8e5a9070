import { describe, it } from 'vitest';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { newAdvertisers } from '#projections/new-advertisers/project.ts';
import { listNewAdvertisers } from '#projections/new-advertisers/read.ts';
import { rewriteNewAdvertisers } from '#projections/new-advertisers/rewrite.ts';
import { rankings } from '#projections/rankings/project.ts';
import { listRisers } from '#projections/rankings/read.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';
import { brand, idOf, scanned, start } from './fixtures/network-events.ts';

const scan = (name: string, day: number, active: number, reliable = true): GivenEvent => {
  const { stream, event } = scanned(name, day);
  const { data } = event as Extract<AdLibraryEvent, { type: 'ScanRecorded' }>;
  return { stream, event: { ...event, data: { ...data, reliable, totals: { ...data.totals, active } } } };
};
const firstPage = { limit: 10, after: null };

describe('risers', () => {
  const risers = async (db: ReadDatabase) =>
    (await listRisers(db, {}, firstPage)).rows.map(({ brand_id, rank, growth }) => [brand_id, rank, growth]);

  it('lists growth between a reliable day of the last week and one 7 to 28 days earlier, highest first', async () => {
    const shownToAll = ['six', 'far', 'farthest', 'lastWeek', 'stale', 'fell', 'doubtful'];
    const events = [
      ...shownToAll.map((name) => brand(name)),
      brand('hidden', { is_public: false }),
      // Six days are too few: the day before that one is compared.
      scan('six', 33, 10),
      scan('six', 34, 25),
      scan('six', 40, 30),
      scan('far', 12, 45),
      scan('far', 40, 50),
      scan('farthest', 11, 1),
      scan('farthest', 40, 90),
      scan('lastWeek', 27, 1),
      scan('lastWeek', 34, 4),
      scan('stale', 26, 1),
      scan('stale', 33, 90),
      scan('fell', 30, 9),
      scan('fell', 40, 8),
      scan('doubtful', 20, 1),
      scan('doubtful', 30, 90, false),
      scan('doubtful', 39, 11),
      scan('doubtful', 40, 99, false),
      scan('hidden', 30, 1),
      scan('hidden', 40, 90),
    ];
    await given(events)
      .into(rankings)
      .shows(risers, [
        [idOf('six'), 1, 20],
        [idOf('doubtful'), 2, 10],
        [idOf('far'), 3, 5],
        [idOf('lastWeek'), 4, 3],
      ]);
  });
});

describe('new advertisers', () => {
  /** Runs statement by statement, as the worker does, because the reading connection runs one at a time. */
  const rewritten = async (db: ReadDatabase): Promise<void> => {
    const query = async (text: string): Promise<void> => {
      for (const sql of text.split(';')) if (sql.trim() !== '') await db.query({ sql, values: [] });
    };
    await rewriteNewAdvertisers({ query });
  };
  const shown =
    (filters: readonly Parameters<typeof listNewAdvertisers>[1][]) => async (db: ReadDatabase) => {
      await rewritten(db);
      const lists = filters.map(async (filter) =>
        (await listNewAdvertisers(db, filter, firstPage)).rows.map(({ brand_id, rank, active_ads }) => [
          brand_id,
          rank,
          active_ads,
        ]),
      );
      return Promise.all(lists);
    };

  it('lists brands known before the window whose first ad began in it, most active first', async () => {
    const began = (name: string, watchedFrom: number, day: number, active: number): GivenEvent[] => [
      scan(name, watchedFrom, 0),
      start(name, `9000${name.length}${day}`, { day }),
      scan(name, 100, active),
    ];
    const events = [
      ...['few', 'manyAds', 'before', 'watchedLately', 'silent'].map((name) => brand(name)),
      brand('abroad', { country: 'CA' }),
      brand('hidden', { is_public: false }),
      ...began('few', 60, 71, 5),
      ...began('manyAds', 70, 90, 9),
      ...began('before', 50, 70, 90),
      ...began('watchedLately', 75, 85, 90),
      ...began('abroad', 60, 99, 2),
      ...began('hidden', 60, 80, 90),
      scan('silent', 60, 0),
    ];
    await given(events)
      .into(newAdvertisers)
      .shows(shown([{ days: 30 }, { days: 20 }, { days: 30, country: 'CA' }, { days: 1 }]), [
        [
          [idOf('manyAds'), 1, 9],
          [idOf('few'), 2, 5],
          [idOf('abroad'), 3, 2],
        ],
        [
          [idOf('watchedLately'), 1, 90],
          [idOf('manyAds'), 2, 9],
          [idOf('abroad'), 3, 2],
        ],
        [[idOf('abroad'), 1, 2]],
        [],
      ]);
  });
});
