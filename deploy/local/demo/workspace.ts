import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { inheritedEnvironment } from '#platform/settings.ts';
import { brandIdOf } from '#domain/ids.ts';
import { answersOk } from '../stack/wait-until-ready.ts';
import { PROJECT } from '../stack/settings.ts';

const run = promisify(execFile);

const COMMAND_LIMIT_MS = 30_000;
const REQUEST_LIMIT_MS = 10_000;
/** The plan whose slots hold every brand the demo follows, with room to try tracking more. */
const PLAN = 'pro';
/** Without a mail server, what is written there is a file; with one, nobody of this name is found. */
const EMAIL = 'owner@demo.example';

export type DemoWorkspace = { readonly workspace_id: string; readonly api_key: string };

/** Whether the workspace remembered from an earlier start is still there and its key still good. */
export const stillWorks = (apiUrl: string, { api_key }: DemoWorkspace): Promise<boolean> =>
  answersOk(`${apiUrl}/v1/me`, { authorization: `Bearer ${api_key}` });

/** Makes the demo workspace with the same commands an operator would type. */
export const createDemoWorkspace = async (
  environment: Readonly<Record<string, string>>,
): Promise<DemoWorkspace> => {
  const ops = async <T>(schema: z.ZodType<T>, words: readonly string[]): Promise<T> => {
    const { stdout } = await run(
      process.execPath,
      [join(PROJECT, 'services', 'ops', 'cli.ts'), '--json', ...words],
      {
        cwd: PROJECT,
        env: { ...inheritedEnvironment(), ...environment, LOG_LEVEL: 'error' },
        timeout: COMMAND_LIMIT_MS,
      },
    );
    return schema.parse(JSON.parse(stdout));
  };
  const { workspace_id } = await ops(z.object({ workspace_id: z.string() }), [
    'workspace',
    'create',
    '--name',
    'Demo',
    '--plan',
    PLAN,
  ]);
  const { member_id } = await ops(z.object({ member_id: z.string() }), [
    'member',
    'add',
    workspace_id,
    '--name',
    'Demo owner',
    '--email',
    EMAIL,
    '--role',
    'owner',
  ]);
  const { api_key } = await ops(z.object({ api_key: z.string() }), [
    'key',
    'issue',
    workspace_id,
    '--member',
    member_id,
    '--name',
    'demo',
    '--scopes',
    'all',
  ]);
  return { workspace_id, api_key };
};

const post = async (
  apiUrl: string,
  { workspace_id, api_key }: DemoWorkspace,
  path: string,
  body: object,
): Promise<unknown> => {
  const response = await fetch(`${apiUrl}/v1/workspaces/${workspace_id}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
  const answer = await response.text();
  if (!response.ok) {
    throw new Error(`${path} with ${JSON.stringify(body)} was answered ${response.status}: ${answer}`);
  }
  return JSON.parse(answer);
};

/** Has the workspace follow brands, through the API and with its own key. Tracking one again is harmless. */
export const trackBrands = async (
  apiUrl: string,
  workspace: DemoWorkspace,
  domains: readonly string[],
): Promise<void> => {
  for (const [index, domain] of domains.entries()) {
    const cadence = index % 4 === 3 ? 'weekly' : 'daily';
    await post(apiUrl, workspace, 'tracked-brands', { brand_id: brandIdOf(domain), cadence });
  }
};

/** A rule on the brands it follows, and a sample of what the rule sends. */
export const addAlertRule = async (
  apiUrl: string,
  workspace: DemoWorkspace,
  domains: readonly string[],
): Promise<void> => {
  if (domains.length === 0) return;
  const rule = { name: 'Launches', trigger: 'new_ads', email: true, brand_ids: domains.map(brandIdOf) };
  const { data } = z
    .object({ data: z.object({ id: z.string() }) })
    .parse(await post(apiUrl, workspace, 'alerts', rule));
  await post(apiUrl, workspace, `alerts/${data.id}/test`, {});
};
