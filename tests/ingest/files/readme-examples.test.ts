import { execFile } from 'node:child_process';
import { cp, mkdir, readFile as readText } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ExportFolder } from '../fixtures/export-files.ts';
import { webAd } from '../fixtures/export-shapes.ts';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
const CLI = join(PROJECT, 'services/ingest/cli.ts');
const MAPPING = 'services/ingest/mappings/competitor-page-scan.json';
const README = await readText(join(PROJECT, 'services/ingest/README.md'), 'utf8');
const MANUAL = await readText(join(PROJECT, 'services/ingest/FORMATS.md'), 'utf8');
const TIME_LIMIT_MS = 60_000;

const EXAMPLES = [
  ...new Set([...README.matchAll(/npm run ingest -- ([^`\n]+)/g)].map(([, line]) => line ?? '')),
];

const run = async (args: readonly string[], cwd: string): Promise<{ code: number; output: string }> => {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [CLI, ...args], { cwd });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
};

const openExampleFolder = async (): Promise<ExportFolder> => {
  const folder = await ExportFolder.open();
  const ads = JSON.stringify([webAd(1), webAd(2)]);
  for (const name of ['export.json.gz', 'shop-2026-05-01-0800.json', 'shop-2026-05-01T0800Z.json'])
    await folder.file(name, ads);
  const rows = [
    webAd(1, { scraped_at: '2026-05-01T08:00:00Z' }),
    webAd(2, { scraped_at: '2026-05-01T09:00:00Z' }),
  ];
  await folder.file('rows.jsonl', rows.map((row) => JSON.stringify(row)).join('\n'));
  await folder.file('domains.txt', 'one.example\ntwo.example\n');
  await folder.file(
    'brands.json',
    '{"brands": [{"group": "shop", "name": "Shop", "domain": "shop.example"}]}',
  );
  const csv = /```csv[^\n]*\n(facebook_page_id,[\s\S]*?)```/.exec(MANUAL)?.[1] ?? '';
  await folder.file('fb-ads-shop-2026-05-01-0800.csv', csv);
  await mkdir(join(folder.path, 'refused'));
  await mkdir(join(folder.path, dirname(MAPPING)), { recursive: true });
  await cp(join(PROJECT, MAPPING), join(folder.path, MAPPING));
  return folder;
};

const SCAN = 'scan of shop.example at';
const EFFECTS: { readonly [option: string]: string } = {
  '--help': 'Usage: ingest',
  '--utc-offset': `${SCAN} 2026-05-01T02:30:00.000Z: 2 ads`,
  '--countries': `${SCAN} 2026-05-01T08:00:00.000Z: 2 ads; 1 page (400000000000011 Lumen Socks); countries DE, FR`,
  '--complete': 'countries ALL; complete;',
  '--scans-by-row': '2 scans, 0 complete: it is one of 2 scans of the file',
  '--format': '2 observations traffic.estimate at 2026-05-01T08:00:00.000Z',
  '--mapping': `${SCAN} 2026-05-01T02:30:00.000Z: 1 ad`,
  '--refused-dir': `${SCAN} 2026-05-01T08:00:00.000Z`,
  '--dry-run': 'Dry run: nothing was recorded or written.',
  '--brand': `${SCAN} 2026-05-01T08:00:00.000Z: 2 ads`,
};

describe('the README', () => {
  test(
    'has an example of each option',
    async () => {
      const { output } = await run(['--help'], PROJECT);
      const options = [...output.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name]) => name ?? '');
      expect(options.length).toBeGreaterThan(8);
      for (const option of options) expect(EXAMPLES.join(' ')).toContain(option);
    },
    TIME_LIMIT_MS,
  );

  test.each(EXAMPLES)(
    'has an example that runs: %s',
    async (example) => {
      await using folder = await openExampleFolder();
      const args = example.split(' ');
      const { code, output } = await run(
        [...args, ...(args.includes('--dry-run') ? [] : ['--dry-run'])],
        folder.path,
      );
      expect({ code, output }).toMatchObject({ code: 0 });
      const shown = Object.entries(EFFECTS).find(([option]) => args.includes(option));
      expect(output).toContain(shown?.[1] ?? 'an effect of the example');
    },
    TIME_LIMIT_MS,
  );
});
