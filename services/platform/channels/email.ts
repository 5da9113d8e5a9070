import { mkdir, open, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type * as Nodemailer from 'nodemailer';
import { z } from 'zod';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { explanationOf, headlineOf, itemsNamed, observedLine, remainderOf } from './message-text.ts';
import type { Clock } from '../clock.ts';
import { isLoopback } from '../plain-text-hosts.ts';
import { AllowPlainText, credentialedUrl, dataFolderSettings, MAIL_FOLDER } from '../settings.ts';
import {
  ANSWER_MAX_BYTES,
  NO_TIMING,
  type SendOutcome,
  failedOutcome,
  networkFailure,
} from './send-outcome.ts';

export type EmailMessage = { readonly subject: string; readonly text: string };

export const emailMessageOf = (payload: AlertPayload): EmailMessage => {
  const items = itemsNamed(payload);
  const lines = [
    headlineOf(payload),
    '',
    explanationOf(payload),
    ...items.map(
      ({ brand, title, url }) => `- ${observedLine(brand.name)}: ${observedLine(title)}\n  ${url}`,
    ),
    remainderOf(payload, items.length),
    '',
    `Observed until ${payload.as_of}. These are observations of a public ad library, not statements of cause.`,
  ];
  return {
    subject: headlineOf(payload).replace(/\s+/g, ' '),
    text: `${lines.filter((line) => line !== null).join('\n')}\n`,
  };
};

const require = createRequire(import.meta.url);
/** Loads nodemailer with the first message: loading takes a tenth of a process's start. */
const loadNodemailer = (): typeof Nodemailer => require('nodemailer') as typeof Nodemailer;

const CONNECT_TIMEOUT_MS = 5_000;
const SOCKET_TIMEOUT_MS = 15_000;
/** Limit of a whole message: its wait for a connection, and a server that answers byte by byte. */
const SEND_TIMEOUT_MS = 60_000;
const SMTP_CLIENTS = 4;
const MESSAGES_PER_CONNECTION = 100;
/** SMTP replies from this code on are permanent (RFC 5321, 4.2.1). */
const PERMANENT = 500;
const DELIVERY_ID = /^[\w-]{1,64}$/;

export const emailSettings = {
  SMTP_URL: credentialedUrl(
    z.url({ protocol: /^smtps?$/ }).optional(),
    'Mail server URL, `smtp://` or `smtps://` with user and password; when not set, e-mails are files in `mail` of `DATA_DIR`. On another host, `smtp://` sends nothing before the connection is encrypted (STARTTLS), unless `SERVERS_ALLOW_PLAIN_TEXT` is `true`.',
  ),
  ...dataFolderSettings,
  MAIL_FROM: z
    .string()
    .min(3)
    .max(200)
    .default('Ad intelligence <alerts@localhost.invalid>')
    .describe('Sender address of e-mails.'),
  SERVERS_ALLOW_PLAIN_TEXT: AllowPlainText,
} as const;
export type EmailSettings = {
  readonly SMTP_URL?: string | undefined;
  readonly SERVERS_ALLOW_PLAIN_TEXT?: 'true' | 'false';
  readonly DATA_DIR: string;
  readonly MAIL_FROM: string;
};

export type EmailTarget = {
  readonly to: string;
  /** Becomes the `Message-ID`: mail programs show a message that was sent twice only once. */
  readonly deliveryId: string;
};

export type EmailChannel = Disposable & {
  /** One attempt. Never rejects. */
  sendOnce(target: EmailTarget, payload: AlertPayload): Promise<SendOutcome>;
};

export type TextChannel = Disposable & {
  /** One attempt. Never rejects. */
  sendMessage(target: EmailTarget, message: EmailMessage): Promise<SendOutcome>;
};

type Message = {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly messageId: string;
  readonly date: Date;
};

const messageOf = (
  from: string,
  { to, deliveryId }: EmailTarget,
  message: EmailMessage,
  date: Date,
): Message => {
  const host = /@([\w.-]+)/.exec(from)?.[1] ?? 'localhost.invalid';
  return { from, to, ...message, messageId: `<${deliveryId}@${host}>`, date };
};

const delivered = (startedMs: number, status: number | null, answer: string): SendOutcome => ({
  delivered: true,
  failure: null,
  status_code: status,
  reason: null,
  duration_ms: Math.round(performance.now() - startedMs),
  timing: NO_TIMING,
  answer: Buffer.from(answer, 'utf8').subarray(0, ANSWER_MAX_BYTES),
  retry_after_ms: null,
  terminal: false,
});

/** Errors with a reply code are from the mail server; others are network errors. */
const failureOf = (error: Error, startedMs: number): SendOutcome => {
  const { responseCode, response } = error as { responseCode?: number; response?: string };
  if (responseCode === undefined) {
    const { failure, reason } = networkFailure(error);
    return failedOutcome(failure, reason, startedMs);
  }
  return failedOutcome('http', `The mail server answered ${responseCode}.`, startedMs, {
    status_code: responseCode,
    answer: Buffer.from(response ?? '', 'utf8').subarray(0, ANSWER_MAX_BYTES),
    terminal: responseCode >= PERMANENT,
  });
};

/**
 * Requires encryption to other hosts, because sign-in codes are sent over it. `requireTLS` is in the URL, because its
 * parameters come before other options.
 */
export const encryptedSmtpUrl = (
  url: string,
  { SERVERS_ALLOW_PLAIN_TEXT }: Pick<EmailSettings, 'SERVERS_ALLOW_PLAIN_TEXT'>,
): string => {
  const parsed = new URL(url);
  if (SERVERS_ALLOW_PLAIN_TEXT === 'true' || isLoopback(parsed.hostname)) return url;
  parsed.searchParams.set('requireTLS', 'true');
  return parsed.href;
};

class MessageLate extends Error {
  readonly code = 'ETIMEDOUT';
}

/** Throws `MessageLate` when the message is not sent in time. */
const sentWithin = async <T>(sending: Promise<T>, withinMs: number): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new MessageLate('The mail server is too slow.')), withinMs);
  try {
    return await Promise.race([sending, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** Pools connections. A message that is late ends the pool; the next one opens others. */
const openSmtp = (url: string, from: string, clock: Clock, withinMs: number): TextChannel => {
  const openTransport = () =>
    loadNodemailer().createTransport({
      url,
      pool: true,
      maxConnections: SMTP_CLIENTS,
      maxMessages: MESSAGES_PER_CONNECTION,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  let transport: ReturnType<typeof openTransport> | null = null;
  return {
    sendMessage: async (target, content) => {
      const startedMs = performance.now();
      const used = (transport ??= openTransport());
      try {
        const sending = used.sendMail(messageOf(from, target, content, clock.now()));
        const { response } = await sentWithin(sending, withinMs);
        return delivered(startedMs, Number.parseInt(response, 10) || null, response);
      } catch (error) {
        if (error instanceof MessageLate) {
          if (transport === used) transport = null;
          used.close({ force: true });
        }
        return failureOf(error as Error, startedMs);
      }
    },
    [Symbol.dispose]: () => transport?.close(),
  };
};

/** Writes `.eml` files, for use without a mail server. A message sent twice is one file. */
const openFiles = (directory: string, from: string, clock: Clock): TextChannel => {
  const folder = resolve(directory);
  const openTransport = () =>
    loadNodemailer().createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  let transport: ReturnType<typeof openTransport> | null = null;
  return {
    sendMessage: async (target, content) => {
      const startedMs = performance.now();
      try {
        if (!DELIVERY_ID.test(target.deliveryId))
          throw new Error('The delivery id is not a valid file name.');
        transport ??= openTransport();
        const { message } = await transport.sendMail(messageOf(from, target, content, clock.now()));
        const path = join(folder, `${target.deliveryId}.eml`);
        await mkdir(folder, { recursive: true });
        const file = await open(`${path}.part`, 'w');
        try {
          await file.writeFile(message as Buffer);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(`${path}.part`, path);
        return delivered(startedMs, null, `written to ${target.deliveryId}.eml`);
      } catch (error) {
        return failureOf(error as Error, startedMs);
      }
    },
    [Symbol.dispose]: () => transport?.close(),
  };
};

/** Writes files when no server is set. `withinMs` limits a message in all. */
export const openEmailChannel = (
  settings: EmailSettings,
  clock: Clock,
  withinMs: number = SEND_TIMEOUT_MS,
): EmailChannel & TextChannel => {
  const { SMTP_URL, DATA_DIR, MAIL_FROM } = settings;
  const sender =
    SMTP_URL === undefined
      ? openFiles(join(DATA_DIR, MAIL_FOLDER), MAIL_FROM, clock)
      : openSmtp(encryptedSmtpUrl(SMTP_URL, settings), MAIL_FROM, clock, withinMs);
  return { ...sender, sendOnce: (target, payload) => sender.sendMessage(target, emailMessageOf(payload)) };
};
