import { zip } from 'es-toolkit/array/zip';
import { median } from 'es-toolkit/math/median';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { pause } from '#platform/clock.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { type ApiStack, openApiStack } from '../../operations/fixtures/stack.ts';
import { isLong } from '../attack.ts';

/** These attacks start processes of their own, so they run in `npm run attack` only. */
const DOWNLOADS = 1_000;
/** Reads in flight, fewer than a workspace may have. */
const READS_AT_ONCE = 100;
/** Size above which copying a body costs more than a brand read. */
const LARGE_BYTES = 256 * 1_024;
/** Rounds of a comparison: a virtual machine that shares its processor takes up to twice the time. */
const ROUNDS = 7;
/** Rounds whose times do not count, because code is slower while it is compiled. */
const WARM_UP_ROUNDS = 3;
const MEMORY_MAX_MIB = 50;
const START_LIMIT_MS = 60_000;
const SAMPLE_MS = 10;
/** Clock ticks as in `/proc/<pid>/stat`. */
const TICKS_PER_SECOND = 100;
const PROJECT = join(import.meta.dirname, '../../..');

let stack: ApiStack;
beforeAll(async () => {
  if (!isLong) return;
  stack = await openApiStack();
  await stack.seed(['alpha']);
});
afterAll(async () => {
  if (isLong) await stack[Symbol.asyncDispose]();
});

const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
/** Microseconds of a process, with those of the kernel for it. */
const cpuOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1_000_000;
};

const startProcess = async (
  entry: string,
  environment: Readonly<Record<string, string>>,
  url: string,
): Promise<{ pid: number } & AsyncDisposable> => {
  const child: ChildProcess = spawn(process.execPath, [join(PROJECT, entry)], {
    env: { ...inheritedEnvironment(), LOG_LEVEL: 'error', ...environment },
    stdio: 'ignore',
  });
  const answers = () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(answers, { timeout: START_LIMIT_MS, interval: 200 }).toBe(true);
  return {
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
};

/** Opens a connection for each request. Returns the bytes of a body. */
const download = async (
  url: string,
  count: number,
  headers: Readonly<Record<string, string>>,
): Promise<number> => {
  const one = (): Promise<number> =>
    new Promise((resolve, reject) => {
      let bytes = 0;
      const sent = request(url, { headers, agent: false }, (reply) => {
        reply.on('data', (part: Buffer) => {
          bytes += part.length;
        });
        reply.once('error', reject).once('end', () => {
          if (reply.statusCode === 200) resolve(bytes);
          else reject(new Error(`${url} answered ${reply.statusCode}`));
        });
      });
      sent.once('error', reject).end();
    });
  const sizes = await Promise.all(Array.from({ length: count }, one));
  return sizes[0] ?? 0;
};

type Cost = { readonly cpu: number; readonly memory: number };

const measure = async (pid: number, count: number, run: () => Promise<unknown>): Promise<Cost> => {
  const before = { cpu: cpuOf(pid), memory: memoryOf(pid) };
  let peak = before.memory;
  const sampling = setInterval(() => {
    peak = Math.max(peak, memoryOf(pid));
  }, SAMPLE_MS);
  await run();
  clearInterval(sampling);
  peak = Math.max(peak, memoryOf(pid));
  // The clock of the kernel counts in steps of 10 ms.
  await pause(50);
  return { cpu: (cpuOf(pid) - before.cpu) / count, memory: peak - before.memory };
};

type Measured = { readonly pid: number; readonly run: () => Promise<unknown> };

const compare = async (...measured: readonly Measured[]): Promise<readonly Cost[]> => {
  const rounds: Cost[][] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
    const costs: Cost[] = [];
    for (const { pid, run } of measured) costs.push(await measure(pid, DOWNLOADS, run));
    rounds.push(costs);
  }
  return zip(...rounds).map((costs) => ({
    cpu: median(costs.slice(WARM_UP_ROUNDS).map(({ cpu }) => cpu)),
    memory: Math.max(...costs.map(({ memory }) => memory)),
  }));
};

test.runIf(isLong)(
  '1,000 downloads at once without a key raise memory by less than 50 MiB, and each costs less than a brand read, large ones beyond their copying',
  async ({ task, skip }) => {
    skip(process.platform !== 'linux', 'memory and time of processes are read from /proc');
    const [apiPort, opsPort] = [await freePort(), await freePort()];
    const [api, ops] = [`http://127.0.0.1:${apiPort}`, `http://127.0.0.1:${opsPort}`];
    await using apiProcess = await startProcess(
      'services/api/main.ts',
      {
        ...stack.environment,
        API_PORT: String(apiPort),
        API_REQUESTS_PER_MINUTE: '100000',
        CURSOR_SECRET: 'a secret for tests only',
      },
      `${api}/v1/openapi.json`,
    );
    await using opsProcess = await startProcess(
      'services/ops/main.ts',
      { ...stack.environment, OPS_PORT: String(opsPort), OPS_TOKEN: 'a token for tests only' },
      `${ops}/`,
    );
    const attacked = [
      ...['/docs/', '/docs/js/scalar.js', '/v1/openapi.json'].map(
        (path) => [apiProcess.pid, api + path] as const,
      ),
      ...['/', '/console/console.js'].map((path) => [opsProcess.pid, ops + path] as const),
    ];
    const headers = { 'accept-encoding': 'br, gzip' };
    for (const [, url] of attacked) await download(url, 1, headers);
    const key = await stack.key({ plan: 'business' });
    const readBrands = async (): Promise<void> => {
      const authorization = `Bearer ${key.text}`;
      for (let read = 0; read < DOWNLOADS; read += READS_AT_ONCE)
        await download(`${api}/v1/brands/alpha`, READS_AT_ONCE, { authorization });
    };
    const figures: string[] = [];
    for (const [pid, url] of attacked) {
      const bytes = await download(url, 1, headers);
      const port = await freePort();
      const bareUrl = `http://127.0.0.1:${port}/`;
      await using bare = await startProcess(
        'tests/attacks/api/bare-server.ts',
        { BYTES: String(bytes), PORT: String(port) },
        bareUrl,
      );
      const costs = await compare(
        { pid, run: () => download(url, DOWNLOADS, headers) },
        { pid: bare.pid, run: () => download(bareUrl, DOWNLOADS, headers) },
        { pid: apiProcess.pid, run: readBrands },
      );
      const [file, copy, read] = costs as [Cost, Cost, Cost];
      const microseconds = [file, copy, read].map(({ cpu }) => cpu.toFixed(0));
      figures.push(`${new URL(url).pathname} ${microseconds.join(', ')} µs, +${file.memory.toFixed(1)} MiB`);
      expect(file.memory, url).toBeLessThan(MEMORY_MAX_MIB);
      const most = bytes < LARGE_BYTES ? read.cpu : copy.cpu + read.cpu;
      expect(file.cpu, figures.join('; ')).toBeLessThan(most);
    }
    task.meta.figure = `download, bare server, brand read: ${figures.join('; ')}`;
  },
);
