import { errorText } from '../../../../src/contract/errors.ts'
import { type Agent, ConfigError, type ToolResult, textOf } from '../../../../src/index.ts'
import { createBudget } from '../../../../src/loop.ts'
import { callLines } from '../render/call-lines.ts'
import type { Screen } from '../terminal/screen.ts'

/** Maximum output lines to show. */
const shownLines = 40

/**
 * Runs a `!` command like the model's `bash`, without approval because the user typed it. Adds the result to the agent's history. Rejects
 * with `ConfigError` if the agent has no `bash`.
 */
export async function runTyped(command: string, agent: Agent, screen: Screen, signal: AbortSignal): Promise<void> {
  const bash = agent.settings.tools.find(({ name }) => name === 'bash')
  if (bash === undefined) throw new ConfigError('invalidOption', 'Cannot run the command: this agent has no bash tool.')
  const begun = performance.now()
  const { result, isError } = await outcomeOf(async () =>
    bash.execute(
      { command },
      {
        context: undefined,
        toolCallId: 'typed',
        toolName: bash.name,
        sessionId: agent.sessionId,
        loopId: 'typed',
        signal,
        budget: createBudget({}),
        update: () => undefined,
        progress: () => undefined,
        data: () => undefined,
        childEvent: () => undefined,
        changeContext: () => undefined,
      },
    ),
  )
  const ms = performance.now() - begun
  for (const line of callLines({ toolName: bash.name, subject: command, ms, isError, result, shownLines }, screen.paint, screen.width))
    screen.line(line)
  const text = `I ran this command myself:\n$ ${command}\n\n<output>\n${textOf(result.content)}\n</output>`
  agent.appendMessage({ role: 'user', content: [{ type: 'text', text }], timestamp: Date.now() })
}

async function outcomeOf(run: () => Promise<unknown>): Promise<{ result: ToolResult; isError: boolean }> {
  try {
    const output = await run()
    const { content, isError = false }: Partial<ToolResult> & { isError?: boolean } = Object(output)
    const text = typeof output === 'string' ? output : JSON.stringify(output)
    return { result: { content: content ?? [{ type: 'text', text }] }, isError }
  } catch (error) {
    return { result: { content: [{ type: 'text', text: errorText(error) }] }, isError: true }
  }
}
