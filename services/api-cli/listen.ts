import { type Command, Option } from 'commander';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { readWebhook, type WebhookPayload, WebhookRefused } from '#contracts/client/client.ts';
import { TEST_WORLD } from '#contracts/values/test-world.ts';
import { isJson, onOneLine } from '#platform/command-line.ts';
import { replyOf, runWithSession, type Session } from './session.ts';

/** Name of the rules that exist while `listen` runs. */
const RULE_NAME = 'listen on this machine';
/** The most that a rule takes. */
const BRANDS_MAX = 500;
/** A payload of 100 items with long titles is far smaller. */
const BODY_MAX_BYTES = 1024 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;

const TRIGGERS = ['new_ads', 'stopped_ads', 'page_changes', 'new_partners', 'activity'] as const;

type Options = {
  readonly trigger: readonly (typeof TRIGGERS)[number][];
  readonly brand?: string[];
  readonly port: string;
  readonly to?: string;
  readonly rotateSecret?: true;
};

const trackedBrands = async ({ client }: Session, ws: string): Promise<string[]> => {
  const ids: string[] = [];
  const params = { path: { ws }, query: { limit: 100 } };
  for await (const { brand } of client.items('/v1/workspaces/{ws}/tracked-brands', { params })) {
    ids.push(brand.id);
    if (ids.length === BRANDS_MAX) break;
  }
  return ids;
};

const printAlert = (command: Command, payload: WebhookPayload): void => {
  if (isJson(command)) return console.log(JSON.stringify(payload));
  const { alert, kind, items, items_total, created_at } = payload;
  console.log(
    `${created_at}  ${kind}  ${alert.trigger}  ${items_total} ${items_total === 1 ? 'item' : 'items'}, signature verified`,
  );
  for (const { observed_at, title } of items) console.log(`  ${observed_at}  ${onOneLine(title)}`);
};

/** Receives alerts until `signal` aborts, through one rule for each trigger. Deletes the rules at its end. */
const listen = async (
  session: Session,
  options: Options,
  signal: AbortSignal,
  command: Command,
): Promise<string | null> => {
  const { client } = session;
  const ws = await session.workspaceId();
  const brandIds = options.brand ?? (await trackedBrands(session, ws));
  if (brandIds.length === 0)
    return 'The workspace tracks no brand. Track one first: trackBrand --brand-id ID';
  const params = { path: { ws } };
  // The public workspace has a public secret.
  let secret =
    session.webhookSecret ?? (ws === TEST_WORLD.workspace_id ? TEST_WORLD.webhook_secret : undefined);
  if (options.rotateSecret) {
    const issued = await client.POST('/v1/workspaces/{ws}/alerts/webhook-secret', { params, body: {} });
    secret = replyOf(issued).data.webhook_secret;
  }
  const receive = async (request: IncomingMessage): Promise<number> => {
    // A delivery that comes before the secret is known is sent again.
    if (secret === undefined) return 503;
    if (!(Number(request.headers['content-length']) <= BODY_MAX_BYTES)) return 413;
    try {
      const body = await buffer(request);
      printAlert(command, await readWebhook({ headers: request.headers, body }, secret));
      return 204;
    } catch (error) {
      console.error(
        `A request was refused: ${error instanceof WebhookRefused ? error.message : String(error)}`,
      );
      return 401;
    }
  };
  const server = createServer((request, response) => {
    void receive(request).then((status) => response.writeHead(status).end());
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  await using resources = new AsyncDisposableStack();
  server.listen(Number(options.port), '127.0.0.1');
  await once(server, 'listening');
  resources.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = options.to ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (const trigger of options.trigger) {
    const body = { name: RULE_NAME, trigger, brand_ids: brandIds, webhook_url: url };
    const { data } = replyOf(await client.POST('/v1/workspaces/{ws}/alerts', { params, body }));
    const path = { ws, alertId: data.id };
    console.error(`Rule ${data.id} fires on ${trigger}. A sample: trigger ${data.id}`);
    resources.defer(async () => {
      await client.DELETE('/v1/workspaces/{ws}/alerts/{alertId}', { params: { path }, body: {} });
    });
    secret ??= data.webhook_secret ?? undefined;
    if (secret === undefined)
      return 'The workspace has a signing secret already. Set WEBHOOK_SECRET to it, or issue another with --rotate-secret, which other receivers need then, too.';
  }
  console.error(`Listening at ${url}. Ctrl-C ends it.`);
  if (!signal.aborted) await once(signal, 'abort');
  return null;
};

export const registerListen = (program: Command): void => {
  const command = program
    .command('listen')
    .summary('print alerts of the workspace as they come')
    .description(
      'Receives alerts on this machine through rules that exist while it runs, checks their signatures and prints them. WEBHOOK_SECRET is the signing secret of the workspace; not needed when it has none yet.',
    )
    .addOption(new Option('--trigger <trigger...>', 'what fires').choices(TRIGGERS).default(['new_ads']))
    .option('--brand <id...>', 'tracked brands; all by default')
    .option('--port <port>', 'port on the loopback address', '0')
    .option('--to <url>', 'public https address that leads to the port; the local stack needs none')
    .option('--rotate-secret', 'issue a new signing secret, which other receivers need then, too');
  command.action((options: Options) => {
    const ending = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
    return runWithSession(command, (session) => listen(session, options, ending.signal, command));
  });
};
