import type { Database } from '#platform/postgres/pool.ts';

export type SendLimit = { readonly perHour: number; readonly perDay: number };

/** Nothing is appended at a limit. Times older than a day are dropped. */
const TAKE = `
  insert into sign_in.send (subject, sent_at) values ($1, array[now()])
  on conflict (subject) do update set sent_at = array(
      select at from unnest(send.sent_at) as at where at > now() - interval '1 day' order by at) || now()
  where (select count(*) < $3 and count(*) filter (where at > now() - interval '1 hour') < $2
    from unnest(send.sent_at) as at where at > now() - interval '1 day')`;

/**
 * False, with nothing counted, at a limit. The statement locks the subject's row, so concurrent requests count one by
 * one.
 */
export const takeSend = async (
  pool: Database,
  subject: string,
  { perHour, perDay }: SendLimit,
): Promise<boolean> => (await pool.query(TAKE, [subject, perHour, perDay])).rowCount === 1;
