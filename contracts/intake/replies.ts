import { z } from 'zod';
import { Count } from '../values/primitives.ts';

/** A line that was not queued. The line of the request is left out of the queue, and the others are not affected. */
export const RefusedLine = z.strictObject({
  /** Number of the line in the body, from 1. Blank lines count. */
  line: z.int().min(1),
  /** Path of the first failing field, such as `coverage.collector`; empty for the line as a whole. */
  path: z.string(),
  /** Stable name of the fault. */
  code: z.string(),
  message: z.string(),
});
export type RefusedLine = z.infer<typeof RefusedLine>;

/** Reply to `POST /intake/observations`. `accepted`: lines that are in the queue. */
export const ObservationsReply = z.strictObject({ accepted: Count, refused: z.array(RefusedLine) });
export type ObservationsReply = z.infer<typeof ObservationsReply>;

/** Reply to `PUT /intake/files/{sha256}`. A `creative.file` names the file by its `object_key`. */
export const FileReply = z.strictObject({
  sha256: z.string(),
  bytes: Count,
  content_type: z.string(),
  object_key: z.string(),
});
export type FileReply = z.infer<typeof FileReply>;
