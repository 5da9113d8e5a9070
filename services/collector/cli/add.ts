import { type Command, Option } from 'commander';
import { Refusal } from '#contracts/errors.ts';
import { LibraryId } from '#contracts/values/primitives.ts';
import { isJson, onOneLine, printTable } from '#platform/command-line.ts';
import {
  type AddedBrand,
  type StoredProposal,
  addBrand,
  brandDomain,
  linkPage,
  listProposals,
} from '../add/add-brand.ts';
import { withAddContext } from '../add/add-context.ts';
import { withDatabase } from './with-database.ts';

const pageRows = (pages: readonly StoredProposal[]) =>
  pages.map(({ pageId, pageName, ads, state }) => ({
    page_id: pageId,
    page_name: pageName,
    ads_with_domain: ads,
    state,
  }));
const PAGE_COLUMNS = ['page_id', 'page_name', 'ads_with_domain', 'state'];

const printAdded = (command: Command, added: AddedBrand): void => {
  const { domain, name, sources, pages, calls, daysARound, notes } = added;
  if (isJson(command)) {
    const forecast = { calls_of_first_scan: calls, days_a_round: daysARound };
    return console.log(JSON.stringify({ domain, name, sources, pages: pageRows(pages), forecast, notes }));
  }
  console.log(onOneLine(`${domain}${name === null ? '' : ` (${name})`}`));
  printTable(
    command,
    ['source', 'outcome', 'detail'],
    sources.map((source) => ({ ...source })),
  );
  if (pages.length > 0) {
    console.log('');
    printTable(command, PAGE_COLUMNS, pageRows(pages));
  }
  if (calls !== null) {
    const round = daysARound === null ? '' : ` A round of all tracked brands takes ${daysARound} days.`;
    console.log(`\nThe first scan of its ads takes about ${calls} calls.${round}`);
  }
  for (const note of notes) console.log(`\n${onOneLine(note)}`);
};

const showProgress = (text: string): void => console.error(onOneLine(text));

/** Ctrl-C keeps committed work and releases the lease. */
const untilInterrupted = async (run: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  try {
    await run(ending.signal);
  } catch (error) {
    if (!ending.signal.aborted) throw error;
    console.error('Interrupted. What was read is kept. Repeat the command to go on.');
    process.exitCode = 1;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end);
  }
};

const linkAndPrint = (domain: string, pageId: string, command: Command): Promise<void> =>
  untilInterrupted((signal) =>
    withAddContext({ cadence: 'daily', name: null, progress: showProgress, signal }, async (context) =>
      printTable(command, PAGE_COLUMNS, pageRows(await linkPage(context, domain, pageId))),
    ),
  );

export const registerAddCommands = (program: Command): void => {
  program
    .command('add')
    .description(
      'read the site and shop of a brand now, find its pages at the library API, and make them targets',
    )
    .argument('<domain>', 'domain or address of the brand')
    .option('--name <name>', 'name of the brand; that of its site when absent')
    .addOption(
      new Option('--cadence <cadence>', 'how often it is read').choices(['daily', 'weekly']).default('daily'),
    )
    .action(
      async (text: string, options: { name?: string; cadence: 'daily' | 'weekly' }, command: Command) => {
        const domain = brandDomain(text);
        const choices = { cadence: options.cadence, name: options.name ?? null, progress: showProgress };
        await untilInterrupted(async (signal) =>
          printAdded(
            command,
            await withAddContext({ ...choices, signal }, (context) => addBrand(context, domain)),
          ),
        );
      },
    );
  program
    .command('link')
    .description('link a page to a brand, or list the pages that a search proposed for it')
    .argument('<domain>', 'domain or address of the brand')
    .argument('[page]', 'id of the page')
    .action(async (text: string, pageId: string | undefined, _options: object, command: Command) => {
      const domain = brandDomain(text);
      if (pageId !== undefined) {
        if (LibraryId.safeParse(pageId).success) return linkAndPrint(domain, pageId, command);
        throw new Refusal('invalid_input', `${pageId} is no id of a page. It has 5 to 20 digits.`);
      }
      await withDatabase(async (database) =>
        printTable(command, PAGE_COLUMNS, pageRows(await listProposals(database, domain))),
      );
    });
};
