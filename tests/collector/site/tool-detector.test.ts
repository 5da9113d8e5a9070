import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { silentLog } from '#platform/logger.ts';
import { createToolDetector, PAGE_MAX_LENGTH } from '#services/collector/site/tools/tool-detector.ts';

/** A page may take long on a busy machine. */
const GENEROUS_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'tool-rules-'));
mkdirSync(join(folder, 'technologies'));
writeFileSync(join(folder, 'categories.json'), JSON.stringify({ 1: { name: 'Shop' } }));
const rules = {
  Early: { cats: [1], headers: { server: 'early' } },
  // Nested repetitions over a long run of one letter take longer than any limit.
  Endless: { html: '(?:a{1,9}){1,99}b' },
  Late: { cats: [1], dom: '.late' },
};
writeFileSync(join(folder, 'technologies', 'a.json'), JSON.stringify(rules));
afterAll(() => rmSync(folder, { recursive: true }));

const page = (html: string) => ({
  url: 'https://shop.example/',
  html,
  headers: { server: 'early' },
  cookies: {},
});
const never = new AbortController().signal;

test('a pattern that does not end costs its page the later tools only, and the next page none', async () => {
  await using slow = createToolDetector({ folder, log: silentLog(), pageTimeMs: 1_500 });
  const detection = await slow.detect(page('a'.repeat(5_000)), never);
  expect(detection.isWhole).toBe(false);
  expect(detection.tools.map(({ name }) => name)).toEqual(['Early']);
  await using detector = createToolDetector({ folder, log: silentLog(), pageTimeMs: GENEROUS_MS });
  expect(await detector.detect(page('<b class="late">'), never)).toEqual({
    isWhole: true,
    tools: [
      { slug: 'early', name: 'Early', category: 'Shop', website_url: null },
      { slug: 'late', name: 'Late', category: 'Shop', website_url: null },
    ],
  });
}, 120_000);

test('a page over 2 MiB is cut, and one that is nested very deep is not whole at worst', async () => {
  await using detector = createToolDetector({ folder, log: silentLog(), pageTimeMs: GENEROUS_MS });
  const cut = await detector.detect(page(`${' '.repeat(PAGE_MAX_LENGTH)}<b class="late">`), never);
  expect(cut).toMatchObject({ isWhole: false, tools: [{ name: 'Early' }] });
  const deep = await detector.detect(page(`${'<div>'.repeat(10_000)}<b class="late">`), never);
  expect(deep.tools.map(({ name }) => name)).toContain('Early');
}, 240_000);

test('rules that cannot be read are an error with their folder', async () => {
  await using detector = createToolDetector({ folder: '/nonexistent', log: silentLog() });
  await expect(detector.detect(page(''), never)).rejects.toThrow(/nonexistent/);
}, 60_000);
