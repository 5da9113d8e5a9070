import { readdir, readFile as readText } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import type { Observation } from '#contracts/observations/index.ts';
import {
  ImportStopped,
  ingestFiles,
  type IngestOptions,
  type Report,
} from '#services/ingest/files/ingest-files.ts';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { totalsText } from '#services/ingest/files/totals-table.ts';
import type { Intake } from '#services/ingest/intake-types.ts';
import { adId, ExportFolder, OF_BRAND } from '../fixtures/export-files.ts';
import { actorPageWithoutAds, webAd } from '../fixtures/export-shapes.ts';

const SILENT: Report = { progress: () => undefined, refused: () => undefined, finished: () => undefined };

/** Intake that refuses what `refuses` says. */
const intakeThat = (refuses: (observation: Observation) => boolean = () => false): Intake => ({
  async submit(observation) {
    if (refuses(observation as Observation))
      throw new Refusal('invalid_input', 'The part is unknown. Send it again.');
    return { events: 0, totals: null };
  },
});

const ingested = async (
  folder: ExportFolder,
  name: string,
  content: string,
  { intake, listed, ...options }: ReadOptions & { readonly intake: Intake | null; readonly listed?: boolean },
) => {
  const path = await folder.file(name, content);
  const before = await readdir(folder.path);
  const refusedDirectory = intake === null && !listed ? null : folder.path;
  const all: IngestOptions = { ...OF_BRAND, ...options, refusedDirectory };
  const [totals] = await ingestFiles([path], all, intake, SILENT);
  if (totals === undefined) throw new Error('no totals');
  const written = (await readdir(folder.path)).filter((file) => !before.includes(file));
  const text = totalsText([totals], intake === null).replaceAll(`${folder.path}/`, '');
  return { totals, text, written };
};

const BROKEN = (number: number): string => JSON.stringify(webAd(number, { start_date: 'soon' }));

describe('the totals', () => {
  test('name each ad that was not taken, by its id or else by the number of its record', async () => {
    await using folder = await ExportFolder.open();
    const content = `[${[JSON.stringify(webAd(1)), BROKEN(2), '{"ad_archive_id": 1,}', '{"page_id": "x"}'].join(',')}]`;
    const { totals, text } = await ingested(folder, 'a.json', content, { intake: intakeThat() });
    expect(totals).toMatchObject({ ads: 1, refused: 3, notTaken: { count: 3, path: null } });
    expect(text).toContain('a.json: 3 not taken:');
    expect(text).toContain(
      `  a.json:1: ad ${adId(2)}: start_date "soon" is not a date; write it as YYYY-MM-DD`,
    );
    expect(text).toMatch(/ {2}a\.json:1: record 3: is not JSON: /);
    expect(text).toMatch(/ {2}a\.json:1: record 4 has an unknown shape; /);
  });

  test('name products and sites of one line by their number', async () => {
    await using folder = await ExportFolder.open();
    const variants = [{ id: 70, price: '9' }];
    const products = [1, 2, 3].map((id) => ({ id, title: id === 3 ? '' : 'Boot', handle: 'boot', variants }));
    const shop = await ingested(folder, 'shop.json', JSON.stringify({ products }), { intake: intakeThat() });
    expect(shop.text).toContain('shop.json:1: record 3: is not a valid product: title');
  });

  test('show the first 20 of a long list with the number of the others, and a file has all', async () => {
    await using folder = await ExportFolder.open();
    const content = Array.from({ length: 50 }, (_, number) => BROKEN(number)).join('\n');
    const { totals, text, written } = await ingested(folder, 'a.json', content, { intake: intakeThat() });
    expect(text.split('\n').filter((line) => line.startsWith('  a.json:'))).toHaveLength(20);
    expect(text).toContain('… and 30 more; all are in a.not-taken.txt');
    expect(written.toSorted()).toEqual(['a.not-taken.txt', 'a.refused.jsonl']);
    const all = (await readText(totals.notTaken.path ?? '', 'utf8')).trimEnd().split('\n');
    expect(all).toHaveLength(50);
    expect(all[49]).toContain(`a.json:50: ad ${adId(49)}: start_date "soon" is not a date`);
  });

  test('name all ads of a scan with a refused part, including those of its earlier parts', async () => {
    await using folder = await ExportFolder.open();
    const content = JSON.stringify(Array.from({ length: 600 }, (_, number) => webAd(number)));
    const { totals, text } = await ingested(folder, 'a.json', content, {
      intake: intakeThat((one) => one.type === 'ad_library.scan' && one.chunk === 1),
    });
    expect(totals).toMatchObject({ ads: 0, scans: 0, refused: 1, notTaken: { count: 600 } });
    expect(text).toContain(
      `a.json: ad ${adId(0)}: ad_library.scan refused: The part is unknown. Send it again.`,
    );
    expect(text).toContain('… and 580 more; all are in a.not-taken.txt');
  });

  test('count and name the ads that were shortened, from exports and from observations', async () => {
    await using folder = await ExportFolder.open();
    const long = 'x'.repeat(20_001);
    const link_url = `https://lumen-socks.example/${'a'.repeat(9_000)}`;
    const ads = [webAd(1), webAd(2, {}, { body: { text: long }, title: long, link_url })];
    const line = `a.json:1: ad ${adId(2)}: 2 texts cut, 1 URL of more than 8192 characters left out`;
    const submitted: unknown[] = [];
    const recording: Intake = {
      async submit(observation) {
        submitted.push(observation);
        return { events: 0, totals: null };
      },
    };
    const first = await ingested(folder, 'a.json', JSON.stringify(ads), { intake: recording });
    expect(first.totals).toMatchObject({ ads: 2, refused: 0, shortened: { texts: 2, urls: 1, entries: 0 } });
    expect(first.text).toContain(`  ${line}`);

    const chunk = submitted[0] as { ads: object[] };
    const uncut = { ...chunk, ads: [chunk.ads[0], { ...chunk.ads[1], body: long, title: long, link_url }] };
    const again = await ingested(folder, 'observations.json', JSON.stringify(uncut), { intake: recording });
    expect(again.totals.shortened).toEqual(first.totals.shortened);
    expect(submitted.at(-1)).toEqual(chunk);
  });
});

