import { basename } from 'node:path';
import { timestampOf } from '../readers/scan-key.ts';

const NAMED_TIME =
  /(?<!\d)(?<year>20\d{2})-?(?<month>\d{2})-?(?<day>\d{2})[T_ -]?(?<hour>\d{2})[-:.]?(?<minute>\d{2})(?:[-:.]?(?<second>\d{2}))?(?<zone>Z|[+-]\d{2}:?\d{2})?(?!\d)/;

/** UTC. `null` without date and time, or when neither the name nor `utcOffset` gives a zone. */
export const timeInFileName = (path: string, utcOffset: string | null): string | null => {
  const groups = NAMED_TIME.exec(basename(path))?.groups;
  if (groups === undefined) return null;
  const { year, month, day, hour, minute, second = '00', zone = '' } = groups;
  const colons = zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  return timestampOf(`${year}-${month}-${day}T${hour}:${minute}:${second}${colons}`, utcOffset);
};
