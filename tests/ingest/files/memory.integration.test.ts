import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { constants, createGzip } from 'node:zlib';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';
import { adId, ExportFolder } from '../fixtures/export-files.ts';
import { webAd } from '../fixtures/export-shapes.ts';

const CLI = fileURLToPath(new URL('../../../services/ingest/cli.ts', import.meta.url));
/** Size in MiB; 100 is the long form. */
const { IMPORT_MEMORY_MIB } = readSettings(
  z.object({ IMPORT_MEMORY_MIB: z.coerce.number().int().min(1).default(50) }),
);
const LONG_MIB = 100;
/** Limit above the peak of 206 MiB, and below a reader that held the whole file. */
const PEAK_MAX_MIB = IMPORT_MEMORY_MIB < LONG_MIB ? 260 : 300;
const TIMEOUT_MS = 240_000;

/** Module that prints `VmHWM`: `maxRSS` would count the parent's peak before `exec`. */
const PRINTS_PEAK = `data:text/javascript,${encodeURIComponent(`
  import { existsSync, readFileSync } from 'node:fs';
  const own = '/proc/self/status';
  const peakKib = () => existsSync(own)
    ? /VmHWM:\\s*(\\d+)/.exec(readFileSync(own, 'utf8'))[1]
    : process.resourceUsage().maxRSS;
  process.on('exit', () => console.error('peak_kib=' + peakKib()));
`)}`;

/** Long copy: with short texts, a file of this size would have many more records to check. */
const TEXT_CHARACTERS = 4_800;
/** Length of the random text: many times the window of gzip (32 KiB), which would find repetitions. */
const POOL_CHARACTERS = 2 ** 21;

/** Texts that neither repeat nor compress well. The seed is fixed. */
const texts = function* (): Generator<string> {
  let state = 0x2545f491;
  const next = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
  let pool = '';
  while (pool.length < POOL_CHARACTERS) pool += next().toString(36);
  for (let number = 0; ; number += 1) {
    const from = next() % (POOL_CHARACTERS - TEXT_CHARACTERS);
    yield `${number} ${pool.slice(from, from + TEXT_CHARACTERS)}`;
  }
};

const CSV_HEADER = 'id,page_id,page_name,ad_delivery_start_time,ad_creative_body\n';
const SHAPES = {
  'a list in JSON': {
    name: 'large.json.gz',
    before: '[',
    record: (number: number, text: string) =>
      `${number === 0 ? '' : ','}${JSON.stringify(webAd(number, {}, { body: { text } }))}`,
    after: ']',
  },
  'CSV, with rows of an ad far apart': {
    name: 'large.csv.gz',
    before: CSV_HEADER,
    record: (number: number, text: string) =>
      `${adId(number % 10 === 9 && number > 500 ? number - 500 : number)},4000000000${String(number % 90).padStart(4, '0')},Page,2026-01-01,"${text}"\n`,
    after: '',
  },
} as const;

test.each(Object.entries(SHAPES))(
  `a file of ${IMPORT_MEMORY_MIB} MiB or more is read within ${PEAK_MAX_MIB} MiB: %s`,
  async (_, { name, before, record, after }) => {
    await using folder = await ExportFolder.open();
    const path = join(folder.path, name);
    const gzip = createGzip({ level: 1, strategy: constants.Z_HUFFMAN_ONLY });
    const written = once(gzip.pipe(createWriteStream(path)), 'finish');
    gzip.write(before);
    let [bytes, records] = [0, 0];
    for (const text of texts()) {
      const line = record(records, text);
      records += 1;
      bytes += line.length;
      if (!gzip.write(line)) await once(gzip, 'drain');
      if (bytes >= IMPORT_MEMORY_MIB * 2 ** 20) break;
    }
    gzip.end(after);
    await written;

    const args = ['--import', PRINTS_PEAK, CLI, path, '--dry-run', '--refused-dir', folder.path];
    const options = ['--brand', 'lumen-socks.example', '--scanned-at', '2026-03-02T08:00:00Z'];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [...args, ...options]);
    expect(stdout).toMatch(new RegExp(`large\\S+ +${records} `));
    const peakMib = Number(/peak_kib=(\d+)/.exec(stderr)?.[1]) / 1024;
    expect(peakMib).toBeGreaterThan(0);
    expect(peakMib).toBeLessThan(PEAK_MAX_MIB);
    console.log(
      `${records} records of ${Math.round(bytes / 2 ** 20)} MiB: at most ${Math.round(peakMib)} MiB`,
    );
  },
  TIMEOUT_MS,
);