test('an import that a server stops has the totals so far, and names what was not taken before', async () => {
  await using folder = await ExportFolder.open();
  const good = await folder.file('good.json', JSON.stringify([webAd(1)]));
  const bad = await folder.file('bad.json', [BROKEN(2), JSON.stringify(webAd(3))].join('\n'));
  let submitted = 0;
  const intake: Intake = {
    async submit() {
      submitted += 1;
      if (submitted > 2) throw new Error('connect ECONNREFUSED');
      return { events: 1, totals: null };
    },
  };
  const options = { ...OF_BRAND, refusedDirectory: folder.path };
  const stopped = await ingestFiles([good, bad, good], options, intake, SILENT).catch(
    (error: unknown) => error,
  );
  expect(stopped).toBeInstanceOf(ImportStopped);
  expect(stopped).toMatchObject({
    message: 'connect ECONNREFUSED',
    totals: [
      { file: good, ads: 1, scans: 1, events: 2 },
      { file: bad, ads: 0, refused: 1, refusedFile: `${folder.path}/bad.refused.jsonl` },
    ],
  });
});

describe('what is left out or unknown', () => {
  const product = (id: number, more: object) => ({
    id,
    title: 'Boot',
    handle: `boot-${id}`,
    variants: [{ id: 70, price: '9' }],
    ...more,
  });

  test('is counted by reason, and named', async () => {
    await using folder = await ExportFolder.open();
    const products = [product(1, {}), product(2, { status: 'draft' }), product(3, { status: 'archived' })];
    const shop = await ingested(folder, 'shop.json', JSON.stringify({ products }), {
      intake: intakeThat(),
      complete: true,
    });
    expect(shop.text).toContain(
      'shop.json: left out: 1 draft, 1 archived:\n  shop.json:1: product boot-2: draft\n',
    );
    expect(shop.totals).toMatchObject({ records: 4, refused: 0 });
    expect([...shop.totals.leftOut.reasons]).toEqual([
      ['draft', 1],
      ['archived', 1],
    ]);
  });

  test('is only counted when the line says nothing of use', async () => {
    await using folder = await ExportFolder.open();
    const lines = '1 - A\n2 - A > B\n3 - A > B > C > D\n';
    const { text, totals } = await ingested(folder, 'a.txt', lines, { intake: intakeThat() });
    expect(text).toContain('a.txt: left out: 1 deeper than 3 levels');
    expect(totals.leftOut).toMatchObject({ count: 0, shown: [] });
  });

  test.each([
    ['only drafts', { products: [product(1, { status: 'draft' })] }],
    ['no ad', { data: [], paging: {} }],
    [
      'no ad on a page that is not covered completely',
      { ...actorPageWithoutAds('400000000000033'), isResultComplete: false },
    ],
  ])('refuses a file of %s', async (_, content) => {
    await using folder = await ExportFolder.open();
    const { totals, text } = await ingested(folder, 'a.json', JSON.stringify(content), {
      intake: intakeThat(),
      complete: true,
    });
    expect(totals.refused).toBe(1);
    expect(text).toContain('a.json:1: has nothing to import');
  });

  test('accepts a page without ads that the file covers completely', async () => {
    await using folder = await ExportFolder.open();
    const content = JSON.stringify(actorPageWithoutAds('400000000000033'));
    const { totals } = await ingested(folder, 'a.json', content, { intake: intakeThat() });
    expect(totals).toMatchObject({ refused: 0, scans: 1 });
  });
});

