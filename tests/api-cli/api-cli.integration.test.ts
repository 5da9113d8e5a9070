import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '#contracts/client/client.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { NO_LOCAL_STACK } from '../no-local-stack.ts';
import { openLoopbackChannels } from '../operations/fixtures/alerting.ts';
import type { CorpusBrand } from '../operations/fixtures/corpus.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import {
  type HostedOutcome,
  type HostedCommands,
  openHostedCommands,
} from '../ops/fixtures/hosted-commands.ts';
import { startProcess } from '../stack/processes.ts';

const resources = new AsyncDisposableStack();
let stack: ApiStack;
let key: Key;
let baseUrl: string;
let commands: HostedCommands;
let brands: readonly CorpusBrand[];
beforeAll(async () => {
  stack = resources.use(await openApiStack());
  const app = await stack.api({ alertChannels: resources.use(openLoopbackChannels()) });
  baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  key = await stack.key();
  brands = await stack.seed(['alpha', 'beta', 'gamma']);
  commands = resources.use(openHostedCommands({ program: 'api' }));
});
afterAll(() => resources.disposeAsync());

const settings = (whose: Key = key) => ({ API_BASE_URL: baseUrl, API_KEY: whose.text });
const api = (...words: readonly string[]): Promise<HostedOutcome> => commands.run(words, settings());
const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n');
type Printed<Data> = { readonly data: Data; readonly meta: { readonly cursor?: string } };
const jsonOf = <Data>(text: string): readonly Printed<Data>[] =>
  linesOf(text).map((line) => JSON.parse(line) as Printed<Data>);

