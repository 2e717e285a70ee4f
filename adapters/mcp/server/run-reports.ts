import type { LoggingLevel, ProgressToken, ServerNotification } from '@modelcontextprotocol/sdk/types.js'
import { headOf } from '../../../src/base/text/characters.ts'
import type { AgentEvent, AgentRun } from '../../../src/index.ts'

/**
 * Maximum notifications per call, and maximum characters per notification, so that a client that does not read cannot exhaust the memory.
 */
const maxReports = 1000
const maxText = 500

/** Where to send a call's reports. */
export interface ReportTarget {
  notify: (notification: ServerNotification) => Promise<void>
  /** Progress token, if the client requested progress. */
  progressToken: ProgressToken | undefined
  /** Whether the client wants messages of this level. */
  wants: (level: LoggingLevel) => boolean
}

/**
 * Reports a run to a client: as progress notifications if the client requested progress, otherwise as log messages with the tool output.
 */
export function reportTo(run: AgentRun, { notify, progressToken, wants }: ReportTarget): void {
  let count = 0
  run.subscribe((event) => {
    const text = textOf(event)
    if (text === undefined || count >= maxReports) return
    const message = headOf(text, maxText)
    if (progressToken !== undefined) {
      count += 1
      // A closed connection ends the call anyway.
      notify({ method: 'notifications/progress', params: { progressToken, progress: count, message } }).catch(() => undefined)
    } else if (event.type === 'progressMessage' && wants('info')) {
      count += 1
      notify({ method: 'notifications/message', params: { level: 'info', logger: event.toolName, data: message } }).catch(() => undefined)
    }
  })
}

function textOf(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'turnStart':
      return event.turnIndex === 0 ? 'Begins' : `Turn ${event.turnIndex + 1}`
    case 'toolExecutionStart':
      return `Runs ${event.toolName}`
    case 'toolExecutionEnd':
      return `${event.toolName} ${event.isError ? 'failed' : 'is done'}`
    case 'approvalRequested':
      return `Requests approval for ${event.toolName}`
    case 'progressMessage':
      return event.text
    default:
      return undefined
  }
}
