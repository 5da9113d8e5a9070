import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { type FileTotals, ingestFiles } from '#services/ingest/files/ingest-files.ts';
import type { Intake } from '#services/ingest/intake-types.ts';
import { totalsTable } from '#services/ingest/files/totals-table.ts';
import { adId, ExportFolder, OF_BRAND } from '../fixtures/export-files.ts';
import { webAd } from '../fixtures/export-shapes.ts';

const CLI = fileURLToPath(new URL('../../../services/ingest/cli.ts', import.meta.url));

const TOTALS = {
  seen: 2,
  active: 2,
  missing: 0,
  total: 2,
  baseline: 2,
  news: 1,
  late: 0,
  stopped: 3,
  returned: 0,
  revised: 1,
  destination_changed: 4,
  reworded: 0,
};

/** Intake that refuses what `refuses` says. */
class FakeIntake implements Intake {
  readonly submitted: Observation[] = [];
  readonly #refuses: (observation: Observation) => boolean;

  constructor(refuses: (observation: Observation) => boolean = () => false) {
    this.#refuses = refuses;
  }

  async submit(observation: Observation) {
    if (this.#refuses(observation))
      throw new Refusal('invalid_input', 'the scan lies in the future; set the clock');
    this.submitted.push(observation);
    return observation.type === 'ad_library.scan_end'
      ? { events: 7, totals: TOTALS }
      : { events: 0, totals: null };
  }
}

const ingest = async (files: readonly string[], refusedDirectory: string, intake: Intake | null) => {
  const refused: string[] = [];
  const totals = await ingestFiles(files, { ...OF_BRAND, refusedDirectory }, intake, {
    progress: () => undefined,
    refused: (line) => refused.push(line),
    finished: () => undefined,
  });
  return { refused, totals };
};

test('submits all observations and returns the totals', async () => {
  await using folder = await ExportFolder.open();
  const files = [
    await folder.file('one.json', JSON.stringify([webAd(1), webAd(2)])),
    await folder.file('two.json', `${JSON.stringify(webAd(3))}\n{"adArchiveID": 1,}\n`),
  ];
  const intake = new FakeIntake();
  const { refused, totals } = await ingest(files, folder.path, intake);
  expect(intake.submitted.map(({ type }) => type)).toEqual([
    'ad_library.scan',
    'ad_library.scan_end',
    'ad_library.scan',
    'ad_library.scan_end',
  ]);
  expect(refused).toEqual([
    expect.stringMatching(/two\.json:2: is not JSON: .*; fix the record and import it again$/),
  ]);
  expect(totals).toMatchObject([
    { records: 2, ads: 2, scans: 1, events: 7, refused: 0, refusedFile: null },
    {
      records: 2,
      ads: 1,
      scans: 1,
      events: 7,
      refused: 1,
      scanned: { baseline: 2, stopped: 3, destination_changed: 4 },
    },
  ]);
  expect(await readdir(folder.path)).toContain('two.refused.jsonl');
  const last = totalsTable(totals).split('\n').at(-1) ?? '';
  expect(last.trim().split(/\s{2,}/)).toEqual([
    '2 files',
    '4',
    '3',
    '2',
    '4',
    '2',
    '0',
    '6',
    '0',
    '2',
    '8',
    '14',
    '1',
  ]);
});

test('a scan with a refused part is not ended', async () => {
  await using folder = await ExportFolder.open();
  const path = await folder.file('a.json', JSON.stringify(Array.from({ length: 300 }, (_, at) => webAd(at))));
  const intake = new FakeIntake((one) => one.type === 'ad_library.scan' && one.chunk === 0);
  const { refused, totals } = await ingest([path], folder.path, intake);
  expect(intake.submitted).toEqual([]);
  expect(refused).toEqual([`${path}:1: ad_library.scan refused: the scan lies in the future; set the clock`]);
  expect(totals[0]?.refused).toBe(1);
});

test('an unreadable file is refused, and the other files are imported', async () => {
  await using folder = await ExportFolder.open();
  const path = await folder.file('a.json', JSON.stringify([webAd(1)]));
  const { refused, totals } = await ingest(
    [`${folder.path}/none.json`, folder.path, path],
    folder.path,
    null,
  );
  expect(refused).toEqual([
    `${folder.path}/none.json:1: cannot be read (ENOENT); check the path and the permissions`,
    `${folder.path}:1: cannot be read (EISDIR); check the path and the permissions`,
  ]);
  expect(totals.map(({ ads }: FileTotals) => ads)).toEqual([0, 0, 1]);
});

test('a server error stops the run', async () => {
  await using folder = await ExportFolder.open();
  const path = await folder.file('a.json', JSON.stringify([webAd(1)]));
  const intake: Intake = { submit: () => Promise.reject(new Error('connect ECONNREFUSED')) };
  await expect(ingest([path], folder.path, intake)).rejects.toThrow('ECONNREFUSED');
});

const run = async (args: readonly string[]) => {
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [CLI, ...args])) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
};

test('the command exits with 0, with 1 when a record was refused, and with 2 for wrong usage', async () => {
  await using folder = await ExportFolder.open();
  const good = await folder.file('good.json', JSON.stringify([webAd(1)]));
  const bad = await folder.file('bad.json', JSON.stringify([webAd(1), { ad_archive_id: `${adId(2)}x` }]));
  const options = [
    '--dry-run',
    '--brand',
    'lumen-socks.example',
    '--scanned-at',
    '2026-03-02T08:00:00Z',
    '--refused-dir',
    folder.path,
  ];
  const done = await run([good, ...options]);
  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/good\.json +1 +1 +1 /) });
  const refused = await run([bad, ...options]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`bad.json:1: the ad id "${adId(2)}x" is not an id of 5 to 20 digits`);
  expect(refused.stdout).toContain(`bad.json:1: ad ${adId(2)}x: the ad id`);
  for (const wrong of [
    [],
    [good, '--format', 'none'],
    [good, '--scanned-at', 'today'],
    [good, '--brands', good],
    [good, '--mapping', good],
  ]) {
    expect({ wrong, code: (await run(wrong)).code }).toEqual({ wrong, code: 2 });
  }
}, 60_000);
