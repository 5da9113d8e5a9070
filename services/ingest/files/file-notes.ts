import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { AD_URL_MAX_CHARACTERS, type Shortened } from '#contracts/observations/shorten-ad.ts';
import { counted } from './file-contents.ts';
import type { RefusedItem } from './file-item.ts';
import { stemOf } from './file-plan.ts';
import type { Remark } from '../readers/record.ts';
import { createFile } from './rejects-file.ts';

/** More lines are shown when no file may hold the whole list. */
const LINES_SHOWN_MAX = { withFile: 20, alone: 1_000 } as const;

/** Shows the first remarks about single ads, and writes a longer list whole to `<file>.<name>.txt`. */
export class FileNotes implements AsyncDisposable {
  readonly #stem: string | null;
  #handle: FileHandle | null = null;
  readonly shown: string[] = [];
  count = 0;
  /** Counts, for lists whose reasons are constant texts. */
  readonly reasons = new Map<string, number>();
  /** `null` when all lines are shown, or nothing may be written. */
  path: string | null = null;

  constructor(source: string, name: string, directory: string | null) {
    this.#stem = directory === null ? null : join(directory, `${stemOf(source)}.${name}`);
  }

  async add(line: string): Promise<void> {
    this.count += 1;
    if (this.count <= (this.#stem === null ? LINES_SHOWN_MAX.alone : LINES_SHOWN_MAX.withFile)) {
      this.shown.push(line);
      return;
    }
    if (this.#stem === null) return;
    if (this.#handle === null) {
      const { path, handle } = await createFile(this.#stem, 'txt');
      this.#handle = handle;
      this.path = path;
      await handle.write(`${this.shown.join('\n')}\n`);
    }
    await this.#handle.write(`${line}\n`);
  }

  async addReason(file: string, { line, reason, name }: Remark): Promise<void> {
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
    if (name !== null) await this.add(`${file}:${line}: ${name}: ${reason}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
  }
}

/** Ad or record. Empty when the line, or the reason itself, identifies it. */
export const nameOf = ({ adId, record, what }: RefusedItem): string => {
  if (adId !== null) return `ad ${adId}: `;
  return record === null || what.startsWith(`record ${record} `) ? '' : `record ${record}: `;
};

export const shortenedText = ({ texts, urls, entries }: Readonly<Shortened>): string =>
  [
    ...(texts === 0 ? [] : [`${counted(texts, 'text')} cut`]),
    ...(urls === 0
      ? []
      : [`${counted(urls, 'URL')} of more than ${AD_URL_MAX_CHARACTERS} characters left out`]),
    ...(entries === 0 ? [] : [`${entries} list ${entries === 1 ? 'entry' : 'entries'} left out`]),
  ].join(', ');
