import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';

/** The names that distributions give it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Where a Chromium is: `CHROMIUM_PATH`, or the first on the PATH. `null`: none, and what needs one says so. */
export const findChromium = (): string | null => {
  const settings = readSettings(
    z.object({ CHROMIUM_PATH: z.string().optional(), PATH: z.string().default('') }),
  );
  if (settings.CHROMIUM_PATH !== undefined) return settings.CHROMIUM_PATH;
  const folders = settings.PATH.split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable) ?? null;
};

/** Started as root it runs without its sandbox, and in a container without shared memory of its own. */
export const CHROMIUM_ARGUMENTS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
