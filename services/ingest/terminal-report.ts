import { MultiBar, Presets, type SingleBar } from 'cli-progress';
import type { Report } from './ingest-files.ts';

type TerminalReport = Report & { stop(): void };

/** Where no terminal shows a bar, a line each time so much more of a file is read. */
const PLAIN_STEP_PERCENT = 25;

export const terminalReport = (stream: NodeJS.WriteStream): TerminalReport =>
  stream.isTTY ? barReport(stream) : plainReport(stream);

const barReport = (stream: NodeJS.WriteStream): TerminalReport => {
  const bars = new MultiBar(
    { stream, format: '{bar} {percentage} % {file}', clearOnComplete: true },
    Presets.shades_classic,
  );
  let current: { file: string; bar: SingleBar } | null = null;
  return {
    progress(file, bytesRead, bytesTotal) {
      if (current?.file !== file) current = { file, bar: bars.create(bytesTotal, 0, { file }) };
      current.bar.update(bytesRead);
    },
    refused: (line) => bars.log(`${line}\n`),
    finished() {
      if (current !== null) bars.remove(current.bar);
      current = null;
    },
    stop: () => bars.stop(),
  };
};

const plainReport = (stream: NodeJS.WriteStream): TerminalReport => {
  let shown = 0;
  return {
    progress(file, bytesRead, bytesTotal) {
      const percent = bytesTotal === 0 ? 100 : Math.floor((100 * bytesRead) / bytesTotal);
      if (percent < shown + PLAIN_STEP_PERCENT || percent >= 100) return;
      shown = percent;
      stream.write(`${file}: ${percent} % read\n`);
    },
    refused: (line) => stream.write(`${line}\n`),
    finished({ file, ads, scans, refused }) {
      shown = 0;
      stream.write(`${file}: ${ads} ads in ${scans} ${scans === 1 ? 'scan' : 'scans'}, ${refused} refused\n`);
    },
    stop: () => {
      // Nothing is held open.
    },
  };
};
