import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findNatsServer } from '#deploy/local/nats/binary.ts';
import { freePort } from '#deploy/local/os/ports.ts';

/** Cluster whose nodes restart with their data. */
export type NatsCluster = AsyncDisposable & {
  readonly url: string;
  /** Names of nodes, as streams name their leader. */
  readonly nodes: readonly string[];
  kill(node: string): Promise<void>;
  start(node: string): Promise<void>;
};

const USER = 'test';
const PASSWORD = 'test';
const HOST = '127.0.0.1';

export const startNatsCluster = async (): Promise<NatsCluster> => {
  const binary = await findNatsServer(undefined, join('.cache', 'nats'));
  const folder = await mkdtemp(join(tmpdir(), `test-nats-cluster-${process.pid}-`));
  const nodes = ['n1', 'n2', 'n3'];
  const clientPorts = await Promise.all(nodes.map(() => freePort()));
  const routePorts = await Promise.all(nodes.map(() => freePort()));
  const running = new Map<string, ChildProcess>();

  const configurationOf = (node: string, index: number): string =>
    [
      `server_name: ${node}`,
      `listen: "${HOST}:${clientPorts[index]}"`,
      `authorization { user: "${USER}", password: "${PASSWORD}" }`,
      `jetstream { store_dir: ${JSON.stringify(join(folder, node))}, max_file_store: 32GB }`,
      `cluster {`,
      `  name: test`,
      `  listen: "${HOST}:${routePorts[index]}"`,
      `  routes: [${routePorts.map((port) => `"nats://${HOST}:${port}"`).join(', ')}]`,
      `}`,
    ].join('\n');
  const fileOf = (node: string): string => join(folder, `${node}.conf`);

  const start = async (node: string): Promise<void> => {
    const child = spawn(binary, ['--config', fileOf(node), '--log', join(folder, `${node}.log`)], {
      stdio: 'ignore',
    });
    running.set(node, child);
    await once(child, 'spawn');
  };
  const kill = async (node: string): Promise<void> => {
    const child = running.get(node);
    running.delete(node);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };

  for (const [index, node] of nodes.entries()) await writeFile(fileOf(node), configurationOf(node, index));
  await Promise.all(nodes.map(start));
  return {
    url: `nats://${USER}:${PASSWORD}@${clientPorts.map((port) => `${HOST}:${port}`).join()}`,
    nodes,
    kill,
    start,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(nodes.map(kill));
      await rm(folder, { recursive: true, force: true });
    },
  };
};
