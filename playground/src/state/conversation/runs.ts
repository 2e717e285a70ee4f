import type { AgentRun, InputAnswer, JsonObject, JsonSchema, PendingApproval, PendingInput } from '../../../../src/index.ts'
import type { ChatPort } from '../backend/chat-port.ts'
import type { Attempts } from '../notices/notices.ts'
import { decide } from './decide.ts'
import type { Speech } from './speech.ts'

/** Actions that continue a conversation without a new message. */
export interface Runs {
  /** Allows the call that a card showed, with other arguments if given. */
  approve(request: PendingApproval, args?: JsonObject): void
  /**
   * Returns the parameters of the tool that a request is for. They are available only as JSON Schema, and only if this page runs the agent.
   */
  parametersOf(request: PendingApproval): JsonSchema | undefined
  deny(request: PendingApproval): void
  /** Responds to a request of a running call. */
  answer(question: PendingInput, answer: InputAnswer): void
  /** Continues an interrupted run, or a truncated response. */
  goOn(): void
  /** Regenerates the last response. */
  regenerate(): void
  /** Sends the draft again if it was not delivered. Otherwise lets the model respond again from the last tool result. */
  retry(): void
  compact(): void
  /** Compacts the conversation and retries. */
  compactAndRetry(): void
}

export function createRuns({ agent, tools }: Pick<ChatPort, 'agent' | 'tools'>, speech: Speech, attempt: Attempts): Runs {
  /** The run's end reports the outcome. */
  const begin = (failure: string, start: () => AgentRun) => void attempt('run', failure, () => void start())

  const regenerate = () => begin('Not answered again', () => agent.regenerate())

  function isAnswered(): boolean {
    const last = agent.messages.findLast(({ role }) => role !== 'extension')
    return last?.role === 'assistant' && last.stopReason !== 'error' && last.stopReason !== 'aborted'
  }

  function goOn(): void {
    if (isAnswered()) void speech.send('Continue exactly where you stopped.')
    else begin('The run did not continue', () => agent.continueLoop())
  }

  /** The tools of the last prompt must not run again. */
  function again(): AgentRun {
    const question = agent.messages.findLastIndex(({ role }) => role === 'user')
    const hasResults = agent.messages.slice(question).some(({ role }) => role === 'toolResult')
    return hasResults && !isAnswered() ? agent.continueLoop() : agent.regenerate()
  }

  function compactAndRetry(): void {
    void attempt('run', 'Compaction failed', async () => {
      await agent.compact().result
      again()
    })
  }

  return {
    approve: (request, args) =>
      void attempt('decide', 'Not approved', () =>
        decide(agent, request, (run, shown) => (args === undefined ? run.approve(shown) : run.approve(shown, { arguments: args }))),
      ),
    parametersOf: ({ toolName, subAgent }) => {
      const tool = subAgent === undefined ? tools?.().find(({ name }) => name === toolName) : undefined
      return tool === undefined || '~standard' in tool.parameters ? tool?.jsonSchema : tool.parameters
    },
    deny: (request) =>
      void attempt('decide', 'Not denied', () => decide(agent, request, (run, shown) => run.deny(shown, 'The user denied this call.'))),
    answer: (question, given) =>
      void attempt('decide', 'Not answered', () => {
        const run = agent.currentRun
        // A second click finds nothing.
        if (run?.pendingInputs().some(({ inputId }) => inputId === question.inputId)) run.answer(question, given)
      }),
    goOn,
    regenerate,
    retry: () => (speech.isUnheard() ? void speech.submit('steer') : begin('Not answered again', again)),
    compact: () => begin('Not compacted', () => agent.compact()),
    compactAndRetry,
  }
}
