import { stat } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import {
  environmentWithLocalStack,
  readSettings,
  serverSettings,
  SettingsError,
} from '#platform/settings.ts';
import { ingestFiles } from './files/ingest-files.ts';
import type { Intake } from './intake-types.ts';
import { openIntake } from './intake/observation-handler.ts';
import { FORMATS, type FormatName } from './readers/formats.ts';
import { loadMapping, MappingFault } from './readers/formats/column-mapping.ts';
import { brandDomainOf, momentOf } from './readers/scan-key.ts';
import { terminalReport } from './files/progress.ts';
import { totalsTable } from './files/totals-table.ts';

/** `npm run ingest -- FILE…`: exports of the ad library become events. */

// Records die young: with the young generation V8 would give itself they pile up unswept, and the memory
// of a run triples without making it faster.
setFlagsFromString('--max-semi-space-size=8');
setFlagsFromString('--semi-space-growth-factor=1');

const EXIT = { done: 0, refused: 1, usage: 2 } as const;

type Given = {
  readonly format?: FormatName;
  readonly brand?: string;
  readonly scannedAt?: string;
  readonly countries?: readonly string[];
  readonly complete?: boolean;
  readonly mapping?: string;
  readonly brands?: string;
  readonly refusedDir: string;
  readonly dryRun?: boolean;
};

const valid =
  <T>(read: (text: string) => T | null, expected: string) =>
  (text: string): T => {
    const value = read(text);
    if (value === null) throw new InvalidArgumentError(`Expected ${expected}.`);
    return value;
  };

const countriesOf = (text: string): readonly string[] | null => {
  const codes = text.split(',').map((code) => code.trim().toUpperCase());
  return codes.every((code) => /^([A-Z]{2}|ALL)$/.test(code)) ? codes : null;
};

const program = new Command('ingest')
  .description('read exports of the ad library and record what changed')
  .argument('<file...>', 'files to read, gzip as it is')
  .addOption(
    new Option('--format <name>', 'the format of the files; told by their content when not given').choices(
      FORMATS,
    ),
  )
  .option(
    '--brand <domain>',
    'the brand whose ads these are',
    valid(brandDomainOf, 'a domain such as example.com'),
  )
  .option(
    '--scanned-at <time>',
    'when the library was read, or a list was fetched',
    valid(momentOf, 'a date, time and zone such as 2026-01-31T08:00:00Z'),
  )
  .option(
    '--countries <codes>',
    'countries the library was asked for, where the file does not say',
    valid(countriesOf, 'codes such as IN,US or ALL'),
  )
  .option('--complete', 'vouch that each file holds all ads of its pages, or all that a shop publishes')
  .option('--mapping <file>', 'what the columns of other CSV files hold')
  .option('--brands <file>', 'the brands behind the groups in file names')
  .option('--refused-dir <folder>', 'where files of refused records go', '.')
  .option('--dry-run', 'read and report, hand nothing in')
  .exitOverride();

const openChosenIntake = (): Promise<Intake & AsyncDisposable> => {
  const { DATABASE_URL, EVENT_STORE_URL } = serverSettings;
  const settings = readSettings(z.object({ DATABASE_URL, EVENT_STORE_URL }), environmentWithLocalStack());
  return openIntake({ databaseUrl: settings.DATABASE_URL, eventStoreUrl: settings.EVENT_STORE_URL });
};

const ingest = async (files: readonly string[], given: Given): Promise<number> => {
  const folder = await stat(given.refusedDir).catch(() => null);
  if (!folder?.isDirectory()) throw new MappingFault(`--refused-dir ${given.refusedDir} is not a folder`);
  if (given.brands !== undefined && given.mapping === undefined)
    throw new MappingFault('--brands needs --mapping');
  const mapping = given.mapping === undefined ? undefined : await loadMapping(given.mapping, given.brands);
  await using intake = given.dryRun === true ? null : await openChosenIntake();
  const report = terminalReport(process.stderr);
  try {
    const { format, brand, scannedAt, countries, complete, refusedDir } = given;
    const options = { format, brand, scannedAt, countries, complete, mapping, refusedDirectory: refusedDir };
    const totals = await ingestFiles(files, options, intake, report);
    report.stop();
    console.log(totalsTable(totals));
    for (const { refusedFile } of totals) {
      if (refusedFile !== null)
        console.log(`refused records: ${refusedFile} (mend it and feed it again with the same options)`);
    }
    return totals.some(({ refused }) => refused > 0) ? EXIT.refused : EXIT.done;
  } finally {
    report.stop();
  }
};

try {
  program.parse();
  process.exitCode = await ingest(program.args, program.opts<Given>());
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  } else if (error instanceof MappingFault || error instanceof SettingsError) {
    console.error(error.message);
    process.exitCode = EXIT.usage;
  } else {
    console.error(
      `ingest stopped: ${error instanceof Error ? error.message : String(error)}; what was handed in before is kept, and feeding the files again is harmless`,
    );
    process.exitCode = EXIT.refused;
  }
}
