import { z } from 'zod';
import { MINUTE_MS } from '#contracts/values/time.ts';
import type { ArchiveWorld } from './archive-world.ts';
import type { PlayedReply } from './played-host.ts';
import { durationMs, type WorldClock } from './world-clock.ts';
import { WorldFault, type WorldFaults } from './world-faults.ts';

const Advance = z.strictObject({ by: z.string().max(40) });

const NextFault = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('error'),
      code: z.int(),
      subcode: z.int().optional(),
      status: z.int().min(200).max(599).optional(),
      message: z.string().optional(),
      regainMinutes: z.int().min(0).optional(),
    }),
    z.strictObject({ kind: z.enum(['html', 'cut', 'large', 'network']) }),
  ])
  .nullable();

export const ArchiveFaultsInput = z.strictObject({
  next: z.array(NextFault).max(1_000).default([]),
  forgotten: z.array(z.string()).max(1_000).default([]),
  /** Minutes after the first call for a forgotten page until it is found again; without end when absent. */
  forgotten_minutes: z.int().min(1).optional(),
  refused: z.array(z.string()).max(1_000).default([]),
  ads_max: z.int().min(1).nullable().optional(),
  loops: z.boolean().optional(),
  zero_page_ids: z.boolean().optional(),
});

const FaultsBody = z.strictObject({
  faults: z.array(WorldFault).max(1_000).default([]),
  archive: ArchiveFaultsInput.optional(),
});

const reply = (status: number, body: object): PlayedReply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const refuse = (message: string, status = 400): PlayedReply => reply(status, { error: message });

export const addArchiveFaults = (
  { faults }: ArchiveWorld,
  input: z.input<typeof ArchiveFaultsInput>,
): void => {
  const {
    next,
    forgotten,
    forgotten_minutes: minutes,
    refused,
    ads_max,
    loops,
    zero_page_ids,
  } = ArchiveFaultsInput.parse(input);
  faults.next.push(...(next as typeof faults.next));
  for (const pageId of forgotten) faults.forgotten.add(pageId);
  if (minutes !== undefined) faults.forgottenForMs = minutes * MINUTE_MS;
  for (const pageId of refused) faults.refused.add(pageId);
  if (ads_max !== undefined) faults.adsMax = ads_max;
  if (loops !== undefined) faults.loops = loops;
  if (zero_page_ids !== undefined) faults.zeroPageIds = zero_page_ids;
};

export const clearArchiveFaults = ({ faults }: ArchiveWorld): void => {
  faults.next = [];
  faults.forgotten.clear();
  faults.forgottenSinceMs.clear();
  faults.refused.clear();
  const forgottenForMs = Number.POSITIVE_INFINITY;
  Object.assign(faults, { adsMax: null, loops: false, zeroPageIds: false, forgottenForMs });
};

export type Controlled = {
  /** `null` when the time of the world is that of the machine. */
  readonly clock: WorldClock | null;
  readonly now: () => Date;
  readonly archive: ArchiveWorld;
  readonly faults: WorldFaults;
  readonly advanced: () => Promise<void>;
};

const advance = async ({ clock, now, advanced }: Controlled, body: unknown): Promise<PlayedReply> => {
  if (clock === null)
    return refuse('The time of this world is that of the machine. It cannot be moved.', 409);
  const parsed = Advance.safeParse(body);
  const ms = parsed.success ? durationMs(parsed.data.by) : null;
  if (ms === null)
    return refuse('Send {"by": "P1D"}: an ISO 8601 duration of weeks, days, hours, minutes, seconds.');
  try {
    clock.advance(ms);
  } catch (error) {
    return refuse((error as Error).message);
  }
  await advanced();
  return reply(200, { now: now().toISOString() });
};

const addFaults = ({ faults, archive }: Controlled, body: unknown): PlayedReply => {
  const parsed = FaultsBody.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refuse(`${issue?.path.join('.') || 'body'}: ${issue?.message}`);
  }
  faults.add(parsed.data.faults);
  if (parsed.data.archive !== undefined) addArchiveFaults(archive, parsed.data.archive);
  return reply(200, { faults: faults.list() });
};

export const control = async (
  controlled: Controlled,
  method: string,
  path: string,
  text: string,
): Promise<PlayedReply> => {
  let body: unknown = null;
  try {
    if (text !== '') body = JSON.parse(text);
  } catch {
    return refuse('The body is not JSON.');
  }
  switch (`${method} ${path}`) {
    case 'GET /world':
      return reply(200, { now: controlled.now().toISOString(), faults: controlled.faults.list() });
    case 'POST /world/advance':
      return advance(controlled, body);
    case 'POST /world/faults':
      return addFaults(controlled, body);
    case 'DELETE /world/faults':
      controlled.faults.clear();
      clearArchiveFaults(controlled.archive);
      return reply(200, { faults: [] });
    default:
      return refuse(
        'Not found. The world has GET /world, POST /world/advance, POST and DELETE /world/faults.',
        404,
      );
  }
};
