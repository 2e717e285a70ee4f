import type { ChatAgent } from '../../../../src/client.ts'
import type { AgentRun, InputAnswer, PendingApproval, PendingInput } from '../../../../src/index.ts'
import type { Attempts } from '../notices/notices.ts'
import { decide } from './decide.ts'
import type { Speech } from './speech.ts'

/** Actions that continue a conversation without a new message. */
export interface Runs {
  /** Allows the call that a card showed. */
  approve(request: PendingApproval): void
  deny(request: PendingApproval): void
  /** Responds to a request of a running call. */
  answer(question: PendingInput, answer: InputAnswer): void
  /** Continues an interrupted run, or a truncated response. */
  goOn(): void
  /** Regenerates the last response. */
  regenerate(): void
  /** Retries: sends the draft if it was not delivered, else lets the model respond again from the last tool result. */
  retry(): void
  compact(): void
  /** Compacts the conversation, and retries. */
  compactAndRetry(): void
}

export function createRuns(agent: ChatAgent, speech: Speech, attempt: Attempts): Runs {
  /** Its end reports the outcome. */
  const begin = (failure: string, start: () => AgentRun) => void attempt('run', failure, () => void start())

  const regenerate = () => begin('Not answered again', () => agent.regenerate())

  function isAnswered(): boolean {
    const last = agent.messages.findLast(({ role }) => role !== 'extension')
    return last?.role === 'assistant' && last.stopReason !== 'error' && last.stopReason !== 'aborted'
  }

  function goOn(): void {
    if (isAnswered()) void speech.send('Go on exactly where you stopped.')
    else begin('It did not go on', () => agent.continueLoop())
  }

  /** Tools of the last prompt do not run again. */
  function again(): AgentRun {
    const question = agent.messages.findLastIndex(({ role }) => role === 'user')
    const hasResults = agent.messages.slice(question).some(({ role }) => role === 'toolResult')
    return hasResults && !isAnswered() ? agent.continueLoop() : agent.regenerate()
  }

  function compactAndRetry(): void {
    void attempt('run', 'No room was made', async () => {
      await agent.compact().result
      again()
    })
  }

  return {
    approve: (request) => void attempt('decide', 'Not approved', () => decide(agent, request, (run, shown) => run.approve(shown))),
    deny: (request) =>
      void attempt('decide', 'Not denied', () => decide(agent, request, (run, shown) => run.deny(shown, 'The visitor said no.'))),
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
