import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';

/** Owner only. */
export const PRIVATE_FILE_MODE = 0o600;
const PRIVATE_FOLDER_MODE = 0o700;
/** Others may enter the folder, but not list it. */
const ENTERED_FOLDER_MODE = 0o711;
const PASSWORD_BYTES = 18;

export const preparePrivateFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  await chmod(folder, PRIVATE_FOLDER_MODE);
};

/** The first call creates it at random, readable by the owner only. */
export const readOrCreatePassword = async (file: string): Promise<string> => {
  const existing = await readFile(file, 'utf8').catch(() => '');
  if (existing !== '') return existing;
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  await writeFile(`${file}.new`, password, { mode: PRIVATE_FILE_MODE });
  await rename(`${file}.new`, file);
  return password;
};

/**
 * As root the data folder may be entered, because PostgreSQL runs as another user inside it. An existing folder keeps
 * its mode: it may hold files of others.
 */
export const createDataFolders = async (root: string, parts: readonly string[]): Promise<void> => {
  const created = await mkdir(root, { recursive: true });
  if (created !== undefined)
    await chmod(root, process.getuid?.() === 0 ? ENTERED_FOLDER_MODE : PRIVATE_FOLDER_MODE);
  for (const part of parts) await preparePrivateFolder(part);
};
