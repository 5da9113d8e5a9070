import type { FastifyInstance } from 'fastify';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import type { EndpointChannel } from '#contracts/values/alerts.ts';
import { type AlertRuleFact, alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { systemClock } from '#platform/clock.ts';
import { type AlertChannels, openAlertChannels } from '#operations/dependencies/alert-channels.ts';
import { METADATA } from '#tests/delivery/new-delivery.ts';
import { on } from '#tests/dsl/api.ts';
import type { CorpusBrand } from './corpus.ts';
import type { ApiStack, Key } from './stack.ts';
import { trackingThrough } from './tracking.ts';

/** How tests work with alert rules through an API server. */

export type Rule = {
  readonly id: string;
  readonly name: string;
  readonly brand_ids: readonly string[];
  readonly email: boolean;
  readonly webhook_url: string | null;
  readonly chat: { readonly host: string } | null;
  readonly enabled: boolean;
  readonly sends_on: readonly string[];
  readonly suspended: readonly { readonly channel: string }[];
  readonly created_at: string;
  readonly updated_at: string;
  readonly webhook_secret: string | null;
};

export const alertsOf = (key: Key): string => `/v1/workspaces/${key.workspaceId}/alerts`;
export const deliveriesOf = (key: Key): string => `/v1/workspaces/${key.workspaceId}/alert-deliveries`;

export const HOOK = 'https://hooks.shop.example/in';

/** A rule on brands, with whatever a test makes of it. */
export const ruleOn = (brands: readonly CorpusBrand[], more: object = {}) => ({
  name: 'Launches',
  trigger: 'new_ads',
  brand_ids: brands.map(({ id }) => id),
  email: true,
  ...more,
});

export const alertsThrough = (app: FastifyInstance) => ({
  create: (key: Key, body: unknown, headers: Record<string, string> = {}) =>
    on(app).post(alertsOf(key), { key, body, headers }),
  created: async (key: Key, body: object): Promise<Rule> => {
    const { status, data, error } = await on(app).post(alertsOf(key), { key, body });
    if (status !== 201) throw new Error(JSON.stringify(error));
    return data;
  },
  change: (key: Key, id: string, body: unknown) => on(app).patch(`${alertsOf(key)}/${id}`, { key, body }),
  delete: (key: Key, id: string, body: unknown = {}) =>
    on(app).delete(`${alertsOf(key)}/${id}`, { key, body }),
  test: (key: Key, id: string, body: unknown = {}, headers: Record<string, string> = {}) =>
    on(app).post(`${alertsOf(key)}/${id}/test`, { key, body, headers }),
  issueSecret: (key: Key, body: unknown = {}, headers: Record<string, string> = {}) =>
    on(app).post(`${alertsOf(key)}/webhook-secret`, { key, body, headers }),
  deliveries: (key: Key, query = '') => on(app).get(`${deliveriesOf(key)}${query}`, { key }),
  track: async (key: Key, brands: readonly CorpusBrand[]): Promise<void> => {
    for (const { id } of brands) await trackingThrough(app).track(key, id);
  },
});

export const MAIL_DIR = join(tmpdir(), `test-mail-${process.pid}`);

/** Ways out that lead to receivers on this machine too. */
export const openLoopbackChannels = (): AlertChannels =>
  openAlertChannels(
    { allowLoopback: true },
    { MAIL_DIR, MAIL_FROM: 'Tests <tests@ads.example>' },
    systemClock,
  );

export type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** A receiver on this machine: what it got, and what it answers, by path. */
export type Receiver = AsyncDisposable & {
  readonly url: string;
  readonly received: readonly Received[];
};

/** `/status/503` answers 503; every other path answers 200. */
export const openReceiver = async (): Promise<Receiver> => {
  const received: Received[] = [];
  const server: Server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      received.push({ path, headers: request.headers, body: Buffer.concat(chunks).toString('utf8') });
      reply.statusCode = Number(/^\/status\/(\d+)/.exec(path)?.[1] ?? 200);
      reply.end('ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** The examples of verification that the README shows, as they stand there. */
const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
const exampleIn = (language: string, beginning: string): string => {
  const start = README.indexOf(`\`\`\`${language}\n${beginning}`);
  if (start < 0) throw new Error(`the README has no example that begins with ${beginning}`);
  const from = README.indexOf('\n', start) + 1;
  return README.slice(from, README.indexOf('```', from));
};
const SHELL = exampleIn('sh', '# verify.sh');
const TYPESCRIPT = `${exampleIn('ts', 'import { createHmac')}
const { TIMESTAMP, SIGNATURE, BODY, SECRET } = process.env;
const headers = new Headers({ 'x-service-timestamp': TIMESTAMP, 'x-service-signature': SIGNATURE });
process.exitCode = isGenuine(headers, BODY, SECRET) ? 0 : 1;`;

const isGenuine = ({ headers, body }: Received, secret: string): readonly boolean[] => {
  const TIMESTAMP = String(headers['x-service-timestamp']);
  const SIGNATURE = String(headers['x-service-signature']);
  const env = { PATH: '/usr/bin:/bin', TIMESTAMP, SIGNATURE, BODY: body, SECRET: secret };
  const run = (command: string, args: readonly string[]): boolean =>
    spawnSync(command, args, { env, input: body }).status === 0;
  return [
    run('sh', ['-c', SHELL, 'verify.sh', TIMESTAMP, SIGNATURE]),
    run(process.execPath, ['--input-type=module-typescript', '--eval', TYPESCRIPT]),
  ];
};

/** By the README's examples, and by a library that knows nothing of us. */
export const verifySignatures = (request: Received, secret: string): void => {
  const { headers, body } = request;
  expect(isGenuine(request, secret)).toEqual([true, true]);
  expect(isGenuine({ ...request, body: `${body} ` }, secret)).toEqual([false, false]);
  expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body));
  expect(headers['webhook-id']).toBe(AlertPayload.parse(JSON.parse(body)).id);
};

export const FAILING = {
  failing_since: '2026-11-10T08:00:00.000Z',
  suspended_at: '2026-11-15T08:00:00.000Z',
};

/** As `delivery` does with an endpoint that failed for five days; answers once the rule is shown so. */
export const suspendChannel = async (
  stack: ApiStack,
  { workspaceId: workspace_id }: Key,
  alert_id: string,
  channel: EndpointChannel,
): Promise<void> => {
  const stream = alertRuleStream(workspace_id, alert_id);
  const data = { workspace_id, alert_id, channel, ...FAILING };
  const fact: AlertRuleFact = { type: 'AlertChannelSuspended', data };
  const last = await stack.eventStore.last(stream);
  const { position } = await stack.eventStore.append(
    stream,
    last?.revision ?? -1n,
    [fact],
    METADATA,
    randomUUID(),
  );
  await stack.projected(position);
};

/** As when the process died between recording and answering. */
export const loseAnswer = async (stack: ApiStack, idempotencyKey: string): Promise<void> => {
  const sql = `update access.idempotency set status = null, answer = null, taken_at = '-infinity' where key = $1`;
  await stack.pool.query(sql, [idempotencyKey]);
};
