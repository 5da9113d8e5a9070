import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { openNats } from '#platform/nats/connection.ts';
import { type HostedCommands, openHostedCommands } from '../ops/fixtures/hosted-commands.ts';
import { startProcess, type ServiceProcess } from '../stack/processes.ts';
import { type IntakeServer, openIntakeServer, profileOf, queuedIn, sendLines } from './stack.ts';

const KILLS = 3;
const SENDERS = 3;
const LINES_PER_REQUEST = 20;

let shared: IntakeServer;
let commands: HostedCommands;
const processes = new AsyncDisposableStack();
beforeAll(async () => {
  commands = openHostedCommands();
  shared = await openIntakeServer();
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await processes.disposeAsync();
  await shared[Symbol.asyncDispose]();
});

const settings = () => ({
  DATABASE_URL: shared.databaseUrl,
  NATS_URL: shared.natsUrl,
  EVENT_STORE_URL: 'esdb://127.0.0.1:1?tls=false',
});

const start = async (): Promise<{ readonly url: string; readonly process: ServiceProcess }> => {
  const port = await freePort();
  const process = startProcess('services/intake/main.ts', { ...settings(), INTAKE_PORT: String(port) });
  processes.defer(async () => void (await process.stop()));
  await process.says('"listening"');
  return { url: `http://127.0.0.1:${port}`, process };
};

const ops = async (...args: readonly string[]): Promise<unknown> => {
  const { stdout, stderr, code } = await commands.run(['--json', 'collector', ...args], settings());
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};

describe('keys', () => {
  test('are issued, listed and revoked by operators, and a revoked key is refused by every process at once', async () => {
    const [first, second] = await Promise.all([start(), start()]);
    const issued = (await ops('issue', 'studio-tools', '--types', 'brand.profile, site.scan')) as {
      key_id: string;
      collector_key: string;
    };
    expect(issued.collector_key).toMatch(/^svc_collect_[0-9A-Za-z]{36}$/);
    const send = (url: string, domain: string) =>
      sendLines({ url }, issued.collector_key, [profileOf(domain)]);
    for (const { url } of [first, second]) expect((await send(url, 'before.example')).status).toBe(200);

    const listed = (await ops('list')) as { key_id: string; revoked_at: string | null; types: string[] }[];
    expect(JSON.stringify(listed)).not.toContain(issued.collector_key);
    expect(listed.find(({ key_id }) => key_id === issued.key_id)).toMatchObject({
      name: 'studio-tools',
      types: ['brand.profile', 'site.scan'],
      last_four: issued.collector_key.slice(-4),
      revoked_at: null,
    });
    const { rows } = await shared.database.query('select * from intake.collector_key');
    expect(JSON.stringify(rows)).not.toContain(issued.collector_key);

    expect(await ops('revoke', issued.key_id)).toEqual({
      key_id: issued.key_id,
      revoked: true,
      changed: true,
    });
    for (const { url } of [first, second]) expect((await send(url, 'after.example')).status).toBe(401);
    expect(await ops('revoke', issued.key_id)).toMatchObject({ changed: false });
    for (const { process } of [first, second]) {
      expect(process.output()).not.toContain(issued.collector_key);
      expect(await process.stop()).toBe(0);
    }
  });

  test.each([
    ['a name that is too short', () => shared.issue('ab'), '3 to 40 characters'],
    ['a name with other characters', () => shared.issue('Studio Tools'), '3 to 40 characters'],
    ['an unknown type', () => shared.issue('studio', ['brand.profile', 'ads']), 'Type not found: ads'],
    ['no type', () => shared.issue('studio', []), 'none given'],
    ['an unknown key', () => shared.revoke('col_unknown'), 'not found'],
  ])('%s is refused', async (_name, command, message) => {
    await expect(command()).rejects.toThrow(message);
  });

  test('of two collectors never begin alike, but one collector may have several', async () => {
    await shared.issue('alpha');
    await shared.issue('alpha');
    await expect(shared.issue('alpha-two')).rejects.toThrow('begin alike');
    await expect(shared.issue('alp')).rejects.toThrow('begin alike');
    const raced = await Promise.allSettled(['beta', 'beta-two', 'bet'].map((name) => shared.issue(name)));
    expect(raced.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

test('lines answered as accepted are in the queue after kill -9, and the others after they are sent again', async () => {
  const { text: key } = await shared.issue('killed');
  await using nats = await openNats(shared.natsUrl, 'test');
  const accepted = new Set<string>();
  const sent: string[][] = [];
  for (let round = 0; round < KILLS; round += 1) {
    const { url, process } = await start();
    const stopped = new AbortController();
    const target = accepted.size + 10 * LINES_PER_REQUEST;
    const sendUntilKilled = async (sender: number): Promise<void> => {
      for (let count = 0; !stopped.signal.aborted; count += 1) {
        const domains = Array.from(
          { length: LINES_PER_REQUEST },
          (_, index) => `kill${round}-${sender}-${count}-${index}.example`,
        );
        sent.push(domains);
        const reply = await sendLines(
          { url },
          key,
          domains.map((domain) => profileOf(domain)),
        ).catch(() => null);
        if (reply?.status !== 200) return;
        for (const domain of domains) accepted.add(domain);
      }
    };
    const senders = Array.from({ length: SENDERS }, (_, sender) => sendUntilKilled(sender));
    await expect.poll(() => accepted.size, { timeout: 60_000, interval: 5 }).toBeGreaterThan(target);
    await process.kill();
    stopped.abort();
    await Promise.all(senders);
  }
  const domains = async (): Promise<readonly unknown[]> =>
    (await queuedIn(nats))
      .map(({ observation }) => observation['domain'])
      .filter((domain) => String(domain).startsWith('kill'));
  const before = new Set(await domains());
  expect([...accepted].filter((domain) => !before.has(domain))).toEqual([]);

  for (const lines of sent) {
    const reply = await sendLines(
      shared,
      key,
      lines.map((domain) => profileOf(domain)),
    );
    expect(reply.status).toBe(200);
  }
  expect(new Set(await domains())).toEqual(new Set(sent.flat()));
});

test('a queue that does not answer is 503 with retry-after', async () => {
  await using stack = await openIntakeServer();
  const { text: key } = await stack.issue('away');
  await stack.nats.connection.close();
  const reply = await sendLines(stack, key, [profileOf('away.example')]);
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5']);
});
