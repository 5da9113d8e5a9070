import { freePort } from '#deploy/local/os/ports.ts';
import { READ_PIPELINE } from '#services/api/server/request-pipeline.ts';

/** Opens V8's inspector only when it is needed. */

const OPENING_LIMIT_MS = 10_000;
const SAMPLE_US = 200;

type Frame = { readonly functionName: string; readonly url: string };
type Profile = {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: Frame;
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};
type Coverage = {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number }[];
    }[];
  }[];
};

export const inspectable = async () => {
  const port = await freePort();
  return { port, settings: { NODE_OPTIONS: `--inspect-port=127.0.0.1:${port}` } };
};

const openInspector = async (pid: number, port: number) => {
  process.kill(pid, 'SIGUSR1');
  const limitMs = Date.now() + OPENING_LIMIT_MS;
  let targets: readonly { readonly webSocketDebuggerUrl: string }[] = [];
  while (targets.length === 0) {
    if (Date.now() > limitMs) throw new Error('The inspector did not open in time.');
    await new Promise((resolve) => setTimeout(resolve, 50));
    targets = await fetch(`http://127.0.0.1:${port}/json/list`)
      .then((reply) => reply.json() as Promise<typeof targets>)
      .catch(() => []);
  }
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '');
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { readonly id: number; readonly result: unknown };
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let sent = 0;
  return {
    send: <Result>(method: string, params: object = {}): Promise<Result> =>
      new Promise((resolve) => {
        sent += 1;
        waiting.set(sent, (result) => resolve(result as Result));
        socket.send(JSON.stringify({ id: sent, method, params }));
      }),
    [Symbol.dispose]: () => socket.close(),
  };
};

const STEPS: ReadonlySet<string> = new Set(READ_PIPELINE.map(({ name }) => name));
/** Names of code outside the steps, by path; the rest is Node itself. */
const PLACES: readonly (readonly [RegExp, string])[] = [
  [/\/services\/api\//, 'the server around the steps'],
  [/\/(services\/operations|projections)\//, 'runHandler, after the database'],
  [/\/node_modules\/(pg|pg-[a-z]+)\/|\/platform\/postgres\//, 'the Postgres driver'],
  [/\/(services|contracts)\//, 'other parts of the service'],
  [/\/node_modules\//, 'Fastify and other packages'],
];

/** Reads from the outermost frame to the innermost. */
const placeOf = (stack: readonly Frame[]): string => {
  const leaf = stack.at(-1)?.functionName ?? '';
  if (leaf === '(garbage collector)') return 'garbage collection';
  if (leaf === '(program)') return 'native code, such as sockets';
  const step = stack.find(({ functionName, url }) => STEPS.has(functionName) && url.includes('/services/'));
  if (step) return step.functionName;
  for (const [pattern, place] of PLACES) if (stack.some(({ url }) => pattern.test(url))) return place;
  return 'JavaScript of Node';
};

export const cpuBySteps = async (
  { pid, port }: { readonly pid: number; readonly port: number },
  work: () => Promise<unknown>,
): Promise<ReadonlyMap<string, number>> => {
  using inspector = await openInspector(pid, port);
  await inspector.send('Profiler.enable');
  await inspector.send('Profiler.setSamplingInterval', { interval: SAMPLE_US });
  await inspector.send('Profiler.start');
  await work();
  const { profile } = await inspector.send<{ readonly profile: Profile }>('Profiler.stop');
  const places = new Map<number, string>();
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const visit = (id: number, outer: readonly Frame[]): void => {
    const node = nodes.get(id);
    if (!node) return;
    const stack = [...outer, node.callFrame];
    places.set(id, node.callFrame.functionName === '(idle)' ? '' : placeOf(stack));
    for (const child of node.children ?? []) visit(child, stack);
  };
  visit(profile.nodes[0]?.id ?? 0, []);
  const times = new Map<string, number>();
  let sum = 0;
  for (const [index, id] of profile.samples.entries()) {
    const place = places.get(id) ?? '';
    if (place === '') continue;
    const time = profile.timeDeltas[index] ?? 0;
    sum += time;
    times.set(place, (times.get(place) ?? 0) + time);
  }
  return new Map([...times].toSorted(([, a], [, b]) => b - a).map(([place, time]) => [place, time / sum]));
};

export const filesRun = async (
  { pid, port }: { readonly pid: number; readonly port: number },
  work: () => Promise<unknown>,
): Promise<readonly string[]> => {
  using inspector = await openInspector(pid, port);
  await inspector.send('Profiler.enable');
  await inspector.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await work();
  const { result } = await inspector.send<Coverage>('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.startsWith('file:') && !url.includes('/node_modules/'))
    .filter(({ functions }) =>
      functions.some(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0),
    )
    .map(({ url }) => url);
};
