import { hash, randomUUID } from 'node:crypto';
import { mediaKeyOf } from '#contracts/values/media/stored-media.ts';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { openBucketStore } from '#platform/object-store/s3-object-store.ts';
import { addPerson } from '#services/ops/workspaces.ts';
import { picture } from '#tests/media/media-stack.ts';
import { recordCreative } from '#tests/operations/fixtures/creative-events.ts';
import { VAULT_KEY } from '#tests/operations/fixtures/stack.ts';
import { DONE_MS, type Reply, type Send } from './caller.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import type { ProxiedService } from './proxied-service.ts';

/** Members sign in once each, because codes for one address are limited. */
const MEMBERS = 150;
/** Gives each member a network, because codes for one network are limited, too. */
const networkOf = (n: number): string => `10.0.${Math.floor(n / 256)}.${n % 256}`;
/** Statuses of the reply to a right code and to a used one. */
const [SIGNED_IN, USED_UP] = [303, 400];
const FORM_TOKEN = /name="form_token" value="([^"]+)"/;
const CODE = /Your code is (\d{4} \d{4})\./;

const cookiesOf = ({ headers }: Reply): string =>
  headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');

export type McpWork = {
  readonly useTools: (n: number) => Promise<void>;
  /** Asks until the picture comes. */
  readonly showPicture: () => Promise<void>;
  /** Opens the page of the account afterwards. */
  readonly signIn: (n: number) => Promise<void>;
};

export const createMcpWork = async (
  service: ProxiedService,
  send: Send,
  done: (what: string, check: () => boolean) => Promise<void>,
): Promise<McpWork> => {
  const { stack, mail, key, mcpUrl, mcpToken, brand, objectStoreUrl } = service;
  const { origin } = new URL(mcpUrl);

  const call = async (name: string, args: object, mark = '"content"'): Promise<void> => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
    const headers = {
      authorization: `Bearer ${mcpToken}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    };
    await send(
      'mcp',
      mcpUrl,
      { method: 'POST', headers, body: JSON.stringify(body) },
      (reply) => reply.body.includes(mark) && !reply.body.includes('"isError":true'),
    );
  };

  const [adId = ''] = brand.adIds;
  const bytes = await picture(1, 'jpeg');
  const sha256 = hash('sha256', bytes, 'hex');
  const objectStore = openBucketStore(objectStoreUrl);
  await objectStore.write(
    mediaKeyOf(sha256),
    (async function* () {
      yield bytes;
    })(),
  );
  await recordCreative(stack, sha256, [adId], {
    media_kind: 'image',
    content_type: 'image/jpeg',
    duration_seconds: null,
    media_url: null,
    poster_url: null,
    object_key: mediaKeyOf(sha256),
  });

  const memberVault = await openMemberVault(stack.pool, VAULT_KEY);
  const operator = { ...stack, actor: { kind: 'service', id: 'tests' } as const, memberVault };
  const addresses = Array.from({ length: MEMBERS }, () => `${randomUUID()}@shop.example`);
  for (const email of addresses) await addPerson(operator, key.workspaceId, { name: 'Ada', email }, 'editor');
  await untilPassed(stack.pool, await stack.eventStore.head(), DONE_MS);

  const codeFor = async (address: string): Promise<string> => {
    const sent = (): string | undefined => mail.mails.find((text) => text.includes(`To: ${address}`));
    await done(`the code for ${address}`, () => sent() !== undefined);
    return CODE.exec(sent() ?? '')?.[1] ?? '';
  };

  /** False when the reply was lost: a code works once. */
  const trySignIn = async (network: string): Promise<boolean> => {
    const address = addresses.pop();
    if (address === undefined) throw new Error(`more than ${MEMBERS} members sign in`);
    const headers = { origin, 'x-forwarded-for': network };
    const page = await send('pages of mcp', `${origin}/account`, { headers });
    const cookie = cookiesOf(page);
    const form_token = FORM_TOKEN.exec(page.body)?.[1] ?? '';
    const post = (
      path: string,
      fields: Readonly<Record<string, string>>,
      isWanted?: (reply: Reply) => boolean,
    ) =>
      send(
        'pages of mcp',
        `${origin}/account/${path}`,
        {
          method: 'POST',
          headers: { ...headers, cookie },
          body: new URLSearchParams({ form_token, ...fields }),
        },
        isWanted,
      );
    await post('address', { address });
    const code = await codeFor(address);
    const checked = await post('code', { code }, ({ status }) => status === SIGNED_IN || status === USED_UP);
    if (checked.status === USED_UP) return false;
    const account = { headers: { ...headers, cookie: cookiesOf(checked) } };
    await send('pages of mcp', `${origin}/account`, account, ({ body }) => body.includes(address));
    return true;
  };

  return {
    useTools: async (n) => {
      await call('find_brands', {}, '"structuredContent"');
      const note = { subject_type: 'ad', subject_key: String(100_000_000_000_000 + n), text: 'kept' };
      await call('write_note', note, '"structuredContent"');
    },
    showPicture: () => call('fetch', { id: `ad:${adId}`, images: 1 }, '"type":"image"'),
    signIn: async (n) => {
      while (!(await trySignIn(networkOf(n))));
    },
  };
};
