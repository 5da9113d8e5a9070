import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { HostedCommands } from '../ops/fixtures/hosted-commands.ts';

/** Shell function `hosted PROGRAM WORD…`: runs a command behind the bridge, with the words and environment of the shell. */
export const HOSTED_FUNCTION = String.raw`hosted() {
  local code bytes
  exec 3<>"/dev/tcp/127.0.0.1/$COMMAND_BRIDGE_PORT"
  { printf '%s\0' "$#" "$@"; env -0; printf '\0'; } >&3
  read -r code bytes <&3
  head -c "$bytes" <&3
  cat <&3 >&2
  exec 3>&-
  return "$code"
}
`;

/** Programs of the bridge, each with its process. */
export type Hosted = Readonly<Record<string, HostedCommands>>;

/** Words and environment of a request; `null` while parts are missing. */
const parseRequest = (text: string) => {
  const [count = '', ...parts] = text.split('\0');
  const words = parts.slice(0, Number(count));
  const end = parts.indexOf('', words.length);
  // The last part follows the last separator.
  if (words.length < Number(count) || end === -1 || end === parts.length - 1) return null;
  const environment = parts.slice(words.length, end).map((entry): [string, string] => {
    const at = entry.indexOf('=');
    return [entry.slice(0, at), entry.slice(at + 1)];
  });
  return { words, environment: Object.fromEntries(environment) };
};

const serve = (socket: Socket, hosted: Hosted): void => {
  let received = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    received += part;
    const request = parseRequest(received);
    if (request === null) return;
    received = '';
    const [program = '', ...words] = request.words;
    const commands = hosted[program];
    if (commands === undefined) return void socket.end(`1 0\nno program ${program}`);
    commands.run(words, request.environment).then(
      ({ code, stdout, stderr }) =>
        void socket.end(`${code} ${Buffer.byteLength(stdout)}\n${stdout}${stderr}`),
      (error: unknown) => void socket.end(`1 0\n${String(error)}`),
    );
  });
  // A shell may be killed at its time limit.
  socket.on('error', () => undefined);
};

/** Opens a port on which shells run commands without a process for each. */
export const openCommandBridge = async (
  hosted: Hosted,
): Promise<AsyncDisposable & { readonly port: number }> => {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.once('close', () => open.delete(socket)));
    serve(socket, hosted);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
