import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import { ObservationsReply } from '#contracts/intake.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { SECOND_MS } from '#contracts/values/time.ts';
import { pause } from '#platform/clock.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { publishObservations } from '../publish-observations.ts';

/** Resolves when ingest has recorded all of the part. A repeated part is recorded once. */
export type SendPart = (
  observations: Iterable<Observation>,
  signal: AbortSignal,
  onProgress: () => void,
) => Promise<void>;

/** For the corpus and missed time, which are many observations. */
export const sendToQueue =
  (nats: Nats): SendPart =>
  async (observations, signal, onProgress) => {
    await publishObservations(nats, observations, 0, signal, onProgress);
  };

/** Lines and bytes of one request, below the intake's limits of 1,000 lines and 16 MiB. */
const LINES_MAX = 500;
const BYTES_MAX = 8 * 1024 ** 2;
const ATTEMPTS = 5;
const RETRY_SECONDS = 5;
const REQUEST_LIMIT_MS = 60_000;

const pack = promisify(gzip);

function* bodiesOf(observations: Iterable<Observation>): Generator<string> {
  let lines: string[] = [];
  let bytes = 0;
  for (const observation of observations) {
    const line = JSON.stringify(observation);
    const size = Buffer.byteLength(line) + 1;
    if (lines.length > 0 && (lines.length >= LINES_MAX || bytes + size > BYTES_MAX)) {
      yield lines.join('\n');
      [lines, bytes] = [[], 0];
    }
    lines.push(line);
    bytes += size;
  }
  if (lines.length > 0) yield lines.join('\n');
}

export type IntakeAccess = { readonly url: string; readonly key: string };

/** Retries after the time that the intake names. Throws when it refuses the body or a line of it. */
const post = async ({ url, key }: IntakeAccess, text: string, signal: AbortSignal): Promise<void> => {
  const body = new Uint8Array(await pack(text));
  for (let attempt = 1; ; attempt += 1) {
    const reply = await fetch(`${url}/intake/observations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/x-ndjson',
        'content-encoding': 'gzip',
      },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_LIMIT_MS)]),
    });
    const answer = await reply.text();
    if (reply.ok) {
      const [refused] = ObservationsReply.parse(JSON.parse(answer)).refused;
      if (refused === undefined) return;
      throw new Error(`The intake refused ${refused.path}: ${refused.message}`);
    }
    if (![429, 503].includes(reply.status) || attempt === ATTEMPTS) {
      throw new Error(`The intake answered ${reply.status}: ${answer}`);
    }
    await pause(SECOND_MS * Number(reply.headers.get('retry-after') ?? RETRY_SECONDS), signal);
    signal.throwIfAborted();
  }
};

/** Sends to the intake with a key, as every other collector does. */
export const sendToIntake =
  (nats: Nats, access: IntakeAccess): SendPart =>
  async (observations, signal, onProgress) => {
    for (const body of bodiesOf(observations)) {
      await post(access, body, signal);
      onProgress();
    }
    await sendToQueue(nats)([], signal, onProgress);
  };

/** The intake checks the key before it refuses the empty body. */
export const isIntakeKeyValid = async ({ url, key }: IntakeAccess): Promise<boolean> => {
  const reply = await fetch(`${url}/intake/observations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
  await reply.body?.cancel();
  return reply.status === 400;
};