describe('an operation', () => {
  test('is a command by its id, with its summary, for each of the document', async () => {
    const { stdout } = await api('--help');
    const missing = ENDPOINTS.filter(({ operationId }) => !stdout.includes(`\n  ${operationId}`));
    expect(missing.map(({ operationId }) => operationId)).toEqual([]);
    expect(stdout).toMatch(/listBrands \[options\] +List brands/);
  });

  test('prints a list as a table of all columns, with its date and the next cursor on standard error', async () => {
    const { stdout, stderr, code } = await api('listBrands', '--limit', '2', '--sort', 'name');
    const [head, ...rows] = linesOf(stdout);
    expect(head).toMatch(/^id +slug +name .* as_of$/);
    expect(rows.map((row) => row.split(/ {2,}/)[1])).toEqual(['alpha', 'beta']);
    expect(stderr).toMatch(/^as of \d{4}-.*Z\nMore pages: --all, or the next one: --cursor \S+\n$/);
    expect(code).toBe(0);
  });

  test('prints a record by names, with those of nested objects', async () => {
    const { stdout } = await api('getBrand', 'alpha');
    expect(stdout).toMatch(/^slug +alpha$/m);
    expect(stdout).toMatch(/^formats\.video +\d+$/m);
  });

  test('prints each reply as a line of JSON, for one page and for all', async () => {
    const page = ['--json', 'listBrands', '--limit', '2', '--sort', 'name'];
    const [first] = jsonOf((await api(...page)).stdout);
    const all = jsonOf<{ slug: string }[]>((await api(...page, '--all')).stdout);
    expect(all.map(({ data }) => data.map(({ slug }) => slug))).toEqual([['alpha', 'beta'], ['gamma']]);
    const rest = jsonOf((await api(...page, '--cursor', first?.meta.cursor ?? '')).stdout);
    expect(rest[0]?.data).toEqual(all[1]?.data);
  });

  test('writes in the workspace of the key, with texts, numbers, lists and null as options', async () => {
    const created = await api(
      '--json',
      'createCollection',
      '--name',
      'Launches',
      '--description',
      'To watch',
    );
    const id = jsonOf<{ id: string }>(created.stdout)[0]?.data.id ?? '';
    const item = JSON.stringify({ item_type: 'brand', item_key: brands[0]?.id });
    const inside = await api(
      '--json',
      'createCollection',
      '--name',
      'Mine',
      '--parent-id',
      id,
      '--first-item',
      item,
    );
    expect(jsonOf(inside.stdout)[0]?.data).toMatchObject({ parent_id: id, name: 'Mine' });
    const changed = await api('--json', 'changeCollection', id, '--description', 'null');
    expect(jsonOf(changed.stdout)[0]?.data).toMatchObject({ name: 'Launches', description: null });
    const issued = await api(
      '--json',
      'createApiKey',
      '--name',
      'reader',
      '--scopes',
      'brands:read,ads:read',
    );
    expect(jsonOf(issued.stdout)[0]?.data).toMatchObject({ scopes: ['brands:read', 'ads:read'] });
    expect((await api('--json', 'revokeUnusedApiKeys', '--days', '30')).code).toBe(0);
    expect((await api('deleteCollection', id)).stdout).toMatch(/^removed +true$/m);
  });

  test('that is refused prints all faults with the id of the request, and exits with 1', async () => {
    const { stdout, stderr, code } = await api('listBrands', '--limit', '101', '--country', 'us');
    expect([stdout, code]).toEqual(['', 1]);
    expect(stderr).toMatch(/\(request [0-9a-f-]{36}\)/);
    expect(stderr).toMatch(/^ {2}limit: /m);
    expect(stderr).toMatch(/^ {2}country: /m);
  });

  test.each([
    ['a value outside of a closed list', ['listBrands', '--sort', 'spend'], /Allowed choices are active_ads/],
    ['a missing id', ['getBrand'], /missing required argument 'brandId'/],
    ['an unknown id', ['getBrands'], /Did you mean getBrand\?/],
    ['a number that is none', ['revokeUnusedApiKeys', '--days', 'many'], /not valid JSON/],
  ])('refuses %s before it is sent', async (_name, words, fault) => {
    const { stderr, code } = await api(...words);
    expect([stderr, code]).toEqual([expect.stringMatching(fault), 1]);
  });

  test('needs an address and a key, and names what does not respond', async () => {
    const without = await commands.run(['listBrands'], {});
    expect([without.code, without.stderr]).toEqual([
      1,
      expect.stringMatching(/API_BASE_URL: .*\n.*API_KEY: /),
    ]);
    const nowhere = await commands.run(['listBrands'], { ...settings(), API_BASE_URL: 'http://127.0.0.1:1' });
    expect([nowhere.code, nowhere.stderr]).toEqual([1, 'The API does not respond. Check API_BASE_URL.\n']);
  });
});

test('whoami prints the workspace, the role and the scopes of the key', async () => {
  const { stdout } = await api('whoami');
  expect(stdout).toMatch(new RegExp(`^workspace_id +${key.workspaceId}$`, 'm'));
  expect(stdout).toMatch(/^role +owner$/m);
  expect(stdout).toMatch(/^scopes +.*brands:read, /m);
});

