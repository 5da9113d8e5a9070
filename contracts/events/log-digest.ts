import type { LogDigest } from '../audit/log-digest.ts';
import type { Event } from './event.ts';
import type { EventVersions } from './versions.ts';

/** Stream `logDigest-log`: the signed digests of the log, one after the other. */
export const LOG_DIGEST = 'logDigest';
export const LOG_DIGEST_STREAM = `${LOG_DIGEST}-log`;

export type LogDigestSigned = Event<'LogDigestSigned', LogDigest>;

export const logDigestVersions: EventVersions<LogDigestSigned> = { LogDigestSigned: [] };
