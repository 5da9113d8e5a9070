import { Presets, SingleBar } from 'cli-progress';
import { terminalLine } from '#platform/process/terminal-output.ts';
import type { Report } from './ingest-files.ts';

type TerminalReport = Report & { stop(): void };

const REFUSALS_PRINTED_MAX = 20;

const PLAIN_STEP_PERCENT = 25;

export const terminalReport = (stream: NodeJS.WriteStream): TerminalReport =>
  withFewRefusals(stream.isTTY ? barReport(stream) : plainReport(stream));

const withFewRefusals = (report: TerminalReport): TerminalReport => {
  let refusals = 0;
  return {
    ...report,
    refused(line) {
      refusals += 1;
      if (refusals <= REFUSALS_PRINTED_MAX) report.refused(line);
      if (refusals === REFUSALS_PRINTED_MAX + 1) report.refused('… more refusals: see the totals below');
    },
    finished(totals) {
      refusals = 0;
      report.finished(totals);
    },
  };
};

const barReport = (stream: NodeJS.WriteStream): TerminalReport => {
  const format = '{bar} {percentage} % {file}';
  const bar = new SingleBar({ stream, format, clearOnComplete: true }, Presets.shades_classic);
  let shown: { readonly file: string; readonly bytesRead: number; readonly bytesTotal: number } | null = null;
  const hide = (): void => {
    if (shown !== null) bar.stop();
  };
  const show = (): void => {
    if (shown !== null) bar.start(shown.bytesTotal, shown.bytesRead, { file: shown.file });
  };
  const stop = (): void => {
    hide();
    shown = null;
  };
  return {
    progress(file, bytesRead, bytesTotal) {
      const started = shown !== null;
      shown = { file: terminalLine(file), bytesRead, bytesTotal };
      if (started) bar.update(bytesRead);
      else show();
    },
    refused(line) {
      hide();
      stream.write(`${terminalLine(line)}\n`);
      show();
    },
    finished: stop,
    stop,
  };
};

const plainReport = (stream: NodeJS.WriteStream): TerminalReport => {
  let shown = 0;
  return {
    progress(file, bytesRead, bytesTotal) {
      const percent = bytesTotal === 0 ? 100 : Math.floor((100 * bytesRead) / bytesTotal);
      if (percent < shown + PLAIN_STEP_PERCENT || percent >= 100) return;
      shown = percent;
      stream.write(`${terminalLine(file)}: ${percent} % read\n`);
    },
    refused: (line) => stream.write(`${terminalLine(line)}\n`),
    finished({ file, records, ads, scans, refused }) {
      shown = 0;
      const read =
        scans === 0 && ads === 0
          ? `${records} ${records === 1 ? 'record' : 'records'}`
          : `${ads} ${ads === 1 ? 'ad' : 'ads'} in ${scans} ${scans === 1 ? 'scan' : 'scans'}`;
      stream.write(`${terminalLine(file)}: ${read}, ${refused} refused\n`);
    },
    stop: () => {
      // No resources to release.
    },
  };
};
