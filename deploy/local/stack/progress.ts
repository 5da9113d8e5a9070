/** Lines with the seconds since the start. */
export type Progress = {
  readonly step: (text: string) => void;
  /** A terminal rewrites one line; other outputs get a line every few seconds. */
  readonly update: (text: string) => void;
};

const QUIET_UPDATE_MS = 5_000;

export const openProgress = (output: NodeJS.WriteStream, startedMs: number): Progress => {
  let isOpen = false;
  let lastUpdateMs = 0;
  const stamp = (): string => `${((Date.now() - startedMs) / 1_000).toFixed(1).padStart(6)} s  `;
  return {
    step: (text) => {
      output.write(`${isOpen ? '\n' : ''}${stamp()}${text}\n`);
      isOpen = false;
    },
    update: (text) => {
      if (output.isTTY) {
        output.write(`\r\u001b[K${stamp()}${text}`);
        isOpen = true;
      } else if (Date.now() - lastUpdateMs >= QUIET_UPDATE_MS) {
        output.write(`${stamp()}${text}\n`);
        lastUpdateMs = Date.now();
      }
    },
  };
};
