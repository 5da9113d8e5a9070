import { z } from 'zod';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The part of the report of `npm audit --json` that is judged. */
const AuditReport = z.object({
  auditReportVersion: z.literal(2),
  vulnerabilities: z.record(
    z.string(),
    z.object({
      via: z.array(
        z.union([
          z.string(),
          z.object({
            name: z.string(),
            title: z.string(),
            url: z.url(),
            severity: z.string(),
            range: z.string(),
          }),
        ]),
      ),
    }),
  ),
});

/** Advisories that were judged and accepted, with the reason and the last day on which that holds. */
export const AcceptedAdvisories = z.array(
  z.strictObject({
    /** Id of the advisory, the end of its address: `GHSA-…`. */
    id: z.string().regex(/^GHSA(-[0-9a-z]{4}){3}$/),
    package: z.string(),
    /** Says why it does no harm here. */
    reason: z.string().min(20),
    until: z.iso.date(),
  }),
);
export type AcceptedAdvisories = z.infer<typeof AcceptedAdvisories>;

/** Returns one sentence for each fault: an advisory that is not accepted, and an entry that ended or is not needed. */
export const judgeAudit = (
  report: unknown,
  accepted: AcceptedAdvisories,
  today: string,
): readonly string[] => {
  const { vulnerabilities } = AuditReport.parse(report);
  const found = new Map<string, string>();
  for (const { via } of Object.values(vulnerabilities)) {
    for (const advisory of via) {
      // A text names the dependency that has the advisory, which is in the report by itself.
      if (typeof advisory === 'string') continue;
      const { name, title, url, severity, range } = advisory;
      found.set(url.split('/').at(-1) ?? url, `${severity}: ${name} ${range}: ${title} (${url})`);
    }
  }
  const faults: string[] = [];
  for (const [id, text] of found) {
    const entry = accepted.find((one) => one.id === id);
    if (!entry)
      faults.push(`${text}. Update the package, or accept it in accepted-advisories.json with a reason.`);
    else if (entry.until < today)
      faults.push(`${text}. It was accepted until ${entry.until}. Judge it again.`);
  }
  for (const { id, package: name } of accepted) {
    if (!found.has(id))
      faults.push(`${id} (${name}) is accepted, but is not found any more. Remove the entry.`);
  }
  return faults;
};

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
