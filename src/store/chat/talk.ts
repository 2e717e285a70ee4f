import { requestFor } from '../../base/questions.ts'
import { errorText, PhiError } from '../../contract/errors.ts'
import type { AgentMessage, PromptInput } from '../../contract/message/message.ts'
import type { ChatAgent } from '../../types/run/chat-agent.ts'
import type { ApprovalRef, ApproveOptions } from '../../types/run/question.ts'
import type { AgentRun, Receipt } from '../../types/run/run.ts'
import type { ChatBranch, ChatError, QueuedMessage } from './chat-state.ts'

/** Methods that only remote or only local agents have. */
export type SomeAgent = ChatAgent & {
  load?(options?: { loopId?: string }): Promise<unknown>
  readonly queued?: readonly (Receipt & { kind: QueuedMessage['kind'] })[]
  approve?(request: ApprovalRef, options?: ApproveOptions): Promise<void>
  deny?(request: ApprovalRef, reason?: string): Promise<void>
  replaceMessages?(messages: readonly AgentMessage[]): void
}

/** Converts an error to the state's `error`. */
export function errorOf(error: unknown): ChatError {
  return { code: PhiError.isInstance(error) ? error.code : 'failed', message: errorText(error) }
}

/**
 * Resolves with `true` when the run's input is in the conversation, or `false` if the run was refused or returned its input.
 *
 * Source: docs/guides/frameworks.md
 */
export function taken(run: AgentRun): Promise<boolean> {
  return new Promise((resolve) => {
    const stop = run.subscribe((event) => {
      if (event.type !== 'messageStart' && event.type !== 'messageEnd') return
      const { role } = event.message
      // Ignore tool results that complete an earlier turn.
      const hasFailed = event.message.role === 'assistant' && event.message.stopReason === 'error'
      if (!hasFailed && (role === 'assistant' || event.type === 'messageEnd')) resolve(true)
    })
    void run.result.then(({ returned, status }) => {
      stop()
      resolve(returned.length === 0 && status !== 'error' && status !== 'rejected')
    })
  })
}

/** A user's decision: a denial, or an approval with its options. */
interface ChatDecision {
  denied?: { reason?: string | undefined }
  approved?: ApproveOptions | undefined
}

/**
 * Approves or denies a call: in its run, over HTTP, or in a new run after its run has ended. Rejects or throws if the call is not pending.
 */
export async function decide(agent: SomeAgent, request: ApprovalRef, { denied, approved }: ChatDecision): Promise<void> {
  if (agent.approve !== undefined && agent.deny !== undefined) {
    return denied === undefined ? agent.approve(request, approved) : agent.deny(request, denied.reason)
  }
  const answer = (run: AgentRun, asked: ApprovalRef): void | Promise<void> => {
    if (denied !== undefined) return run.deny(asked, denied.reason)
    return approved === undefined ? run.approve(asked) : run.approve(asked, approved)
  }
  if (agent.currentRun !== undefined) return answer(agent.currentRun, request)
  const asked = requestFor(agent.pendingApprovals(), { toolCallId: request.toolCallId, argumentsHash: request.argumentsHash })
  const run = agent.continueLoop()
  for await (const event of run) {
    if (event.type !== 'approvalRequested' || event.toolCallId !== asked.toolCallId) continue
    return answer(run, { toolCallId: request.toolCallId, argumentsHash: request.argumentsHash })
  }
}

/** Queued messages: those that this chat queued, and those that the session already contained. */
export class Queue {
  readonly #agent: SomeAgent
  readonly #changed: () => void
  readonly #receipts = new Map<string, Receipt>()
  waiting: readonly QueuedMessage[] = []

  constructor(agent: SomeAgent, changed: () => void) {
    this.#agent = agent
    this.#changed = changed
  }

  /** Adds a session's queued messages. */
  find(): void {
    for (const receipt of this.#agent.queued ?? []) void this.#wait(receipt.kind, receipt)
  }

  say(kind: QueuedMessage['kind'], input: PromptInput): Promise<boolean> {
    return this.#wait(kind, this.#agent[kind](input))
  }

  withdraw(id: string): void {
    this.#receipts.get(id)?.withdraw()
  }

  async #wait(kind: QueuedMessage['kind'], receipt: Receipt): Promise<boolean> {
    const { message } = receipt
    if (receipt.status === 'queued' && !this.#receipts.has(message.id)) {
      this.#receipts.set(message.id, receipt)
      this.waiting = [...this.waiting, { id: message.id, kind, message }]
      this.#changed()
    }
    const outcome = await receipt.settled
    if (this.#receipts.delete(message.id)) {
      this.waiting = this.waiting.filter(({ id }) => id !== message.id)
      this.#changed()
    }
    return outcome === 'delivered'
  }
}

/** Removes the messages from index `at`: a branch to restore. */
export function branchAt(messages: readonly AgentMessage[], at: number): ChatBranch | undefined {
  const [left, last] = [messages[at], messages.at(-1)]
  if (left === undefined || last === undefined) return undefined
  const before = messages[at - 1]
  return { id: last.id, messageId: left.id, ...(before !== undefined && { afterMessageId: before.id }), messages: [...messages] }
}

/** Returns the index of the first response to the prompt that `messageId` belongs to, by default for the last prompt. */
export function answerAt(messages: readonly AgentMessage[], messageId?: string): number {
  const until = messageId === undefined ? messages.length : messages.findIndex(({ id }) => id === messageId) + 1
  return messages.slice(0, until).findLastIndex(({ role }) => role === 'user') + 1
}

/** Returns the index where two histories diverge. */
export function partingOf(some: readonly AgentMessage[], others: readonly AgentMessage[]): number {
  const at = some.findIndex(({ id }, index) => others[index]?.id !== id)
  return at < 0 ? some.length : at
}

/** Returns the loop of the branch's last message. */
export function lastLoopOf(messages: readonly AgentMessage[]): string | undefined {
  const last = messages.findLast((message) => message.role !== 'extension' && message.turnId !== undefined)
  return last === undefined || last.role === 'extension' ? undefined : last.turnId?.loopId
}