describe('listen', () => {
  const LIMITS = { ...NO_LOCAL_STACK, LOG_LEVEL: 'info' };
  const tracking = async (): Promise<Key> => {
    const owner = await stack.key();
    await commands.run(['trackBrand', '--brand-id', brands[0]?.id ?? ''], settings(owner));
    return owner;
  };
  const clientOf = (owner: Key) => createClient({ baseUrl, apiKey: owner.text });
  const rulesOf = async (owner: Key): Promise<readonly string[]> => {
    const { stdout } = await commands.run(['--json', 'listAlerts'], settings(owner));
    return jsonOf<{ trigger: string }[]>(stdout).flatMap(({ data }) => data.map(({ trigger }) => trigger));
  };
  const start = (owner: Key, ...words: readonly string[]) =>
    startProcess('services/api-cli/main.ts', { ...LIMITS, ...settings(owner) }, ['listen', ...words]);

  test('prints a sample with its signature checked, refuses a forged one, and leaves no rule behind', async () => {
    const owner = await tracking();
    const listener = start(owner);
    await listener.says('Listening at ');
    const [url, ruleId] = [/at (http\S+)\. /, /trigger (\S+)/].map(
      (one) => one.exec(listener.output())?.[1] ?? '',
    );
    const sent = await commands.run(['trigger', ruleId ?? ''], settings(owner));
    expect([sent.code, sent.stdout]).toEqual([0, expect.stringMatching(/^deliveries\.0 .*delivered: true/m)]);
    await listener.says('signature verified');

    const headers = {
      'x-service-timestamp': String(Math.floor(Date.now() / 1_000)),
      'x-service-signature': `v1=${'0'.repeat(64)}`,
    };
    expect((await fetch(url ?? '', { method: 'POST', headers, body: '{}' })).status).toBe(401);
    await listener.says('A request was refused: The signature was not made with this secret.');
    expect(await rulesOf(owner)).toEqual(['new_ads']);
    expect(await listener.stop()).toBe(0);
    expect(await rulesOf(owner)).toEqual([]);
  });

  test('needs the secret of a workspace that has one, or issues another, and takes several triggers', async () => {
    const owner = await tracking();
    const { data } = await clientOf(owner).POST('/v1/workspaces/{ws}/alerts/webhook-secret', {
      params: { path: { ws: owner.workspaceId } },
      body: {},
    });
    const refused = await commands.run(['listen'], settings(owner));
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/has a signing secret already/),
    ]);
    expect(await rulesOf(owner)).toEqual([]);

    const words = ['--trigger', 'stopped_ads', 'activity'];
    for (const [more, secret] of [
      [[], data?.data.webhook_secret],
      [['--rotate-secret'], ''],
    ] as const) {
      const environment = { ...LIMITS, ...settings(owner), WEBHOOK_SECRET: secret ?? '' };
      const listener = startProcess('services/api-cli/main.ts', environment, [
        '--json',
        'listen',
        ...words,
        ...more,
      ]);
      await listener.says('Listening at ');
      expect((await rulesOf(owner)).toSorted()).toEqual(['activity', 'stopped_ads']);
      const ruleId = /trigger ([0-9a-f-]{36})/.exec(listener.output())?.[1] ?? '';
      await commands.run(['trigger', ruleId], settings(owner));
      await listener.says('"kind":"test"');
      await listener.stop();
    }
    expect(await rulesOf(owner)).toEqual([]);
  });

  test('asks for a tracked brand', async () => {
    const refused = await commands.run(['listen'], settings(await stack.key()));
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/tracks no brand/)]);
  });
});

describe('completions', () => {
  /** Completes the last word as bash does. */
  const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await api('completion', 'bash');
    const script = `${stdout}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _api; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout: found, stderr } = spawnSync('bash', ['-c', script, 'bash', ...words], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return linesOf(found);
  };

  test('of bash know commands, their options, and values of closed lists', async () => {
    const ids = ENDPOINTS.map(({ operationId }) => operationId).filter((id) => id.startsWith('listBrand'));
    expect((await complete('api', 'listBrand')).toSorted()).toEqual(ids.toSorted());
    expect(await complete('api', 'who')).toEqual(['whoami']);
    expect(await complete('api', '--json', 'listBrands', '--c')).toEqual([
      '--cursor',
      '--category-id',
      '--country',
    ]);
    expect(await complete('api', 'listBrands', '--sort', 'n')).toEqual(['new_ads_7d', 'name']);
    expect(await complete('api', 'trigger', '--')).toEqual(['--help']);
    expect(await complete('api', 'listen', '--trigger', 'new')).toEqual(['new_ads', 'new_partners']);
  });

  test('of zsh run the same function', async () => {
    expect((await api('completion', 'zsh')).stdout).toMatch(/bashcompinit\n_api\(\) \{/);
  });
});
