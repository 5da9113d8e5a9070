import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { claimPort, freePort, isPortFree } from '#deploy/local/os/ports.ts';

/** The command line is that of a local stack. */
const claimElsewhere = async (port: number) => {
  const code = `
    import { claimPort } from '#deploy/local/os/ports.ts';
    console.log(await claimPort(${port}, new AsyncDisposableStack()));
    setTimeout(() => {}, 60_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, 'deploy/local/main.ts']);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { chosen: Number(line.toString()), child };
};

test('a port that another stack has chosen is not chosen again before it listens, and free after a kill', async () => {
  const port = await freePort();
  const { chosen, child } = await claimElsewhere(port);
  expect(chosen).toBe(port);
  expect(await isPortFree(port)).toBe(true);
  await using resources = new AsyncDisposableStack();
  expect(await claimPort(port, resources)).not.toBe(port);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  expect(await claimPort(port, resources)).toBe(port);
  expect(await claimPort(port, resources)).not.toBe(port);
});

test('a port is chosen again after the end of the stack', async () => {
  const port = await freePort();
  for (let start = 0; start < 2; start += 1) {
    await using resources = new AsyncDisposableStack();
    expect(await claimPort(port, resources)).toBe(port);
  }
});
