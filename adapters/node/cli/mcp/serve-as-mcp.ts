import type { Logger } from '../../../../src/index.ts'
import { serveMcpStdio } from '../../mcp/stdio.ts'
import type { CliArguments } from '../args.ts'
import { openAssistant } from '../assistant/assistant.ts'

/** Options for `serveAsMcp`. */
interface McpServingOptions {
  args: CliArguments
  logger: Logger
  version: string
}

/**
 * Serves the agent of this directory as an MCP server over stdio until the client disconnects. Resolves with the exit code.
 *
 * **Contract**
 * - Each call is a separate conversation. Approval requests are sent to the client's user, unless `--mode` or a stored rule allows the
 *   call.
 * - No other code may write to standard output.
 */
export async function serveAsMcp({ args, logger, version }: McpServingOptions): Promise<number> {
  const assistant = await openAssistant(args, { isLive: false, logger })
  const { permissions, root } = assistant
  const callee = () => {
    const agent = assistant.agent.with({ messages: [] })
    agent.subscribe((event) => {
      if (event.type === 'approvalRequested' && permissions.allows(event)) agent.currentRun?.approve(event)
    })
    return agent
  }
  const description = `An assistant that reads, changes and runs files in ${root}. Describe the task with all the context it needs.`
  let code = 0
  try {
    const connection = await serveMcpStdio({ name: 'phi', version, agents: { phi: { title: 'phi', description, agent: callee } }, logger })
    const stop = (signal: NodeJS.Signals) => {
      code = signal === 'SIGINT' ? 130 : 143
      void connection.close()
    }
    process.on('SIGINT', stop).on('SIGTERM', stop)
    await connection.ended
    process.off('SIGINT', stop).off('SIGTERM', stop)
    return code
  } finally {
    await assistant.close()
  }
}
