import { Command } from 'commander';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, vi } from 'vitest';
import { canonicalJson } from '#contracts/audit/canonical.ts';
import { chainHash, GENESIS_HASH, type HistoryEntry, toHistoryRecord } from '#contracts/audit/entry.ts';
import { createSigningKey, readSigningKey } from '#application/audit/signing-key.ts';
import { writeExport } from '#services/ops/audit/write-export.ts';
import { registerAuditCommands } from '#services/ops/cli/commands/audit.ts';
import { recorded } from '../dsl/projections.ts';
import { attack } from './attack.ts';

const WORKSPACE_ID = 'ws_1';
const newKey = () => readSigningKey(createSigningKey().audit_signing_key);
const operator = newKey();

const exportTo = async (directory: string, text: string, signingKey: typeof operator): Promise<void> => {
  const [event] = recorded([
    { stream: `note-${WORKSPACE_ID}+n1`, event: { type: 'NoteWritten', data: { text } } },
  ]);
  if (!event) throw new Error('no event recorded');
  const record = toHistoryRecord(event);
  const entry: HistoryEntry = {
    sequence: 1,
    ...record,
    hash: chainHash(GENESIS_HASH, 1, canonicalJson(record)),
  };
  await writeExport({
    workspaceId: WORKSPACE_ID,
    format: 'csv',
    directory,
    entries: (async function* () {
      yield entry;
    })(),
    people: null,
    signingKey,
    readNames: async () => new Map(),
    exportedAt: new Date(0),
  });
};

afterEach(() => vi.restoreAllMocks());

const verify = async (...words: readonly string[]): Promise<{ code: unknown; output: string }> => {
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  vi.spyOn(console, 'log').mockImplementation(print);
  vi.spyOn(console, 'error').mockImplementation(print);
  const program = new Command('ops').option('--json');
  registerAuditCommands(program);
  const before = process.exitCode;
  process.exitCode = undefined;
  try {
    await program.parseAsync(['audit', 'verify', ...words], { from: 'user' });
    const code: unknown = process.exitCode;
    return { code: code ?? 0, output: lines.join('\n') };
  } finally {
    process.exitCode = before;
  }
};

attack('an audit export that was written again and signed with another key is not accepted', async () => {
  const root = await mkdtemp(join(tmpdir(), 'audit-attack-'));
  try {
    const [genuine, forged] = [join(root, 'genuine'), join(root, 'forged')];
    await exportTo(genuine, 'as it was', operator);
    await exportTo(forged, 'changed', newKey());
    const keyFile = join(root, 'operator.pem');
    await writeFile(keyFile, operator.publicKey.export({ type: 'spki', format: 'pem' }));
    const unsigned = await verify(forged);
    expect(unsigned.code).toBe(2);
    expect(unsigned.output).toContain('chain whole, signature NOT checked');
    expect(unsigned.output).not.toContain('complete and unchanged');
    expect((await verify(genuine)).code).toBe(2);
    expect((await verify(forged, '--unsigned')).code).toBe(0);
    expect((await verify(forged, '--public-key', keyFile)).code).toBe(1);
    expect((await verify(forged, '--unsigned', '--public-key', keyFile)).code).toBe(1);
    expect(await verify(genuine, '--public-key', keyFile)).toMatchObject({
      code: 0,
      output: expect.stringContaining('complete and unchanged') as string,
    });
    return 'exit 2 without a key, 1 with the operator’s key';
  } finally {
    await rm(root, { recursive: true });
  }
});
