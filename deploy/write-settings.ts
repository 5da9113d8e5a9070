import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { ALERT_RULES_MAX, TEST_SENDS_PER_MINUTE } from '#contracts/resources/workspace/alert.ts';
import { ACTIVE_KEYS_MAX } from '#contracts/resources/workspace/api-key.ts';
import {
  COLLECTION_DEPTH_MAX,
  COLLECTION_ITEMS_MAX,
  COLLECTIONS_MAX,
} from '#contracts/resources/workspace/collection.ts';
import { NOTES_MAX } from '#contracts/resources/workspace/note.ts';
import {
  REPORTS_KEPT_MAX,
  REPORTS_PER_DAY_MAX,
  REPORTS_QUEUED_MAX,
} from '#contracts/resources/workspace/report.ts';
import { SAVED_ITEMS_MAX } from '#contracts/resources/workspace/saved-item.ts';
import { PLANS } from '#contracts/values/access.ts';
import { CONNECTIONS_MAX } from '#domain/workspace/connection.ts';
import { BROWSERS_MAX } from '#domain/workspace/sign-in.ts';
import { secrecyOf } from '#platform/settings.ts';
import { AlertsSettings } from '#services/alerts/settings.ts';
import { ApiSettings } from '#services/api/settings.ts';
import { CollectorSettings } from '#services/collector/settings.ts';
import { DeliverySettings } from '#services/delivery/settings.ts';
import { IngestSettings } from '#services/ingest/settings.ts';
import { IntakeSettings } from '#services/intake/settings.ts';
import { McpSettings } from '#services/mcp/settings.ts';
import { MediaSettings } from '#services/media/settings.ts';
import { OpsSettings } from '#services/ops/settings.ts';
import { ProjectorSettings } from '#services/projector/settings.ts';
import { WorkerSettings } from '#services/worker/settings.ts';
import { EventStoreSettings } from './local/event-store/main.ts';
import { LocalSettings } from './local/stack/settings.ts';

/**
 * `npm run settings` writes `deploy/SETTINGS.md` from the settings schemas. With `--check` it fails when the file
 * is outdated.
 */

const FILE = join(import.meta.dirname, 'SETTINGS.md');

const PROCESSES: Readonly<Record<string, z.ZodObject>> = {
  api: ApiSettings,
  mcp: McpSettings,
  ingest: IngestSettings,
  intake: IntakeSettings,
  collector: CollectorSettings,
  media: MediaSettings,
  projector: ProjectorSettings,
  worker: WorkerSettings,
  alerts: AlertsSettings,
  delivery: DeliverySettings,
  ops: OpsSettings,
};

/**
 * Returns "required", the default, or nothing, for one setting in one process. The same setting may be required in
 * one process and optional in another.
 */
const describeDefault = (schema: z.ZodType): string => {
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
      const need = describeDefault(schema);
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
    '| setting | processes | default | secret | meaning |',
    '|---|---|---|---|---|',
    ...rowsOf(processes).map((row) => textOf(row, everywhere)),
  ].join('\n');
};

/** Caps of what one workspace can grow. Beyond each the reply is 409, or 402 for tracked brands. */
const WORKSPACE_CAPS: readonly (readonly [string, number | string])[] = [
  [
    'requests per minute: free plan, paid plans',
    `${PLANS.free.requestsPerMinute}, ${PLANS.pro.requestsPerMinute}`,
  ],
  [
    'tracked brands: free, pro, business, enterprise',
    Object.values(PLANS)
      .map(({ slots }) => slots)
      .join(', '),
  ],
  ['active API keys', ACTIVE_KEYS_MAX],
  ['alert rules', ALERT_RULES_MAX],
  ['test sends of alerts per minute', TEST_SENDS_PER_MINUTE],
  ['notes', NOTES_MAX],
  ['saved items', SAVED_ITEMS_MAX],
  ['collections', COLLECTIONS_MAX],
  ['levels of collections inside each other', COLLECTION_DEPTH_MAX],
  ['items of a collection', COLLECTION_ITEMS_MAX],
  ['reports queued or running', REPORTS_QUEUED_MAX],
  ['reports requested within 24 hours', REPORTS_PER_DAY_MAX],
  ['reports in all', REPORTS_KEPT_MAX],
  ['browsers in which a member is signed in', BROWSERS_MAX],
  ['apps that a member has connected', CONNECTIONS_MAX],
];

const capsTable = (): string =>
  [
    '| limit of a workspace | value |',
    '|---|---|',
    ...WORKSPACE_CAPS.map(([name, value]) => `| ${name} | ${value} |`),
  ].join('\n');

export const settingsReference = (): string => `# Settings

Environment variables. \`npm run settings\` writes this file from the schemas with which the processes read them, so
change a setting in its schema. An empty variable counts as not set. A process checks all settings before it does
anything, and reports every fault at once.

A process logs its settings when it starts. Settings marked *secret* are left out. URLs that *may hold a password* are
logged without user, password and any parameter that is not known to be harmless.

## Processes

${tableOf(PROCESSES)}

The OpenTelemetry packages also read the other variables of their specification, such as \`OTEL_EXPORTER_OTLP_HEADERS\`.

## Limits without a setting

${capsTable()}

Beyond the requests per minute the reply is 429, beyond the tracked brands 402, beyond any other limit 409 with the limit in
its message. [services/api](../services/api/README.md#bounded-work) has the limits of one API process: searches, requests in
progress, and reads. [OPERATIONS.md](OPERATIONS.md#waits-and-queues) lists the waits and queues of all processes.

## The local stack, \`npm start\`

${tableOf({ 'npm start': LocalSettings })}

## The local event store

${tableOf({ 'event store': EventStoreSettings })}
`;

if (import.meta.main) {
  const written = settingsReference();
  if (process.argv.includes('--check')) {
    if ((await readFile(FILE, 'utf8').catch(() => '')) !== written) {
      console.error('deploy/SETTINGS.md is outdated. Run `npm run settings`.');
      process.exitCode = 1;
    }
  } else await writeFile(FILE, written);
}
