import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { openRawLog, type RawLog } from '#platform/event-store/copy/raw-log.ts';
import { isAccessDenied, isConnectionFault, isDiscoveryFailure } from '#platform/event-store/errors.ts';
import { requireSupportedServer } from '#platform/event-store/server-version.ts';
import {
  environmentWithLocalStack,
  readSettings,
  serverSettings,
  withoutCredentials,
} from '#platform/settings.ts';

/** Shared with the servers of the service, so that named servers are checked by the same rules. */

const { EVENT_STORE_URL, SERVERS_ALLOW_PLAIN_TEXT } = serverSettings;

const ownUrl = (): string =>
  readSettings(z.object({ EVENT_STORE_URL, SERVERS_ALLOW_PLAIN_TEXT }), environmentWithLocalStack())
    .EVENT_STORE_URL;

export const isUrl = (name: string): boolean => /^(esdb|kurrentdb)(\+discover)?:\/\//.test(name);

const requireUrl = (url: string): string => {
  if (!isUrl(url)) {
    throw new Refusal(
      'invalid_input',
      'An event store is named by its URL: esdb://user:password@host:2113?tls=true.',
    );
  }
  return readSettings(z.object({ EVENT_STORE_URL, SERVERS_ALLOW_PLAIN_TEXT }), {
    ...environmentWithLocalStack(),
    EVENT_STORE_URL: url,
  }).EVENT_STORE_URL;
};

/** Parses a server URL. `-` reads it from standard input, so that the process list shows no password. */
export const namedUrl = async (name: string | undefined): Promise<string> => {
  if (name === undefined) return ownUrl();
  return requireUrl(name === '-' ? (await text(process.stdin)).trim() : name);
};

const UNREACHABLE =
  'does not respond. Check host, port, tls and certificates of the URL, and whether it runs';
const REFUSED =
  'refuses this user. Copies read all streams, so the URL needs user and password of an administrator, and tls=true';
const describeFault = (error: unknown): string | null => {
  if (isAccessDenied(error)) return REFUSED;
  return isDiscoveryFailure(error) || isConnectionFault(error) ? UNREACHABLE : null;
};

/** Adds the server's name to errors that an operator can resolve. */
const naming = async <T>(url: string, call: Promise<T>): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    const fault = describeFault(error);
    if (fault === null) throw error;
    throw new Refusal('invalid_input', `The event store ${withoutCredentials(url)} ${fault}.`);
  }
};

const requireReadable = async (log: RawLog): Promise<void> => {
  for await (const _ of log.backwards(null)) return;
};

/** Opens a log to read. The server may be older than the versions that the service supports. */
export const openSource = async (url: string): Promise<RawLog> => {
  const log = openRawLog(url);
  await naming(url, requireReadable(log));
  return log;
};

export const openTarget = async (url: string): Promise<RawLog> => {
  await naming(url, requireSupportedServer(url));
  return openSource(url);
};
