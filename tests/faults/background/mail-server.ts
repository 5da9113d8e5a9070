import { type AddressInfo, createServer } from 'node:net';

export type MailServer = AsyncDisposable & {
  /** Value of the setting SMTP_URL. */
  readonly url: string;
  readonly mails: readonly string[];
};

/** End of a message (RFC 5321, 4.1.1.4). It may come in pieces. */
const MESSAGE_END = '\r\n.\r\n';

/** `reply`: answer to each recipient. */
export const openMailServer = async (reply = '250 ok'): Promise<MailServer> => {
  const mails: string[] = [];
  const server = createServer((socket) => {
    /** Text of the message in progress; `null` outside one. */
    let message: string | null = null;
    socket.on('error', () => undefined);
    socket.write('220 mail.test\r\n');
    socket.on('data', (chunk) => {
      const text = chunk.toString();
      if (message !== null) {
        message += text;
        if (!message.endsWith(MESSAGE_END)) return;
        mails.push(message);
        message = null;
        socket.write('250 queued as 1\r\n');
      } else if (text.startsWith('DATA')) {
        message = '';
        socket.write('354 go on\r\n');
      } else if (text.startsWith('RCPT')) socket.write(`${reply}\r\n`);
      else socket.write('250 ok\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mails,
    // Connections of a sender's pool stay open until that is closed.
    [Symbol.asyncDispose]: async () => void server.close(),
  };
};
