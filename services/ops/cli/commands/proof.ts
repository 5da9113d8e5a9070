import type { Command } from 'commander';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { type ProofHeader, ruleOf } from '#contracts/audit/proof.ts';
import { Refusal } from '#contracts/errors.ts';
import type { Explanation } from '#application/alerts/explain-delivery.ts';
import { isPage, pageFaults, readPage } from '#application/audit/ad-page.ts';
import { recompute, type Recomputed } from '#application/audit/recompute.ts';
import { publicKeyId, readPublicKey } from '#application/audit/signing-key.ts';
import { checkProof } from '#application/audit/verify-proof.ts';
import { fileLines } from '../../audit/file-lines.ts';
import { isJson, onOneLine } from '#platform/command-line.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { environmentWithLocalStack, readSettings, serverSettings } from '#platform/settings.ts';

/** Exit code for a whole bundle of which the signer, the statement, a stream or the time since the digest was not checked. */
const EXIT_UNCHECKED = 2;

const Settings = z.object({ DATABASE_URL: serverSettings.DATABASE_URL.optional() });

/** An empty line stands for one that is not UTF-8, and is a fault. */
const linesOf = async function* (file: string): AsyncGenerator<string> {
  for await (const line of fileLines(file, { bytes: 0, sha256: '' })) yield line?.text ?? '';
};

/** The lines of a bundle, also of one in a page. */
type Bundle = {
  readonly lines: () => AsyncIterable<string>;
  readonly isPage: boolean;
  readonly faults: readonly string[];
};

const openBundle = async (file: string): Promise<Bundle> => {
  for await (const line of linesOf(file)) {
    if (!isPage(line)) break;
    const page = await readFile(file, 'utf8');
    const read = readPage(page);
    const lines = (read?.bundle ?? '').trim().split('\n');
    return { lines: () => Readable.from(lines), isPage: true, faults: pageFaults(page) };
  }
  return { lines: () => linesOf(file), isPage: false, faults: [] };
};

const requireFile = async (file: string): Promise<void> => {
  try {
    for await (const _ of createReadStream(file, { end: 0 })) break;
  } catch (cause) {
    throw Object.assign(new Refusal('invalid_input', `Cannot read ${file}.`), { cause });
  }
};

/** `null` without a database. */
const recomputed = async (lines: Bundle['lines'], { statement }: ProofHeader): Promise<Recomputed | null> => {
  const { DATABASE_URL: databaseUrl } = readSettings(Settings, environmentWithLocalStack());
  if (databaseUrl === undefined) return null;
  const database = openPool(databaseUrl, 1);
  try {
    return await recompute(statement, lines, { databaseUrl, database });
  } finally {
    await database.end();
  }
};

const signerFaults = ({ digest }: ProofHeader, held: string | null): readonly string[] => {
  if (digest === null) return ['No digest of the log attests the events.'];
  if (held === null) return [];
  const id = publicKeyId(readPublicKey(held));
  return publicKeyId(readPublicKey(digest.public_key)) === id
    ? []
    : [`Digest ${digest.sequence} is signed with another key than ${id}.`];
};

const describe = ({ statement }: ProofHeader): string => {
  switch (statement.about) {
    case 'figure': {
      const { figure, brand_id, from, to, as_of, value } = statement;
      const window = from === null ? '' : ` from ${from} to ${to}`;
      return `${figure} of ${brand_id}${window}, as of ${as_of}: ${value}`;
    }
    case 'radar_item': {
      const { item, as_of } = statement;
      return `${item.type} of ad ${item.ad.id}, observed at ${item.observed_at}, as of ${as_of}: radar item ${item.id}`;
    }
    case 'ad':
      return `Page of ad ${statement.ad_id}, as of ${statement.as_of}`;
    case 'delivery':
      return `Delivery ${statement.delivery_id} of alert rule ${statement.alert_id}, queued at ${statement.as_of}`;
  }
};

/** Needs no service. A Postgres server, which may be empty, computes the statement again. */
const verify = async (file: string, options: { publicKey?: string }, command: Command): Promise<void> => {
  await requireFile(file);
  const held = options.publicKey === undefined ? null : await readFile(options.publicKey, 'utf8');
  const { lines, faults: ofPage, ...opened } = await openBundle(file);
  const { header, faults: found, isOpen, ...counts } = await checkProof(lines());
  const faults = [...found, ...ofPage];
  let again: Recomputed | null = null;
  if (header !== null) {
    faults.push(...signerFaults(header, held));
    if (header.statement.about === 'ad' && !opened.isPage)
      faults.push('The proof of an ad is its page: give the HTML file that `page_url` leads to.');
    if (ruleOf(header.statement) !== header.rule) faults.push('The rule is not that of this release.');
    if (found.length === 0) again = await recomputed(lines, header);
    faults.push(...(again?.faults ?? []));
  }
  const absent = again?.absent ?? [];
  if (faults.length > 0) process.exitCode = 1;
  else if (held === null || again === null || absent.length > 0 || counts.hidden > 0 || isOpen)
    process.exitCode = EXIT_UNCHECKED;
  const attestedUntil = header?.digest?.recorded_until ?? null;
  if (isJson(command)) {
    const statement = header?.statement ?? null;
    return console.log(
      JSON.stringify({
        statement,
        ...counts,
        recomputed: again?.result ?? null,
        absent,
        attested_until: attestedUntil,
        key_compared: held !== null,
        faults,
      }),
    );
  }
  if (header !== null) console.log(onOneLine(describe(header)));
  for (const fault of faults) console.log(onOneLine(fault));
  if (faults.length > 0) return console.error('The proof does not hold.');
  const { counted, leftOut, notAttested } = counts;
  console.log(
    `${counted} events count, ${leftOut} were recorded later. ${notAttested} are newer than digest ${header?.digest?.sequence}.`,
  );
  if (header?.statement.about === 'delivery')
    for (const { reason } of (again?.result ?? []) as Explanation['reasons']) console.log(onOneLine(reason));
  if (again !== null) console.log('It was computed again from the events, and is the same.');
  else
    console.error('It was NOT computed again: set DATABASE_URL to any Postgres server, also an empty one.');
  if (isOpen)
    console.error(
      `The digest does not attest all of it: events may have been left out that were recorded after ${attestedUntil}, or in a stream that it does not cover. Verify a proof with \`as_of=${attestedUntil}\`, or one that is read again after the next digest with this \`as_of\`.`,
    );
  for (const stream of absent)
    console.error(
      onOneLine(`No event of ${stream} is in the bundle, and no digest proves that there was none.`),
    );
  if (counts.hidden > 0)
    console.error(
      `${counts.hidden} events are in the page by their hashes only, and may tell more of the ad.`,
    );
  if (held === null)
    console.error(
      "Anyone can sign a digest with a key of their own. Add --public-key FILE with the operator's key.",
    );
};

export const registerProofCommands = (program: Command): void => {
  program
    .command('proof')
    .description('check proofs')
    .command('verify')
    .description(
      'check a bundle without the service: events, digest and statement; lists what was altered and exits 1, and exits 2 if something was not checked',
    )
    .argument('<file>', 'bundle of a proof (NDJSON), or page of an ad (HTML)')
    .option('--public-key <file>', "file with the operator's public key, to verify the signer")
    .action(verify);
};
