import { basename } from 'node:path';
import { timestampOf } from '../readers/scan-key.ts';

/** Date, time and zone in a file name, such as 2026-01-31T0800Z, 2026-01-31_08-00-00+0530 or 20260131T080000Z. */
const NAMED_TIME =
  /(?<!\d)(?<year>20\d{2})-?(?<month>\d{2})-?(?<day>\d{2})[T_ -]?(?<hour>\d{2})[-:.]?(?<minute>\d{2})(?:[-:.]?(?<second>\d{2}))?(?<zone>Z|[+-]\d{2}:?\d{2})?(?!\d)/;

/**
 * Returns the time that a file's name has, in UTC. A time without zone is read with `utcOffset`. `null` when the name
 * has no date with time, or when zone and offset are both missing.
 */
export const timeInFileName = (path: string, utcOffset: string | null): string | null => {
  const groups = NAMED_TIME.exec(basename(path))?.groups;
  if (groups === undefined) return null;
  const { year, month, day, hour, minute, second = '00', zone = '' } = groups;
  const colons = zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  return timestampOf(`${year}-${month}-${day}T${hour}:${minute}:${second}${colons}`, utcOffset);
};
