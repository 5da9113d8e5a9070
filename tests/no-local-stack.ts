import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FOLDER = join(tmpdir(), 'ad-intelligence-tests');

/**
 * Settings that keep tests away from `.data`, the folder of `npm start`, whose secrets commands would read and whose mails and
 * files processes would share. No stack is ever started in this DATA_DIR.
 */
export const NO_LOCAL_STACK = {
  DATA_DIR: join(FOLDER, 'no-stack'),
} as const;
