import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { downloadPackages } from '#deploy/local/nats/binary.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { on } from '#tests/dsl/api.ts';
import { fillCache, findCachedPackage } from '#tests/cached-package.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { openApiStack } from '../../operations/fixtures/stack.ts';
import { openApi30Of } from './openapi-3-0.ts';

/** A client that OpenAPI Generator makes from the document, used as its user would. */
const run = promisify(execFile);
const LIMIT_MS = 240_000;
/** The last release whose npm package contains the generator itself. It reads OpenAPI 3.0 and needs Java. */
const GENERATOR = ['@openapitools/openapi-generator-cli', '1.0.18-5.0.0-beta2'] as const;
const DOCUMENT = join(import.meta.dirname, '../../../contracts/openapi.json');
/** The client imports these. They contain no compiled code. */
const LIBRARIES = ['python3-urllib3', 'python3-six', 'python3-dateutil', 'python3-certifi'];

const generateClient = async (generator: string): Promise<string> => {
  const document = JSON.stringify(openApi30Of(JSON.parse(await readFile(DOCUMENT, 'utf8'))));
  return fillCache(join('python', hash('sha256', document).slice(0, 16)), async (folder) => {
    const input = join(folder, 'openapi.json');
    await writeFile(input, document);
    const files = 'apis,models,supportingFiles,apiTests=false,modelTests=false,apiDocs=false,modelDocs=false';
    const jar = join(generator, GENERATOR[0], 'bin/openapi-generator.jar');
    const options = ['-g', 'python', '--package-name', 'ads', '--global-property', files];
    await run('java', ['-jar', jar, 'generate', '-i', input, '-o', folder, ...options], {
      timeout: LIMIT_MS,
      maxBuffer: 64 * 1024 ** 2,
    });
  });
};

const fetchLibraries = async (): Promise<string> => {
  const folder = await fillCache(join('python', 'libraries'), async (into) => {
    for (const archive of await downloadPackages(into, LIBRARIES))
      await run('dpkg-deb', ['-x', archive, into]);
  });
  return join(folder, 'usr/lib/python3/dist-packages');
};

/** `null` when a part is missing, with the reason on the console. */
const findParts = async (): Promise<{ readonly client: string; readonly libraries: string } | null> => {
  try {
    for (const program of ['java', 'python3']) await run(program, ['--version']);
    const generator = await findCachedPackage(...GENERATOR);
    if (generator === null) return null;
    const [client, libraries] = await Promise.all([generateClient(generator), fetchLibraries()]);
    return { client, libraries };
  } catch (error) {
    console.warn('A test is skipped: a Python client needs java, python3 and apt-get.', error);
    return null;
  }
};

const parts = await findParts();

test.skipIf(parts === null)(
  'a generated Python client does a day of work',
  { timeout: LIMIT_MS },
  async () => {
    if (parts === null) throw new Error('parts are missing');
    const stack = await disposeAfterAll(openApiStack());
    const app = await stack.api();
    const [key, brands] = await Promise.all([
      stack.key(),
      stack.seed(['alpha', 'beta', 'gamma', 'delta', 'epsilon']),
    ]);
    const address = await app.listen({ host: '127.0.0.1', port: 0 });
    const env = {
      ...inheritedEnvironment(),
      PYTHONPATH: `${parts.client}:${parts.libraries}`,
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const day = await run('python3', [join(import.meta.dirname, 'day.py'), address, key.text], {
      env,
      timeout: LIMIT_MS,
    });
    const read = JSON.parse(day.stdout) as Readonly<Record<string, never>>;
    const ws = `/v1/workspaces/${key.workspaceId}`;
    const dataOf = async (path: string) =>
      (await on(app).get(path, { key })).data as { readonly id: string }[];
    const [brand] = brands;
    const ads = await dataOf(`/v1/brands/${brand?.id}/ads?limit=10`);
    const [rule] = await dataOf(`${ws}/alerts`);
    expect(read).toEqual({
      workspace: key.workspaceId,
      brands: brands.map(({ slug }) => slug).toSorted(),
      brand: brand?.id,
      ads: ads.map(({ id }) => id),
      ad: ads[0]?.id,
      tracked: [brand?.id],
      items: [ads[0]?.id],
      notes: ['Grüße'],
      radar: (await dataOf(`${ws}/radar?days=30`)).map(({ id }) => id),
      signals: (await dataOf(`${ws}/radar/signals?days=30`)).map(
        (one) => (one as unknown as { kind: string }).kind,
      ),
      rule: [rule?.id, 'new_ads', true],
      refused: [404, 'not_found'],
    });
    expect(read['radar']).not.toEqual([]);
  },
);
