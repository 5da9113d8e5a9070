import type { CallToolResult } from '@modelcontextprotocol/server';
import { cleanText, errorResult } from '../output/result.ts';
import type { Tool } from '../tools/define-tool.ts';
import { createToolContext, type McpCall, type McpDependencies } from './call.ts';
import { withinCallTime } from './call-limits.ts';
import { sentenceOf } from './failure.ts';

const FAULTS_MAX = 5;
const FAULT_MAX_LENGTH = 200;

export const callTool = async (
  { input, run, kind }: Tool,
  args: unknown,
  call: McpCall,
  dependencies: McpDependencies,
): Promise<CallToolResult> => {
  const checked = input.safeParse(args ?? {});
  if (!checked.success) {
    const faults = checked.error.issues
      .slice(0, FAULTS_MAX)
      .map(({ path, message }) =>
        cleanText(`${path.join('.') || 'arguments'}: ${message}`).slice(0, FAULT_MAX_LENGTH),
      );
    return errorResult(`The arguments were rejected. ${faults.join('; ')}.`);
  }
  try {
    return await withinCallTime(run(checked.data as never, createToolContext(call, dependencies)));
  } catch (error) {
    return errorResult(sentenceOf(error, call.requestId, dependencies.log, kind === 'writer'));
  }
};
