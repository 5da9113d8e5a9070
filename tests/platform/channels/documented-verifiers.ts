import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifyWebhook, WebhookRefused } from '#contracts/client/client.ts';
import { inheritedEnvironment } from '#platform/settings.ts';

/** Runs the verifiers of contracts/guide/webhooks.md in the interpreters of this machine, and the one of the client. */

const GUIDE = readFileSync(join(import.meta.dirname, '../../../contracts/guide/webhooks.md'), 'utf8');
const sampleIn = (language: string, beginning: string): string => {
  const start = GUIDE.indexOf(`\`\`\`${language}\n${beginning}`);
  if (start < 0) throw new Error(`contracts/guide/webhooks.md has no example that begins with ${beginning}`);
  const from = GUIDE.indexOf('\n', start) + 1;
  return GUIDE.slice(from, GUIDE.indexOf('```', from));
};

/** Request as received; `null`: no such header. */
export type SignedRequest = {
  readonly timestamp: string | null;
  readonly signature: string | null;
  readonly body: Buffer;
};

export type Verifier = {
  readonly name: string;
  readonly isInstalled: boolean;
  /** False when no caller can hand the request over. */
  takes(request: SignedRequest): boolean;
  /** Tells whether each request is genuine, or what went wrong. */
  verify(requests: readonly SignedRequest[], secret: string, folder: string): Promise<readonly unknown[]>;
};

type Ended = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

const LIMIT_MS = 60_000;

const run = (
  command: string,
  args: readonly string[],
  input: Buffer | string,
  cwd: string,
  env: Record<string, string> = {},
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const path = inheritedEnvironment()['PATH'] ?? '';
    // Level without which bash, with a socket as input, reads the start files of the user.
    const SHLVL = '1';
    const child = spawn(command, [...args], {
      cwd,
      env: { PATH: path, LC_ALL: 'C.UTF-8', SHLVL, ...env },
      timeout: LIMIT_MS,
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
    // A verifier may answer before it has read the body.
    child.stdin.on('error', () => undefined).end(input);
    child.on('error', reject).on('close', (status) => resolve({ status, ...output }));
  });

const asOneProcess = (name: string, command: string, args: readonly string[]): Verifier => ({
  name,
  isInstalled: spawnSync(command, ['--version']).status === 0,
  takes: () => true,
  verify: async (requests, secret, folder) => {
    const encoded = requests.map(({ body, ...headers }) => ({ ...headers, body: body.toString('base64') }));
    const ended = await run(command, args, JSON.stringify({ secret, requests: encoded }), folder);
    if (ended.status !== 0) throw new Error(ended.stderr);
    return JSON.parse(ended.stdout);
  },
});

const TYPESCRIPT = `${sampleIn('ts', 'import { createHmac')}
import { readFileSync } from 'node:fs';
const { secret, requests } = JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify(requests.map(({ timestamp, signature, body }) => {
  const values = { 'x-service-timestamp': timestamp, 'x-service-signature': signature };
  const headers = { get: (name) => values[name] } as unknown as Headers;
  try { return isGenuine(headers, Buffer.from(body, 'base64'), secret); } catch (error) { return String(error); }
})));`;

const PYTHON = `${sampleIn('python', 'import hashlib')}
import base64, json, sys
given = json.load(sys.stdin)
def answer(request):
    named = {"x-service-timestamp": request["timestamp"], "x-service-signature": request["signature"]}
    headers = {name: value for name, value in named.items() if value is not None}
    try:
        return is_genuine(headers, base64.b64decode(request["body"]), given["secret"])
    except Exception as error:
        return repr(error)
print(json.dumps([answer(request) for request in given["requests"]]))`;

const SHELL = sampleIn('sh', '# verify.sh');
const SHELLS_AT_ONCE = 4;
/** Limit of Linux for an argument. */
const ARGUMENT_MAX_BYTES = 128 * 1024;

const answerOfShell = ({ status, stdout, stderr }: Ended): unknown =>
  stdout === '' && stderr === '' && (status === 0 || status === 1)
    ? status === 0
    : { status, stdout, stderr };

const asShell = (shell: string): Verifier => ({
  name: shell,
  isInstalled: spawnSync(shell, ['-c', 'openssl version']).status === 0,
  takes: ({ timestamp, signature }) =>
    [timestamp ?? '', signature ?? ''].every(
      (text) => !text.includes('\0') && Buffer.byteLength(text) < ARGUMENT_MAX_BYTES,
    ),
  verify: async (requests, secret, folder) => {
    const answers: unknown[] = [];
    const entries = requests.entries();
    const work = async (): Promise<void> => {
      for (const [index, { timestamp, signature, body }] of entries) {
        // A missing second argument is left out, a missing first one is empty.
        const args = signature === null ? [timestamp ?? ''] : [timestamp ?? '', signature];
        const ended = await run(shell, ['-c', SHELL, 'verify.sh', ...args], body, folder, { SECRET: secret });
        answers[index] = answerOfShell(ended);
      }
    };
    await Promise.all(Array.from({ length: SHELLS_AT_ONCE }, work));
    return answers;
  },
});

const CLIENT: Verifier = {
  name: 'client',
  isInstalled: true,
  takes: () => true,
  verify: (requests, secret) =>
    Promise.all(
      requests.map(({ timestamp, signature, body }) => {
        const headers = {
          ...(timestamp === null ? {} : { 'x-service-timestamp': timestamp }),
          ...(signature === null ? {} : { 'x-service-signature': signature }),
        };
        return verifyWebhook({ headers, body }, secret).then(
          () => true,
          (error: unknown) => (error instanceof WebhookRefused ? false : String(error)),
        );
      }),
    ),
};

export const VERIFIERS: readonly Verifier[] = [
  CLIENT,
  asOneProcess('TypeScript', process.execPath, ['--input-type=module-typescript', '--eval', TYPESCRIPT]),
  asOneProcess('Python', 'python3', ['-c', PYTHON]),
  ...['sh', 'bash', 'zsh', 'ksh'].map(asShell),
];
