import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { secrecyOf } from '#platform/settings.ts';
import { AlertsSettings } from '#services/alerts/settings.ts';
import { ApiSettings } from '#services/api/settings.ts';
import { DeliverySettings } from '#services/delivery/settings.ts';
import { IngestSettings } from '#services/ingest/settings.ts';
import { OpsSettings } from '#services/ops/settings.ts';
import { ProjectorSettings } from '#services/projector/settings.ts';
import { WorkerSettings } from '#services/worker/settings.ts';
import { EventStoreSettings } from './local/event-store/main.ts';
import { LocalSettings } from './local/stack/settings.ts';

/** `npm run settings` writes `deploy/SETTINGS.md` from the schemas; with `--check` it says whether it is current. */

const FILE = join(import.meta.dirname, 'SETTINGS.md');

const PROCESSES: Readonly<Record<string, z.ZodObject>> = {
  api: ApiSettings,
  ingest: IngestSettings,
  projector: ProjectorSettings,
  worker: WorkerSettings,
  alerts: AlertsSettings,
  delivery: DeliverySettings,
  ops: OpsSettings,
};

/** Of one setting in one process: the same setting may be demanded by one and left out by another. */
const needOf = (schema: z.ZodType): string => {
  const empty = schema.safeParse(undefined);
  if (!empty.success) return 'required';
  return empty.data === undefined ? '' : `\`${JSON.stringify(empty.data).replaceAll('"', '')}\``;
};

const SECRECY = { whole: 'secret', credentials: 'may hold a password' } as const;

type Row = {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly of: readonly string[];
  readonly need: string;
};

const rowsOf = (processes: Readonly<Record<string, z.ZodObject>>): readonly Row[] => {
  const rows = new Map<string, Row>();
  for (const [process, { shape }] of Object.entries(processes)) {
    for (const [name, one] of Object.entries(shape)) {
      const schema = one as z.ZodType;
      const need = needOf(schema);
      const key = `${name} ${need}`;
      const before = rows.get(key);
      rows.set(key, { name, schema, need, of: [...(before?.of ?? []), process] });
    }
  }
  return [...rows.values()];
};

const textOf = ({ name, schema, of, need }: Row, everywhere: number): string => {
  const secrecy = secrecyOf(schema);
  const description = schema.meta()?.description;
  if (description === undefined) throw new Error(`${name} has no description`);
  const processes = of.length === everywhere ? 'all' : of.join(', ');
  const cells = [`\`${name}\``, processes, need, secrecy === null ? '' : SECRECY[secrecy], description];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
};

const tableOf = (processes: Readonly<Record<string, z.ZodObject>>): string => {
  const everywhere = Object.keys(processes).length;
  return [
    '| setting | of | default | secret | meaning |',
    '|---|---|---|---|---|',
    ...rowsOf(processes).map((row) => textOf(row, everywhere)),
  ].join('\n');
};

export const settingsReference = (): string => `# Settings

Environment variables; written by \`npm run settings\` from the schemas that the processes read them with, so change it
there. An empty variable counts as not set. Each process reports every fault at once, before it does anything, and
says at its start which settings it runs with: nothing of those marked *secret*, and of URLs that *may hold a password*
no user, no password and no parameter that is not known to be harmless.

## Processes

${tableOf(PROCESSES)}

OpenTelemetry's packages read the other variables of their specification themselves, such as
\`OTEL_RESOURCE_ATTRIBUTES\`.

## The local stack, \`npm start\`

${tableOf({ 'npm start': LocalSettings })}

## The local event store

${tableOf({ 'event store': EventStoreSettings })}
`;

if (import.meta.main) {
  const written = settingsReference();
  if (process.argv.includes('--check')) {
    if ((await readFile(FILE, 'utf8').catch(() => '')) !== written) {
      console.error('deploy/SETTINGS.md is not current: run `npm run settings`.');
      process.exitCode = 1;
    }
  } else await writeFile(FILE, written);
}
