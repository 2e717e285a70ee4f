import type { AgentRun, PendingClientCall } from '../../../../src/index.ts'
import { answerWithoutPage } from '../../../mcp/internal.ts'
import type { Screen } from '../terminal/screen.ts'

/** What a terminal does with calls that a page is to run. */
export interface PageCallDesk {
  screen: Screen
  /** Whether a page shares the session. */
  hasPage: boolean
}

/** A call that a page is to run, in a terminal: it is left to the page that shares the session, or else fails at once. The person is told which. */
export function askPage(run: AgentRun, call: PendingClientCall, { screen, hasPage }: PageCallDesk): void {
  const waits = 'It waits for a page that has it: one of your own that shows this session, at the address of /open.'
  const fails = 'Nobody can run it in a terminal, and the model is told so. Serve the agent with phi serve, to a page that has it.'
  screen.line(screen.paint.paint('yellow', `? ${call.toolName} is a tool of a page. ${hasPage ? waits : fails}`))
  if (!hasPage) answerWithoutPage(run, call)
}
