import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { loadMapping } from '#services/ingest/readers/formats/column-mapping.ts';
import { reading } from '../ingest/fixtures/export-files.ts';

/** Compares ad ids with an independent extraction. `AD_DATA_DIR` is outside, because the files may not be copied. */
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const { AD_DATA_DIR } = readSettings(z.object({ AD_DATA_DIR: z.string().default('../shared/data') }));
const folder = resolve(PROJECT, AD_DATA_DIR);
const absent = !existsSync(folder);
if (absent)
  console.warn(`tests of real exports are skipped: there is no folder ${folder}; name it with AD_DATA_DIR`);

const files = absent ? [] : globSync('**/*.{csv,json}.gz', { cwd: folder }).toSorted();
const textOf = (file: string): string => gunzipSync(readFileSync(join(folder, file))).toString('utf8');

/** Every spelling of the id member in these files. */
const idsInJson = (text: string): Set<string> =>
  new Set([...text.matchAll(/"(?:ad_archive_id|adArchiveI[dD])"\s*:\s*"?(\d+)/g)].map(([, id]) => id ?? ''));

/** Separators between two quotes do not count. */
const idsInCsv = (text: string): Set<string> => {
  const rows = text
    .replace(/^\uFEFF/, '')
    .split('"')
    .map((part, at) => (at % 2 === 0 ? part : part.replaceAll(/[,\r\n]/g, ' ')))
    .join('')
    .split(/\r?\n/)
    .filter((row) => row !== '')
    .map((row) => row.split(','));
  const column = rows[0]?.findIndex((name) => ['id', 'ad_id', 'ad_library_id'].includes(name)) ?? -1;
  return new Set(rows.slice(1).map((row) => row[column] ?? ''));
};

const isAdCsv = (text: string): boolean => /^[^\n]*(ad_library_id|ad_creative_bod)/.test(text);
const isAdFile = (file: string): boolean => {
  const text = textOf(file);
  return file.endsWith('.csv.gz') ? isAdCsv(text) : idsInJson(text).size > 0;
};
const adFiles = files.filter(isAdFile);
/** Other tests read these: `side-files.integration.test.ts`, `storefronts.integration.test.ts`. */
const SIDE_FILES = /^rank\/|^shopify\/.*(products|blackout)/;
const otherFiles = files.filter((file) => !adFiles.includes(file) && !SIDE_FILES.test(file));

const optionsFor = async (file: string): Promise<ReadOptions> => {
  if (!basename(file).startsWith('fb-ads-'))
    return { brand: 'someone.example', scannedAt: '2026-07-01T00:00:00.000Z' };
  const mapping = join(PROJECT, 'services/ingest/mappings/competitor-page-scan.json');
  const brands = join(folder, file, '../brands.json');
  return { mapping: await loadMapping(mapping, brands) };
};

describe.skipIf(absent)('real exports', () => {
  test.each(adFiles)('%s yields every ad once', async (file) => {
    const text = textOf(file);
    const expected = file.endsWith('.csv.gz') ? idsInCsv(text) : idsInJson(text);
    const { ads, ends, refused, observations } = await reading(join(folder, file), await optionsFor(file));
    expect(refused).toEqual([]);
    expect(ads.map(({ ad_id }) => ad_id).toSorted()).toEqual([...expected].toSorted());
    expect(ends).toHaveLength(1);
    expect(JSON.stringify(observations)).not.toMatch(
      /"(spend|impressions?|reach|currency|funding_entity)[^"]*":/,
    );
  });

  test.each(otherFiles)('%s has no ads and is refused in one line', async (file) => {
    const { observations, refused } = await reading(join(folder, file), {
      brand: 'someone.example',
      scannedAt: '2026-07-01T00:00:00.000Z',
    });
    expect(observations).toEqual([]);
    expect(refused).toHaveLength(1);
    expect(refused[0]?.what).toMatch(/unknown format|is empty/);
  });
});
