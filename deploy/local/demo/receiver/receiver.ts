import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type ReceivedWebhook, verifyWebhook, WebhookRefused } from '#contracts/client/webhooks.ts';
import { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { SECOND_MS } from '#contracts/values/time.ts';
import type { Clock } from '#platform/clock.ts';
import { z } from 'zod';
import { brandIdOf } from '#domain/ids.ts';
import { readJsonFile, writeJsonFile } from '#deploy/local/os/json-file.ts';
import { callApi, type DemoWorkspace } from '../workspace.ts';

/** `payload` is `null` when the request was not genuine. */
type Delivery = {
  readonly receivedAt: string;
  /** `null` when the signature is right. */
  readonly fault: string | null;
  readonly payload: AlertPayload | null;
};

const ITEMS_SHOWN = 4;
const REFRESH_SECONDS = 5;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #1d2430; background: #fff }
h1 { font-size: 1.4rem } li { margin: 0 0 1.2rem } ol { list-style: none; padding: 0 } ul { margin: .2rem 0 0 }
.muted { color: #57606a } .right { color: #116329 } .wrong { color: #a40e26 }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 } .muted { color: #9da7b3 }
  .right { color: #56d364 } .wrong { color: #ff8f87 } a { color: #79b8ff } }`;

const receiverPage = (deliveries: readonly Delivery[]): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${REFRESH_SECONDS}"><title>Webhooks of the demo</title><style>${STYLE}</style></head><body>
<h1>Webhooks of the demo</h1>
<p class="muted">Alerts of the demo workspace arrive here. The page reloads every ${REFRESH_SECONDS} seconds and forgets its list when
npm start ends. contracts/guide/webhooks.md describes the requests.</p>
${deliveries.length === 0 ? '<p>Nothing has arrived yet. The next scan brings something.</p>' : `<ol>${deliveries.map(deliveryOf).join('')}</ol>`}
</body></html>`;

const deliveryOf = ({ receivedAt, fault, payload }: Delivery): string => {
  const time = `<time datetime="${receivedAt}">${receivedAt.slice(0, 19).replace('T', ' ')} UTC</time>`;
  if (fault !== null) return `<li>${time}: <strong class="wrong">refused</strong> ${escaped(fault)}</li>`;
  const right = '<strong class="right">signature verified</strong>';
  if (payload === null) return `<li>${time}: ${right}, but the body has an unknown form.</li>`;
  const { alert, items, items_total, kind, id } = payload;
  const hidden = items_total - Math.min(items.length, ITEMS_SHOWN);
  return `<li>${time}: <strong>${escaped(alert.name)}</strong> (${escaped(kind)}), ${items_total} ${items_total === 1 ? 'item' : 'items'}, ${right}
<br><span class="muted">webhook-id ${escaped(id)}</span><ul>${items.slice(0, ITEMS_SHOWN).map(itemOf).join('')}${
    hidden > 0 ? `<li class="muted">and ${hidden} more</li>` : ''
  }</ul></li>`;
};

const itemOf = ({ brand, title, destination_url }: AlertPayload['items'][number]): string =>
  `<li><bdi>${escaped(brand.name)}</bdi>: <bdi>${escaped(title)}</bdi>${
    destination_url === null ? '' : ` <span class="muted"><bdi>${escaped(destination_url)}</bdi></span>`
  }</li>`;

export const WEBHOOK_PATH = '/webhook';
/** A payload of 100 items with long titles is far smaller. */
const BODY_MAX_BYTES = 1024 * 1024;
const REQUEST_TIMEOUT_MS = 10 * SECOND_MS;
const DELIVERIES_MAX = 100;

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
} as const;

export type Receiver = AsyncDisposable & { readonly url: string };

/** `null` for a genuine request. */
const faultOf = async (request: ReceivedWebhook, secret: string, nowMs: number): Promise<string | null> => {
  try {
    await verifyWebhook(request, secret, nowMs);
    return null;
  } catch (error) {
    if (error instanceof WebhookRefused) return error.message;
    throw error;
  }
};

/** Listens on the loopback address and keeps deliveries in memory only. */
export const startReceiver = async (port: number, clock: Clock, secret: string): Promise<Receiver> => {
  const deliveries: Delivery[] = [];

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request);
    if (body === null)
      return reply(response, 413, 'text/plain', `At most ${BODY_MAX_BYTES} bytes are taken.`);
    const nowMs = clock.now().getTime();
    const fault = await faultOf({ headers: request.headers, body }, secret, nowMs);
    const payload = fault === null ? payloadOf(body) : null;
    deliveries.unshift({ receivedAt: new Date(nowMs).toISOString(), fault, payload });
    deliveries.length = Math.min(deliveries.length, DELIVERIES_MAX);
    return fault === null
      ? reply(response, 204, 'text/plain', '')
      : reply(response, 401, 'text/plain', fault);
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '' } = request;
    // A page in the internet can resolve its own name to this address; its requests carry that name.
    if (!isLocalHost(request.headers.host))
      return reply(response, 421, 'text/plain', 'Use the printed address.');
    const [path] = url.split('?', 1);
    if (method === 'POST' && path === WEBHOOK_PATH) return receive(request, response);
    if (method === 'GET' && path === '/') return reply(response, 200, 'text/html', receiverPage(deliveries));
    if (method === 'GET' && path === '/deliveries') {
      return reply(response, 200, 'application/json', JSON.stringify({ deliveries }));
    }
    return reply(response, 404, 'text/plain', `Webhooks are posted to ${WEBHOOK_PATH}; the page is at /.`);
  };

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, resolve);
  });
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};

const isLocalHost = (host: string | undefined): boolean =>
  /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host ?? '');

/** `null` for a body over the limit. */
const readBody = async (request: IncomingMessage): Promise<Buffer | null> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    // The rest is read and dropped, so that the sender gets the reply.
    if (bytes <= BODY_MAX_BYTES) parts.push(part);
  }
  return bytes > BODY_MAX_BYTES ? null : Buffer.concat(parts);
};

/** `null` for a genuine body that this version cannot read. */
const payloadOf = (body: Buffer): AlertPayload | null => {
  try {
    return AlertPayload.safeParse(JSON.parse(body.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
};

const reply = (response: ServerResponse, status: number, type: string, text: string): void => {
  response.writeHead(status, { ...HEADERS, 'content-type': `${type}; charset=utf-8` });
  response.end(status === 204 ? undefined : text);
};

const Connection = z.object({
  workspace_id: z.string(),
  webhook_secret: z.string(),
  /** `null` until the rules post to it. */
  webhook_url: z.string().nullable(),
  alert_ids: z.array(z.string()),
});
type Connection = z.infer<typeof Connection>;

const RULES = [
  { name: 'Launches', trigger: 'new_ads' },
  { name: 'Activity', trigger: 'activity' },
] as const;

const Secret = z.object({ data: z.object({ webhook_secret: z.string() }) });
const Rule = z.object({ data: z.object({ id: z.string() }) });
const Rules = z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) });

/** Asks for a signing secret with the first call, which alone shows it, and stores it before a rule signs with it. */
export const readSigningSecret = async (
  apiUrl: string,
  workspace: DemoWorkspace,
  file: string,
): Promise<string> => {
  const { workspace_id } = workspace;
  const stored = await readJsonFile(file, Connection);
  if (stored?.workspace_id === workspace_id) return stored.webhook_secret;
  const shown = await callApi(apiUrl, workspace, 'POST', 'alerts/webhook-secret', {});
  const { webhook_secret } = Secret.parse(shown).data;
  const connection: Connection = { workspace_id, webhook_secret, webhook_url: null, alert_ids: [] };
  await writeJsonFile(file, connection);
  return webhook_secret;
};

/**
 * The first call creates the rules and sends a test; later calls only change the address, so a deleted rule stays
 * deleted. The next start repeats a killed call.
 */
export const connectReceiver = async (
  apiUrl: string,
  workspace: DemoWorkspace,
  domains: readonly string[],
  webhookUrl: string,
  webhook_secret: string,
  file: string,
): Promise<void> => {
  const { workspace_id } = workspace;
  const stored = await readJsonFile(file, Connection);
  const connection = stored?.workspace_id === workspace_id ? stored : null;
  if (connection?.webhook_url === webhookUrl) return;
  const isFirst = (connection?.webhook_url ?? null) === null;
  const alert_ids = isFirst
    ? await createRules(apiUrl, workspace, domains, webhookUrl)
    : await changeRules(apiUrl, workspace, connection?.alert_ids ?? [], webhookUrl);
  const connected: Connection = { workspace_id, webhook_secret, webhook_url: webhookUrl, alert_ids };
  await writeJsonFile(file, connected);
  const [first] = alert_ids;
  if (isFirst && first !== undefined) await callApi(apiUrl, workspace, 'POST', `alerts/${first}/test`, {});
};

const createRules = async (
  apiUrl: string,
  workspace: DemoWorkspace,
  domains: readonly string[],
  webhook_url: string,
): Promise<string[]> => {
  const existing = Rules.parse(await callApi(apiUrl, workspace, 'GET', 'alerts?limit=100'));
  const ids: string[] = [];
  for (const { name, trigger } of RULES) {
    const found = existing.data.find((rule) => rule.name === name);
    const body = { name, trigger, email: true, webhook_url, brand_ids: domains.map(brandIdOf) };
    const { data } = Rule.parse(
      found === undefined
        ? await callApi(apiUrl, workspace, 'POST', 'alerts', body)
        : await callApi(apiUrl, workspace, 'PATCH', `alerts/${found.id}`, { webhook_url }),
    );
    ids.push(data.id);
  }
  return ids;
};

const changeRules = async (
  apiUrl: string,
  workspace: DemoWorkspace,
  alertIds: readonly string[],
  webhook_url: string,
): Promise<string[]> => {
  const existing = Rules.parse(await callApi(apiUrl, workspace, 'GET', 'alerts?limit=100'));
  const ids = existing.data.map(({ id }) => id).filter((id) => alertIds.includes(id));
  for (const id of ids) await callApi(apiUrl, workspace, 'PATCH', `alerts/${id}`, { webhook_url });
  return ids;
};
