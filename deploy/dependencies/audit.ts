import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { AcceptedAdvisories, judgeAudit } from './judge-audit.ts';

/**
 * `npm run audit`: compares the advisories that the registry knows for the locked packages with
 * `accepted-advisories.json`. Exits 1 for an advisory that is not accepted. A registry that answers no audits, such as a
 * mirror, is reported; with `--strict` the command then exits 2.
 */

const ACCEPTED = new URL('./accepted-advisories.json', import.meta.url);
/** Milliseconds to wait for the registry. */
const TIMEOUT_MS = 120_000;
/** Maximum size of the report in bytes. */
const REPORT_MAX_BYTES = 64 * 1024 * 1024;
const DATE_LENGTH = 'YYYY-MM-DD'.length;

const { stdout } = spawnSync('npm', ['audit', '--json'], {
  encoding: 'utf8',
  timeout: TIMEOUT_MS,
  maxBuffer: REPORT_MAX_BYTES,
});
const report = ((): { readonly auditReportVersion?: number; readonly message?: string } => {
  try {
    return JSON.parse(stdout) as { readonly auditReportVersion?: number };
  } catch {
    return { message: 'npm wrote no report' };
  }
})();
if (report.auditReportVersion === undefined) {
  console.error(
    `Dependencies NOT checked: the registry answers no audits (${report.message ?? 'no reason given'}).`,
  );
  if (process.argv.includes('--strict')) process.exitCode = 2;
} else {
  const accepted = AcceptedAdvisories.parse(JSON.parse(readFileSync(ACCEPTED, 'utf8')));
  const faults = judgeAudit(report, accepted, new Date().toISOString().slice(0, DATE_LENGTH));
  for (const fault of faults) console.error(fault);
  console.log(`${faults.length} findings, ${accepted.length} accepted`);
  if (faults.length > 0) process.exitCode = 1;
}
