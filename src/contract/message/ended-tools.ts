import type { Content, ServiceToolContent } from './content.ts'

/** The error code of a provider-executed tool whose end was never reported. */
export const interrupted = 'interrupted'

/** Whether a block is a provider-executed tool that has not ended. */
export function isRunningTool(block: Content): block is ServiceToolContent {
  return block.type === 'serviceTool' && block.status === 'running'
}

/** Returns a running provider-executed tool as failed, because its response ended before its result came. */
export function interruptedTool(block: ServiceToolContent): ServiceToolContent {
  const error = { code: interrupted, message: 'The response ended before the provider reported a result of this tool.' }
  return { ...block, status: 'failed', error }
}

/** Returns the content of a response that failed or was aborted: each tool that still runs is interrupted. The same array if none runs. */
export function withToolsEnded(content: Content[]): Content[] {
  if (!content.some(isRunningTool)) return content
  return content.map((block) => (isRunningTool(block) ? interruptedTool(block) : block))
}
