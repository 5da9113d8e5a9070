import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { addClient } from '#application/sign-in/authorization-tables.ts';
import { systemClock } from '#platform/clock.ts';
import { createConnections } from '#services/mcp/sign-in/connections.ts';
import { openApiStack } from '../../operations/fixtures/stack.ts';
import { SUITE } from '../conformance/suite.ts';
import { openBrowser, openClient, openServer } from './fixtures/authorization-server.ts';

const ROOT = join(import.meta.dirname, '../../..');
const LIMIT_MS = 60_000;

test.skipIf(SUITE === null)(
  'the authorization server conforms to the official suite',
  { timeout: LIMIT_MS },
  async () => {
    await using stack = await openApiStack();
    const { pool, workspaceCommands } = stack;
    const connections = createConnections({
      pool,
      workspaceCommands,
      clock: systemClock,
      connectionDays: 180,
    });
    const port = await freePort();
    const redirect = `http://127.0.0.1:${port}/callback`;
    await addClient(pool, { client_id: 'suite', name: 'Suite', redirect_uris: [redirect] });
    await using server = await openServer(stack, connections);
    const { baseUrl } = server;
    server.answer = { key: await stack.key(), scopes: 'all' };

    const args = ['authorization', '--url', baseUrl, '--client-id', 'suite', '--resource', `${baseUrl}/mcp`];
    const suite = spawn(process.execPath, [SUITE ?? '', ...args, '--port', String(port)], { cwd: ROOT });
    const exited = once(suite, 'exit');
    let output = '';
    const asked = Promise.withResolvers<string>();
    const read = (text: Buffer): void => {
      output += text.toString();
      const address = /^http\S+\/oauth\/authorize\?\S+$/m.exec(output)?.[0];
      if (address !== undefined && output.includes('Waiting up to')) asked.resolve(address);
    };
    suite.stdout.on('data', read);
    suite.stderr.on('data', read);
    void exited.then(() => asked.reject(new Error(output)));
    const back = await openClient('suite', { baseUrl, redirect }).ask(openBrowser(), await asked.promise);
    await fetch(back);
    expect((await exited)[0], output).toBe(0);
    expect(output).toMatch(/[1-9]\d* passed|Passed: [1-9]/);
  },
);
