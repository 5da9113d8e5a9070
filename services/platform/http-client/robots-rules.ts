import { createRequire } from 'node:module';

/** The CommonJS module's types declare a default export that it does not have. */
type RobotsParser = (
  url: string,
  text: string,
) => {
  isAllowed(url: string, userAgent: string): boolean | undefined;
  getCrawlDelay(userAgent: string): number | undefined;
};
const parseRobots = createRequire(import.meta.url)('robots-parser') as RobotsParser;

/** Name of this service in a robots.txt (RFC 9309, 2.2.1). */
export const ROBOT_NAME = 'ad-intelligence';
/** Limit of RFC 9309, 2.5. */
export const ROBOTS_MAX_BYTES = 500 * 1024;

/** Each wildcard takes time for each character of an address, and the site chooses both. */
const WILDCARDS_MAX = 10;
const RULE = /^(\s*(dis)?allow\s*:)(.*)$/i;

/** A rule with too many wildcards forbids what its beginning matches, and allows nothing. */
const boundedLine = (line: string): string => {
  const [, name, forbids, path = ''] = RULE.exec(line) ?? [];
  if (name === undefined) return line;
  const parts = path.replaceAll(/\*{2,}/g, '*').split('*');
  if (parts.length - 1 <= WILDCARDS_MAX) return `${name}${parts.join('*')}`;
  return forbids === undefined ? name : `${name}${parts.slice(0, WILDCARDS_MAX + 1).join('*')}`;
};

export type RobotsRules = {
  /** True only when the rules state it: a URL of another origin is not allowed. */
  allows(url: URL): boolean;
  /** `null` when the site requests no delay. */
  readonly crawlDelaySeconds: number | null;
};

export const robotsRulesOf = (origin: string, text: string): RobotsRules => {
  const lines = text.split(/\r\n|\r|\n/).map(boundedLine);
  const robots = parseRobots(`${origin}/robots.txt`, lines.join('\n'));
  const seconds = robots.getCrawlDelay(ROBOT_NAME);
  return {
    allows: (url) => robots.isAllowed(url.href, ROBOT_NAME) === true,
    crawlDelaySeconds: seconds !== undefined && Number.isFinite(seconds) && seconds >= 0 ? seconds : null,
  };
};
