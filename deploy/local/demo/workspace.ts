import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { inheritedEnvironment } from '#platform/settings.ts';
import { readJsonFile, writeJsonFile } from '../os/json-file.ts';
import { acceptsConnections, waitUntilReady } from '../stack/wait-until-ready.ts';
import { PROJECT } from '../stack/settings.ts';
import { type IntakeAccess, isIntakeKeyValid } from './living/send-part.ts';

const run = promisify(execFile);

/** A busy machine has taken more than half a minute to start a process. */
const COMMAND_LIMIT_MS = 120_000;
const REQUEST_LIMIT_MS = 10_000;
/** After a start, a busy machine may answer the first requests late or with 503. */
const ANSWER_LIMIT_MS = 60_000;
/** The intake starts with the API; on a busy machine it is later. */
const INTAKE_READY_MS = 60_000;
/** Has enough slots for the demo's brands and for tracking more by hand. */
export const PLAN = 'pro';
/** Without a mail server e-mails are files; a real one finds no such recipient. */
const EMAIL = 'owner@demo.example';

export type DemoWorkspace = {
  readonly workspace_id: string;
  readonly api_key: string;
  readonly member_id: string;
};

/** Asks again until the API accepts or refuses the key: another workspace would hide the data of this one. */
export const isKeyValid = async (
  apiUrl: string,
  { api_key }: Pick<DemoWorkspace, 'api_key'>,
  signal: AbortSignal,
): Promise<boolean> => {
  const headers = { authorization: `Bearer ${api_key}` };
  let status = 0;
  await waitUntilReady('The check of the API key', ANSWER_LIMIT_MS, null, signal, async () => {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_LIMIT_MS)]);
    const response = await fetch(`${apiUrl}/v1/me`, { headers, signal: limited }).catch(() => null);
    await response?.body?.cancel();
    status = response?.status ?? 0;
    return status === 200 || status === 401;
  });
  return status === 200;
};

type Environment = Readonly<Record<string, string>>;

const runOps = async <T>(
  environment: Environment,
  schema: z.ZodType<T>,
  words: readonly string[],
): Promise<T> => {
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

/** The link signs the demo owner in to connect apps. */
export const inviteDemoOwner = async (
  environment: Environment,
  { workspace_id, member_id }: DemoWorkspace,
): Promise<string> => {
  const words = ['member', 'invite', workspace_id, member_id];
  return (await runOps(environment, z.object({ link: z.string() }), words)).link;
};

const DemoCollector = z.object({ collector_key: z.string() });
/** Scan ids begin with it. */
const COLLECTOR_NAME = 'demo';

export const openDemoCollector = async (
  environment: Environment,
  intakeUrl: string,
  file: string,
  signal: AbortSignal,
): Promise<IntakeAccess> => {
  const port = Number(new URL(intakeUrl).port);
  await waitUntilReady('The intake', INTAKE_READY_MS, null, signal, () => acceptsConnections(port));
  const stored = await readJsonFile(file, DemoCollector);
  const existing = { url: intakeUrl, key: stored?.collector_key ?? '' };
  if (stored !== null && (await isIntakeKeyValid(existing))) return existing;
  const { collector_key } = await runOps(environment, DemoCollector, ['collector', 'issue', COLLECTOR_NAME]);
  await writeJsonFile(file, { collector_key });
  return { url: intakeUrl, key: collector_key };
};

const Workspace = z.object({ workspace_id: z.string(), api_key: z.string(), member_id: z.string() });

/** At each start, so that a rotated signing secret is that of the guide again. */
export const openTestWorkspace = (environment: Environment): Promise<DemoWorkspace> =>
  runOps(environment, Workspace, ['workspace', 'test-world']);

/** Its key is secret. */
export const createDemoWorkspace = async (environment: Environment): Promise<DemoWorkspace> => {
  const ops = <T>(schema: z.ZodType<T>, words: readonly string[]): Promise<T> =>
    runOps(environment, schema, words);
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
  return { workspace_id, api_key, member_id };
};

/** Returns the body. Throws when the status is not 2xx. */
export const callApi = async (
  apiUrl: string,
  { workspace_id, api_key }: DemoWorkspace,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body?: object,
): Promise<unknown> => {
  const response = await fetch(`${apiUrl}/v1/workspaces/${workspace_id}/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${api_key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
  const answer = await response.text();
  if (!response.ok) {
    const sent = body === undefined ? '' : ` with ${JSON.stringify(body)}`;
    throw new Error(`${method} ${path}${sent} failed with status ${response.status}: ${answer}`);
  }
  return JSON.parse(answer);
};
