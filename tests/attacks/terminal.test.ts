import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { expect } from 'vitest';
import { createLog } from '#platform/logger.ts';
import { escapeConsole, terminalLine } from '#platform/process/terminal-output.ts';
import { terminalReport } from '#services/ingest/files/progress.ts';
import { type HostedOutcome, openHostedCommands } from '../ops/fixtures/hosted-commands.ts';
import { attack, tries } from './attack.ts';

/** Characters that a terminal executes, stated again to share no fault of the code. */
const EXECUTED = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]|(?![\t\n])\p{Cc}/u;
const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\u001b[2J',
        '\u009b31m',
        '\u001b]0;owned\u0007',
        '\u202e',
        '\u2066',
        '\r',
        '\n',
        '\b\b',
        'a',
        '"',
      ),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

attack('text of third parties reaches terminals of ingest and ops escaped', () => {
  let texts = 0;
  const printed: string[] = [];
  const print = (...values: readonly unknown[]): void => void printed.push(values.join(' '));
  const target = { log: print, error: print };
  escapeConsole(target);
  const stream = {
    isTTY: false,
    write: (text: string) => printed.push(text),
  } as unknown as NodeJS.WriteStream;
  const report = terminalReport(stream);
  fc.assert(
    fc.property(hostileText, (text) => {
      printed.length = 0;
      target.log(JSON.stringify({ text }));
      expect(JSON.parse(printed[0] ?? '')).toEqual({ text });
      target.error(text);
      report.refused(text);
      report.progress(text, 1, 2);
      for (const line of printed) expect(line).not.toMatch(EXECUTED);
      expect(terminalLine(text)).not.toMatch(/[\n\t]/);
      texts += printed.length;
      report.finished({ file: '', records: 0, ads: 0, scans: 0, refused: 0 } as never);
    }),
    { numRuns: tries(200) },
  );
  return `${texts} texts, 0 executed`;
});

const HOSTILE = '\u001b[2J\u009b31m\u202e\u0007\r';
/** Words that the errors of a command repeat. */
const HOSTILE_WORDS: Readonly<Record<'ops' | 'collect' | 'ingest', readonly (readonly string[])[]>> = {
  ops: [
    [`--${HOSTILE}`],
    [HOSTILE],
    ['workspace', HOSTILE],
    ['workspace', 'create', `--${HOSTILE}`],
    ['workspace', 'create', '--name', 'a', '--plan', HOSTILE],
    ['plan', 'set', 'a', 'pro', HOSTILE],
    ['audit', 'list', 'a', '--limit', HOSTILE],
    ['audit', 'verify', HOSTILE],
    ['log', 'import', HOSTILE],
    ['projections', 'rebuild', HOSTILE, `--${HOSTILE}`],
  ],
  collect: [
    [`--${HOSTILE}`],
    [HOSTILE],
    ['add', `--${HOSTILE}`],
    ['add', HOSTILE],
    ['token', 'set', '--account', HOSTILE],
  ],
  ingest: [
    [`--${HOSTILE}`],
    ['--format', HOSTILE, 'a.json'],
    ['--scanned-at', HOSTILE, 'a.json'],
    ['--dry-run', '--mapping', HOSTILE, 'a.json'],
    ['--dry-run', HOSTILE],
  ],
};
const INGEST = join(import.meta.dirname, '../../services/ingest/cli.ts');

/** Runs files in a process of their own, because it reads its words when it is loaded. */
const ingest = (words: readonly string[]): Promise<HostedOutcome> =>
  promisify(execFile)(process.execPath, [INGEST, ...words]).then(
    (outcome) => ({ ...outcome, code: 0 }),
    (error: HostedOutcome) => error,
  );

attack('words and options of commands reach the terminal escaped', async () => {
  let texts = 0;
  const check = (words: readonly string[], { stdout, stderr, code }: HostedOutcome): void => {
    expect(code, JSON.stringify(words)).not.toBe(0);
    expect(stderr, JSON.stringify(words)).not.toBe('');
    expect(stdout + stderr, JSON.stringify(words)).not.toMatch(EXECUTED);
    texts += 1;
  };
  const runHosted = async (program: 'ops' | 'collect'): Promise<void> => {
    await using commands = openHostedCommands({ program });
    for (const words of HOSTILE_WORDS[program]) check(words, await commands.run(words, {}));
  };
  await Promise.all([
    runHosted('ops'),
    runHosted('collect'),
    ...HOSTILE_WORDS.ingest.map(async (words) => check(words, await ingest(words))),
  ]);
  return `${texts} errors, 0 executed`;
});

attack('tokens in addresses reach no log', () => {
  const lines: string[] = [];
  const log = createLog('attack', 'info', { write: (line: string) => void lines.push(line) });
  const token = 'aSecretToken0123456789';
  const key = `svc_live_${'a1B2c3'.repeat(6)}`;
  const addresses = [
    `/ops/log?token=${token}`,
    `/ops/log?type=a&access_token=${token}#x`,
    `https://me:${token}@store.example/x`,
    `https://${token}@store.example`,
    `postgres://me:${token}@db.example/ads`,
    `https://a.example/?X-Amz-Signature=${token}&a=b`,
    `/ops/${key}/x`,
    `/v1/me?key=${key}`,
  ];
  for (const url of addresses) {
    log.info({ url }, 'request');
    log.error(
      { err: new Error(`cannot reach ${url}: refused`, { cause: new TypeError(`Invalid URL ${url}`) }) },
      'failed',
    );
  }
  for (const line of lines) expect(line).not.toMatch(new RegExp(`${token}|${key}`));
  expect(lines[0]).toContain('/ops/log?token=[hidden]');
  return `${lines.length} lines, 0 tokens`;
});
