import { describe, expect, test } from 'vitest';
import { ingestFiles } from '#services/ingest/files/ingest-files.ts';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { loadMapping } from '#services/ingest/readers/formats/column-mapping.ts';
import { totalsText } from '#services/ingest/files/totals-table.ts';
import { adId, ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';
import {
  actorAd,
  actorPageWithoutAds,
  answerOf2024,
  apiPage,
  connection,
  webAd,
} from '../fixtures/export-shapes.ts';

const scansOf = async (content: object | string, options: ReadOptions = OF_BRAND) => {
  await using folder = await ExportFolder.open();
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const path = await folder.file(options.mapping?.mapping.syntax === 'csv' ? 'a.csv' : 'a.json', text);
  const { ends, ads, refused } = await reading(path, options);
  const silent = { progress: () => undefined, refused: () => undefined, finished: () => undefined };
  const totals = await ingestFiles([path], { ...options, refusedDirectory: null }, null, silent);
  return {
    times: ends.map(({ scanned_at }) => scanned_at),
    complete: ends.map(({ coverage }) => coverage.complete),
    said: /^ {2}(\d+ scans?, \d+ complete.*)$/m.exec(totalsText(totals, true))?.[1] ?? '',
    countries: ends.map(({ coverage }) => coverage.countries),
    ads: ads.length,
    refused,
  };
};

const BRAND: ReadOptions = { brand: 'lumen-socks.example' };
const at = (day: number, hour: number, second = 0): string =>
  `2026-05-0${day}T${String(hour).padStart(2, '0')}:00:${String(second).padStart(2, '0')}.000Z`;

describe('rows with times of their own', () => {
  const rows = (times: readonly string[]): object =>
    times.map((scraped_at, number) => webAd(number, { scraped_at }));

  test('are one scan at the newest time when they lie within six hours', async () => {
    const scans = await scansOf(rows([at(1, 2, 1), at(1, 8, 1), at(1, 5)]), { ...BRAND, complete: true });
    expect(scans).toMatchObject({ times: [at(1, 8, 1)], complete: [true], ads: 3 });
    expect(scans.said).toBe('1 scan, 1 complete: by --complete');
  });

  test('are one scan when each of 1,500 rows has its own second', async () => {
    const times = Array.from({ length: 1_500 }, (_, number) =>
      new Date(Date.parse(at(1, 8)) + number * 1_000).toISOString(),
    );
    const scans = await scansOf(rows(times), { ...BRAND, complete: true });
    expect(scans).toMatchObject({ times: [times.at(-1)], complete: [true], ads: 1_500, refused: [] });
  });

  test('are a scan for each time of day when they lie farther apart, none of which is complete', async () => {
    const times = [at(1, 8, 1), at(3, 8), at(1, 8, 2), at(3, 9), at(2, 8)];
    const scans = await scansOf(rows(times), { ...BRAND, complete: true });
    expect(scans).toMatchObject({
      times: [at(1, 8, 2), at(3, 9), at(2, 8)],
      complete: [false, false, false],
    });
    expect(scans.said).toBe('3 scans, 0 complete: it is one of 3 scans of the file');
  });

  test('keep the versions of an ad apart by scan, and together within one', async () => {
    const versions = [1, 2, 3, 4].map((number) =>
      webAd(1, { scraped_at: at(number > 2 ? 2 : 1, 8, number) }, { body: { text: `Text ${number}` } }),
    );
    expect(await scansOf(versions, BRAND)).toMatchObject({ times: [at(1, 8, 2), at(2, 8, 4)], ads: 2 });
  });

  test('are overruled by --scanned-at', async () => {
    const { scannedAt = '' } = OF_BRAND;
    const scans = await scansOf(rows([at(1, 8), at(3, 8)]), { ...OF_BRAND, complete: true });
    expect(scans).toMatchObject({ times: [scannedAt], complete: [true] });
  });

  test('are scans of their own by option, up to 1,000 and never complete', async () => {
    const byRow = { ...BRAND, complete: true, scansByRow: true };
    expect(await scansOf(rows([at(1, 8, 1), at(1, 8, 2)]), byRow)).toMatchObject({
      times: [at(1, 8, 1), at(1, 8, 2)],
      complete: [false, false],
    });
    const many = Array.from({ length: 1_002 }, (_, number) =>
      new Date(Date.parse(at(1, 8)) + number * 1_000).toISOString(),
    );
    const { refused } = await scansOf(rows(many), byRow);
    expect(refused).toHaveLength(2);
    expect(refused[0]?.what).toContain('limit of 1000 scans');
  });

  test('are scans by brand, and slices of the file as well', async () => {
    await using folder = await ExportFolder.open();
    const mapping = {
      name: 'own',
      columns: { ad_id: ['id'], brand_domain: ['brand'], scanned_at: ['seen'], countries: ['in'] },
      variants: [{ collector: 'own-1', has_columns: [] }],
      complete: true,
    };
    const own = async (more: object = {}): Promise<ReadOptions> => ({
      mapping: await loadMapping(await folder.file('m.json', JSON.stringify({ ...mapping, ...more }))),
    });
    const csv = (...lines: readonly string[]): string => `id,brand,seen,in\n${lines.join('\n')}\n`;
    const two = await scansOf(
      csv(`${adId(1)},a.example,${at(1, 8)},DE`, `${adId(2)},b.example,${at(1, 9)},DE`),
      await own(),
    );
    expect(two).toMatchObject({ times: [at(1, 8), at(1, 9)], complete: [false, false] });
    const countries = csv(`${adId(1)},a.example,${at(1, 8)},DE`, `${adId(2)},a.example,${at(1, 8)},FR`);
    expect((await scansOf(countries, await own())).complete).toEqual([false, false]);
    const one = csv(`${adId(1)},a.example,${at(1, 8)},DE`, `${adId(2)},a.example,${at(1, 9)},DE`);
    expect(await scansOf(one, await own())).toMatchObject({
      complete: [true],
      said: '1 scan, 1 complete: by the mapping own',
    });
    expect((await scansOf(one, await own({ scans_by_row: true }))).complete).toEqual([false, false]);
  });
});

const archive = (paging: object | null, more: object = {}, numbers: readonly number[] = [1, 2]): object => ({
  ...apiPage(numbers, false),
  ...(paging === null ? { paging: undefined } : { paging }),
  ...more,
});
const of2024 = (more: string): string =>
  answerOf2024(`"page_id": "400000000000011", ${more}`, [`"${adId(1)}"`, `"${adId(2)}"`]);
const library = (query: string): string =>
  `https://www.facebook.com/ads/library/?active_status=active&ad_type=all&${query}`;
const results = (more: object = {}, ads: readonly (readonly object[])[] = [[webAd(1)]]): object => ({
  ...connection(ads, false),
  ...more,
});
const actor = (more: object, numbers: readonly number[] = [1, 2]): object =>
  numbers.map((number) => actorAd(number, more));

describe('a file that claims to be complete', () => {
  test.each<[string, object | string, string]>([
    ['totalCount', actor({}), 'totalCount'],
    [
      'totalCount of a page that an address names',
      actor({ inputUrl: library('country=ALL&view_all_page_id=400000000000011') }),
      'totalCount',
    ],
    ['isResultComplete', actorPageWithoutAds('400000000000033'), 'isResultComplete'],
    ['no further page', archive({}), 'paging'],
    ['a last page after one with a link', [apiPage([1, 2], true), apiPage([3], false)], 'paging'],
    ['an empty last page', [apiPage([1, 2], true), { data: [] }], 'paging'],
    [
      'pages with numbers',
      [archive({ next: 'x', page: 0 }), archive({ page: 1, previous: 'x' }, {}, [3])],
      'paging',
    ],
    [
      'a link to itself and a message without a fault',
      archive({}, { links: [{ rel: 'self', href: 'x' }], message: 'OK, no errors', warnings: [] }),
      'paging',
    ],
    [
      'several pages that a link names',
      [
        archive({ next: 'https://graph.facebook.com/v20.0/ads_archive?search_page_ids=[1,2]' }),
        archive(
          {},
          { data: [(apiPage([3], false, { page_id: '400000000000022' }) as { data: object[] }).data[0]] },
        ),
      ],
      'paging',
    ],
    ['is_result_complete', of2024(''), 'is_result_complete'],
    ['has_next_page', results(), 'has_next_page'],
    [
      'has_next_page, with parameters that limit nothing',
      results({
        search_parameters: {
          page_id: '400000000000011',
          country: 'ALL',
          active_status: 'active',
          media_type: 'all',
          q: '',
        },
        variables: { startDate: { min: null, max: null } },
        status: 'SUCCEEDED',
        error: null,
        errors: [],
      }),
      'has_next_page',
    ],
  ])('by %s is believed when nothing speaks against it', async (_, content, by) => {
    expect(await scansOf(content)).toMatchObject({
      complete: [true],
      said: `1 scan, 1 complete: by ${by} of the file`,
    });
  });

  const elsewhere = (apiPage([3], false, { page_id: '400000000000022' }) as { data: object[] }).data;
  test.each<[string, object | string]>([
    ['an ad is missing in the count', actor({}, [1])],
    ['an ad is too many for the count', actor({}, [1, 2, 3])],
    ['a repeated ad makes the count up', actor({}, [1, 1])],
    ['the count has several values', [actorAd(1, { totalCount: 2 }), actorAd(2, { totalCount: 1 })]],
    [
      'another page makes the count up',
      [
        actorAd(1, { totalCount: 3 }),
        actorAd(2, { inputUrl: 'x', totalCount: 1 }),
        actorAd(3, { inputUrl: 'x', totalCount: 1 }),
      ],
    ],
    ['a row has no count', [...(actor({}) as object[]), actorAd(3, { inputUrl: 'x', totalCount: null })]],
    ['the counted ads are of several pages', [actorAd(1), actorAd(2, { pageID: '400000000000022' })]],
    ['a search for words was counted', actor({ inputUrl: library('q=socks&search_type=keyword_unordered') })],
    ['a search for videos was counted', actor({ inputUrl: library('media_type=video&view_all_page_id=1') })],
    [
      'a search for ended ads was counted',
      actor({ inputUrl: 'https://www.facebook.com/ads/library/?active_status=inactive' }),
    ],
    ['one ad was looked up', actor({ inputUrl: library('id=7100000000000014') })],
    ['all ads have ended', actor({ isActive: false })],
    ['a page without ads counts some', { ...actorPageWithoutAds('400000000000033'), totalCount: 5 }],
    [
      'a page without ads tells of an error',
      { ...actorPageWithoutAds('400000000000033'), errorDescription: 'blocked' },
    ],
    ['paging.after leads on', archive({ after: 'x' })],
    ['paging.cursors.after leads on', archive({ cursors: { after: 'x' } })],
    ['paging.nextPageToken leads on', archive({ nextPageToken: 'x' })],
    ['has_more is true', archive({ has_more: true })],
    ['page 1 of 3', archive({ page: 1, total_pages: 3 })],
    ['page 1/3', archive({}, { page: '1/3' })],
    ['page 1 and 3 pages', archive({}, { page: 1, pages: 3 })],
    ['has_next is true', archive({}, { has_next: true })],
    ['hasMore is true beside the list', archive({}, { pager: { hasMore: true } })],
    ['nextPageToken is beside the list', archive({}, { nextPageToken: 'x' })],
    ['@odata.nextLink leads on', archive({}, { '@odata.nextLink': 'https://x.example/2' })],
    ['next_max_id leads on', archive({}, { result_info: { next_max_id: 'x' } })],
    ['the last page is denied', archive({}, { isLastPage: false })],
    ['a link has the relation next', archive({}, { links: [{ rel: 'next', href: 'https://x.example/2' }] })],
    ['a link header names a next page', archive({}, { link: '<https://x.example/2>; rel="next"' })],
    ['a warning is beside the ads', archive({}, { warning: 'old version' })],
    ['warnings are in the metadata', archive({}, { meta: { warnings: ['slow'] } })],
    ['a message tells of a limit', archive({}, { message: 'Rate limited, try again later' })],
    ['a status tells of a limit', archive({}, { status: 'rate_limited' })],
    ['an error is in the row of an ad', [actorAd(1, { error: 'blocked' }), actorAd(2)]],
    ['a row says that there are more ads', [actorAd(1), actorAd(2, { hasMore: true })]],
    ['a row has a warning', [actorAd(1), actorAd(2, { warnings: ['partial'] })]],
    ['the paging is absent', archive(null)],
    ['the first page is missing', archive({ previous: 'https://x.example' })],
    ['the first page is missing by its cursor', archive({ cursors: { before: 'x' } })],
    ['an offset says that the first page is missing', archive({}, { meta: { offset: 50 } })],
    ['an error is beside the ads', archive({}, { error: { message: 'limit reached' } })],
    ['a status tells of an error', archive({}, { response: { status: 429 } })],
    ['a success is denied', archive({}, { success: false })],
    ['the end is denied in words', archive({}, { finished: 'false' })],
    ['the run was aborted', archive({}, { status: 'ABORTED' })],
    ['the run had no time left', archive({}, { status: 'TIMED-OUT' })],
    ['the run goes on', archive({}, { status: 'RUNNING' })],
    ['the request names a first day', archive({}, { filters: { startDate: '2026-04-01' } })],
    ['the request names days', results({ variables: { startDate: { min: '2026-04-01', max: null } } })],
    ['a total with separators is larger', archive({}, { total: '5,000' })],
    [
      'an earlier search of the list was cut, by its parameters',
      [
        archive({ next: 'x' }, { request: { search_page_ids: '[1]' } }),
        archive({}, { request: { search_page_ids: '[2]' } }, [3]),
      ],
    ],
    [
      'an earlier search of the list was cut, by the number of the page',
      [archive({ next: 'x', page: 1 }), archive({ page: 1 }, {}, [3])],
    ],
    [
      'an earlier search of the list was cut, as the last page is a first one',
      [archive({ next: 'x', previous: null }), archive({ previous: null }, {}, [3])],
    ],
    [
      'an earlier search of the list was cut, by the state of its ads',
      [connection([[webAd(1)]], true), connection([[webAd(2, { is_active: false })]], false)],
    ],
    [
      'another list of the file has a next page',
      { active: archive({ next: 'x' }), ended: archive({}, {}, [3]) },
    ],
    [
      'another search of the file has a next page',
      {
        active: connection([[webAd(1)]], true),
        ended: { more: connection([[webAd(2)]], false) },
      },
    ],
    ['a limit has cut the list', archive({}, { request: { query: { limit: '2' } } })],
    ['a total is larger', archive({}, { search_information: { total_results: 40 } })],
    ['the request names words', archive({}, { request: { query: { search_terms: 'socks' } } })],
    ['the request names a country', archive({}, { params: { ad_reached_countries: ['DE'] } })],
    ['the request names a kind of ads', archive({}, { ad_type: 'POLITICAL_AND_ISSUE_ADS' })],
    ['the request names a status', archive({}, { filters: { ad_active_status: 'INACTIVE' } })],
    [
      'a link names words',
      [
        archive({ next: 'https://graph.facebook.com/v20.0/ads_archive?search_terms=socks' }),
        archive({}, {}, [3]),
      ],
    ],
    [
      'the ads are of several pages',
      archive({}, { data: [...(apiPage([1], false) as { data: object[] }).data, ...elsewhere] }),
    ],
    ['a record is refused', archive({}, { data: [...elsewhere, { id: 'x' }] })],
    ['has_next_page is beside a cursor of another envelope', results({ cursor: 'x' })],
    ['has_next_page is beside an error of a part', results({ errors: [{ message: 'partial' }] })],
    ['has_next_page is of a saved search for words', results({ url: library('q=socks') })],
    ['has_next_page is of one country', results({ url: library('country=DE&view_all_page_id=1') })],
    [
      'has_next_page is beside a larger count',
      {
        data: {
          ad_library_main: {
            search_results_connection: {
              count: 9,
              edges: [{ node: { collated_results: [webAd(1)] } }],
              page_info: { has_next_page: false },
            },
          },
        },
      },
    ],
    [
      'has_next_page is beside the sign of a former page',
      {
        edges: [{ node: { collated_results: [webAd(1)] } }],
        page_info: { has_next_page: false, has_previous_page: true },
      },
    ],
    ['is_result_complete is beside a cursor', of2024('"forward_cursor": "x", "is_result_complete": true, ')],
    ['is_result_complete is beside words', of2024('"query": "socks", ')],
    [
      'is_result_complete is beside a larger number',
      answerOf2024('"page_id": "400000000000011", ', [`"${adId(1)}"`]),
    ],
    [
      'is_result_complete is of another page',
      answerOf2024('"page_id": "400000000000022", ', [`"${adId(1)}"`, `"${adId(2)}"`]),
    ],
  ])('is not believed when %s', async (_, content) => {
    const { complete, said } = await scansOf(content);
    expect(complete).toEqual(complete.map(() => false));
    expect(said).toMatch(/^1 scan, 0 complete: .{8}/);
  });

  test('is believed for the country that its address names, and for no other', async () => {
    const content = actor({ inputUrl: library('country=DE&view_all_page_id=400000000000011') });
    expect(await scansOf(content)).toMatchObject({ complete: [true], countries: [['DE']] });
  });

  test('is complete by --complete when it is only not believed, but not when it says that ads are missing', async () => {
    const declared = { ...OF_BRAND, complete: true };
    const after = await scansOf(archive({ after: 'x' }), declared);
    expect(after.said).toBe('1 scan, 1 complete: by --complete');
    for (const content of [archive({ next: 'x' }), actor({}, [1]), archive({}, { truncated: true })])
      expect((await scansOf(content, declared)).complete).toEqual([false]);
  });

  test('says why it is not believed, without the value', async () => {
    expect((await scansOf(archive({ after: 'secret' }))).said).toBe(
      '1 scan, 0 complete: paging of the file is not believed: paging.after may lead to a next page',
    );
    expect((await scansOf([webAd(1)])).said).toBe('1 scan, 0 complete: nothing says so');
  });
});

test('a saved page is not complete when its address names a filter', async () => {
  const saved = async (query: string) => {
    const data = JSON.stringify({ result: results() });
    const comment = `<!-- saved from url=(0123)${library(query)} -->`;
    const html = `<!DOCTYPE html>\n${comment}\n<html><script type="application/json">${data}</script></html>`;
    return (await scansOf(html)).complete;
  };
  expect(await saved('country=ALL&q=&view_all_page_id=400000000000011')).toEqual([true]);
  for (const query of ['country=DE&view_all_page_id=400000000000011', 'country=ALL&q=socks'])
    expect(await saved(query)).toEqual([false]);
});

test('a file of a mapping is not complete when its envelope says that ads are missing', async () => {
  await using folder = await ExportFolder.open();
  const mapping = {
    name: 'own',
    records: 'ads',
    fields: { ad_id: ['id'], body: ['text'] },
    collector: 'own-1',
    complete: true,
  };
  const options = {
    ...OF_BRAND,
    mapping: await loadMapping(await folder.file('m.json', JSON.stringify(mapping))),
  };
  const complete = async (more: object) =>
    (await scansOf({ ads: [{ id: adId(1), text: 'Warm' }], ...more }, options)).complete;
  expect(await complete({ total: 1, next: null })).toEqual([true]);
  for (const more of [{ total: 2 }, { next: 'x' }, { meta: { has_more: true } }, { error: 'x' }])
    expect(await complete(more)).toEqual([false]);
});

describe('a scan of a shop or a site that is declared complete', () => {
  const observed = async (content: object, options: ReadOptions = { complete: true }) => {
    await using folder = await ExportFolder.open();
    const path = await folder.file('a.json', JSON.stringify(content));
    return (await reading(path, options)).observations;
  };
  const ofShop = async (...pages: readonly object[]) =>
    (await observed(pages, { complete: true, ...BRAND })).flatMap((one) =>
      one.type === 'storefront.scan_end' ? [one.complete] : [],
    );
  const page = (id: number, more: object): object => ({
    products: [{ id, title: 'Boot', handle: 'boot', variants: [{ id: 70, price: '9.00' }] }],
    ...more,
  });

  test('is not complete when its pages are of several times, or name a next one', async () => {
    expect(await ofShop(page(1, { scraped_at: at(1, 8) }), page(2, { scraped_at: at(1, 9) }))).toEqual([
      true,
    ]);
    expect(await ofShop(page(1, { scraped_at: at(1, 8) }), page(2, { scraped_at: at(2, 8) }))).toEqual([
      false,
    ]);
    expect(await ofShop(page(1, { scraped_at: at(1, 8), next: 'x' }))).toEqual([false]);
    expect(await ofShop(page(1, { scraped_at: at(1, 8), total: 9 }))).toEqual([false]);
  });

  test('has all records of the site within six hours, and is not complete when others are later', async () => {
    const site = (name: string, tool: string, scanned_at: string): object => ({
      url: `https://${name}.example/`,
      technologies: [{ name: tool }],
      scanned_at,
    });
    const first = [site('a', 'One', at(1, 8)), site('b', 'One', at(1, 8)), site('a', 'Two', at(1, 9))];
    expect(await observed(first)).toMatchObject([
      {
        domain: 'a.example',
        observed_at: at(1, 9),
        complete: true,
        tools: [{ name: 'One' }, { name: 'Two' }],
      },
      { domain: 'b.example', complete: true },
    ]);
    expect(await observed([...first, site('a', 'Three', at(2, 9))])).toMatchObject([
      { domain: 'a.example', complete: false },
      { domain: 'a.example', complete: false, tools: [{ name: 'Three' }] },
      { domain: 'b.example', complete: true },
    ]);
  });
});

test('the claims of rows in a wrapper are believed unless the wrapper says otherwise', async () => {
  const wrapped = async (more: object) =>
    (await scansOf({ items: [actorAd(1), actorAd(2)], ...more })).complete;
  expect(await wrapped({ total: 2, next: null })).toEqual([true]);
  for (const more of [{ total: 3 }, { next: 'x' }, { cursor: 'x' }, { errors: ['x'] }, { limit: 2 }])
    expect(await wrapped(more)).toEqual([false]);
});