describe('a dry run', () => {
  test('shows what would be recorded, and writes nothing', async () => {
    await using folder = await ExportFolder.open();
    const records = [webAd(1), webAd(2), webAd(3, { page_id: '400000000000022', page_name: 'Other' })];
    const content = [...records.map((ad) => JSON.stringify(ad)), BROKEN(4)].join('\n');
    const { totals, text, written } = await ingested(folder, 'a.json', content, {
      intake: null,
      countries: ['DE', 'FR'],
    });
    expect(written).toEqual([]);
    expect(totals).toMatchObject({ format: 'web-graphql', ads: 3, scans: 1, refused: 1, refusedFile: null });
    expect(text.split('\n').slice(0, 2)).toEqual([
      'a.json: web-graphql',
      '  scan of lumen-socks.example at 2026-03-02T08:00:00.000Z: 3 ads; ' +
        '2 pages (400000000000011 Lumen Socks, 400000000000022 Other); countries DE, FR; not complete; ' +
        'collector library-web',
    ]);
    expect(text).toContain(`a.json:4: ad ${adId(4)}: start_date "soon" is not a date`);
    expect(text.split('\n').at(-1)).toBe('Dry run: nothing was recorded or written.');
  });

  const refusals = (count: number): string =>
    Array.from({ length: count }, (_, number) => BROKEN(number)).join('\n');
  const shownIn = (text: string): number =>
    text.split('\n').filter((line) => line.startsWith('  a.json:')).length;

  test('writes no list of many refusals, but shows all', async () => {
    await using folder = await ExportFolder.open();
    const { text, written } = await ingested(folder, 'a.json', refusals(50), { intake: null });
    expect(written).toEqual([]);
    expect(shownIn(text)).toBe(50);
    expect(text).not.toContain('more');
  });

  test('shows the first 1,000 refusals, and says how to see the others', async () => {
    await using folder = await ExportFolder.open();
    const { text, written } = await ingested(folder, 'a.json', refusals(1_030), { intake: null });
    expect(written).toEqual([]);
    expect(shownIn(text)).toBe(1_000);
    expect(text).toContain('  … and 30 more; add --refused-dir FOLDER to write all to a file\n');
  });

  test('writes the list of many refusals to a folder that is named, and no refused records', async () => {
    await using folder = await ExportFolder.open();
    const options = { intake: null, listed: true };
    const { text, written, totals } = await ingested(folder, 'a.json', refusals(50), options);
    expect(written).toEqual(['a.not-taken.txt']);
    expect(text).toContain('  … and 30 more; all are in a.not-taken.txt\n');
    expect(text.split('\n').at(-1)).toBe('Dry run: nothing was recorded, and only these lists were written.');
    const all = (await readText(totals.notTaken.path ?? '', 'utf8')).trimEnd().split('\n');
    expect(all).toHaveLength(50);
  });

  test('shows other observations by type', async () => {
    await using folder = await ExportFolder.open();
    const ranks = await ingested(folder, 'ranks.csv', 'rank,domain\n1,one.example\n2,two.example\n', {
      intake: null,
    });
    expect(ranks.text).toContain(
      'ranks.csv: rank-list\n  2 observations traffic.estimate at 2026-03-02T08:00:00.000Z; one.example, two.example\n',
    );
    const products = [{ id: 7, title: 'Boot', handle: 'boot', variants: [{ id: 70, price: '9' }] }];
    const shop = await ingested(folder, 'shop.json', JSON.stringify({ products }), {
      intake: null,
      complete: true,
    });
    expect(shop.text).toContain(
      '1 observation storefront.scan at 2026-03-02T08:00:00.000Z; lumen-socks.example; 1 product',
    );
    expect(shop.text).toContain(
      'storefront.scan_end at 2026-03-02T08:00:00.000Z; lumen-socks.example; 1 of 1 complete',
    );
  });

  test('refuses times that a real run refuses', async () => {
    await using folder = await ExportFolder.open();
    for (const [scannedAt, reason] of [
      ['1999-03-02T08:00:00.000Z', 'before the year 2000'],
      ['2199-03-02T08:00:00.000Z', 'in the future'],
    ] as const) {
      const { totals, text } = await ingested(folder, 'a.json', JSON.stringify([webAd(1)]), {
        intake: null,
        scannedAt,
      });
      expect(totals).toMatchObject({ ads: 0, scans: 0, refused: 1 });
      expect(text).toContain(`a.json: ad ${adId(1)}: ad_library.scan refused:`);
      expect(text).toContain(reason);
    }
  });
});
