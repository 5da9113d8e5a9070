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
import { escapeCommandLine } from '#platform/process/terminal-output.ts';
import { ImportStopped, ingestFiles } from './files/ingest-files.ts';
import type { Intake } from './intake-types.ts';
import { FORMATS, type FormatName } from './readers/formats.ts';
import { loadMapping, MappingFault } from './readers/formats/column-mapping.ts';
import { brandDomainOf, timestampOf } from './readers/scan-key.ts';
import { terminalReport } from './files/progress.ts';
import { totalsText } from './files/totals-table.ts';

// Records are short-lived: V8's default young generation triples the memory of a run and makes it no faster.
setFlagsFromString('--max-semi-space-size=8');
setFlagsFromString('--semi-space-growth-factor=1');

const EXIT = { done: 0, refused: 1, usage: 2 } as const;

type CliOptions = {
  readonly format?: FormatName;
  readonly brand?: string;
  readonly scannedAt?: string;
  readonly utcOffset?: string;
  readonly countries?: readonly string[];
  readonly complete?: boolean;
  readonly scansByRow?: boolean;
  readonly mapping?: string;
  readonly brands?: string;
  readonly refusedDir?: string;
  readonly dryRun?: boolean;
};

const optionParser =
  <T>(parse: (text: string) => T | null, expected: string) =>
  (text: string): T => {
    const value = parse(text);
    if (value === null) throw new InvalidArgumentError(`Expected ${expected}.`);
    return value;
  };

const parseCountries = (text: string): readonly string[] | null => {
  const codes = text.split(',').map((code) => code.trim().toUpperCase());
  return codes.every((code) => /^([A-Z]{2}|ALL)$/.test(code)) ? codes : null;
};

const parseOffset = (text: string): string | null =>
  /^(Z|[+-](0\d|1[0-4]):[0-5]\d)$/.test(text) ? text : null;

const program = new Command('ingest')
  .description('import export files and record the changes they show')
  .argument('<file...>', 'files to import, plain or gzip')
  .addOption(
    new Option('--format <name>', 'format of the files; detected by content if omitted').choices(FORMATS),
  )
  .option(
    '--brand <domain>',
    'domain of the brand that the files are about',
    optionParser(brandDomainOf, 'a domain such as example.com'),
  )
  .option(
    '--scanned-at <time>',
    'time at which the content of the files was collected; overrides times in records and file names',
    optionParser(timestampOf, 'a date, time and zone such as 2026-01-31T08:00:00Z'),
  )
  .option(
    '--utc-offset <offset>',
    'offset from UTC of times without a zone in records and file names',
    optionParser(parseOffset, 'an offset such as +05:30 or Z'),
  )
  .option(
    '--countries <codes>',
    'countries that the scan covers; overrides the countries in the files',
    optionParser(parseCountries, 'codes such as IN,US or ALL'),
  )
  .option('--complete', 'declare that each file has all ads of its pages, or all products of its shop')
  .option(
    '--scans-by-row',
    'take each time of a row as a scan of its own, at most 1,000 a file; by default, times within six hours are one scan',
  )
  .option('--mapping <file>', 'mapping file for the columns of CSV or the members of JSON')
  .option('--brands <file>', 'brands file: maps groups in file names to brands; requires --mapping')
  .option(
    '--refused-dir <folder>',
    'folder for files of refused records and long lists (default: the current one; in a dry run none)',
  )
  .option(
    '--dry-run',
    'show what would be recorded, without servers; writes only long lists to --refused-dir',
  )
  .exitOverride();

const openConfiguredIntake = async (): Promise<Intake & AsyncDisposable> => {
  const { DATABASE_URL, EVENT_STORE_URL } = serverSettings;
  const settings = readSettings(z.object({ DATABASE_URL, EVENT_STORE_URL }), environmentWithLocalStack());
  // Loading this takes half of a short command, and dry runs and the help do without it.
  const { openIntake } = await import('./intake/observation-handler.ts');
  return openIntake({ databaseUrl: settings.DATABASE_URL, eventStoreUrl: settings.EVENT_STORE_URL });
};

const ingest = async (files: readonly string[], cli: CliOptions): Promise<number> => {
  const isDryRun = cli.dryRun === true;
  const refusedDirectory = cli.refusedDir ?? (isDryRun ? null : '.');
  const folder = refusedDirectory === null ? null : await stat(refusedDirectory).catch(() => null);
  if (refusedDirectory !== null && !folder?.isDirectory())
    throw new MappingFault(
      `--refused-dir ${refusedDirectory} is not a folder. Create it or name another one.`,
    );
  if (cli.brands !== undefined && cli.mapping === undefined)
    throw new MappingFault('--brands requires --mapping. Add --mapping FILE.');
  const mapping = cli.mapping === undefined ? undefined : await loadMapping(cli.mapping, cli.brands);
  await using intake = isDryRun ? null : await openConfiguredIntake();
  const report = terminalReport(process.stderr);
  try {
    const options = { ...cli, mapping, refusedDirectory };
    const totals = await ingestFiles(files, options, intake, report);
    report.stop();
    console.log(totalsText(totals, isDryRun));
    return totals.some(({ refused }) => refused > 0) ? EXIT.refused : EXIT.done;
  } catch (error) {
    report.stop();
    if (error instanceof ImportStopped) console.log(totalsText(error.totals, isDryRun));
    throw error;
  } finally {
    report.stop();
  }
};

escapeCommandLine(program);

try {
  program.parse();
  process.exitCode = await ingest(program.args, program.opts<CliOptions>());
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  } else if (error instanceof MappingFault || error instanceof SettingsError) {
    console.error(error.message);
    process.exitCode = EXIT.usage;
  } else {
    console.error(
      `ingest stopped: ${error instanceof Error ? error.message : String(error)}. Recorded observations are kept; import the files again to continue.`,
    );
    process.exitCode = EXIT.refused;
  }
}
