import { ConfigError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { PendingClientCall } from '../../contract/run/run-facts.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { withMethods } from '../../contract/shape/shape.ts'
import type { AgentRun } from '../../types/run/run.ts'
import type { ToolTypesByName } from '../../types/tool/typed-tool.ts'
import type { AnyTools, ClientTools } from './client-tools.ts'
import { PageTools } from './page-tools.ts'

/** An agent in this process, as far as it matters here. */
interface LocalAgent {
  readonly currentRun: AgentRun | undefined
  pendingClientCalls(): PendingClientCall[]
  subscribe(listener: (event: AgentEvent) => void): () => void
}

/**
 * Runs the calls of an agent in this process whose tools are of pages, as `session.tools` does for one on a server; returns how to stop. Calls that a run has left
 * wait until it is continued. Throws `ConfigError` `invalidOption` for what is no tool.
 *
 * Source: docs/concepts/client-tools.md
 */
export function runClientTools<Tools extends ToolTypesByName = AnyTools>(agent: LocalAgent, handlers: ClientTools<Tools>): () => void {
  checkOptions(agent, withMethods('an Agent', 'subscribe', 'pendingClientCalls'), 'agent')
  const runOf = (): AgentRun => {
    const { currentRun } = agent
    if (currentRun === undefined) throw new ConfigError('unknownCall', 'No run is on that waits for this call.')
    return currentRun
  }
  const tools = new PageTools({
    pendingClientCalls: () => agent.currentRun?.pendingClientCalls() ?? [],
    claimCall: async (request, clientId) => runOf().claimCall(request, clientId),
    answerCall: async (request, answer, clientId) => runOf().answerCall(request, answer, clientId),
    subscribe: (listener) => agent.subscribe(listener),
  })
  return tools.add(handlers)
}
