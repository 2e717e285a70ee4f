import type { SubAgentRef } from '../../src/contract/run/run-facts.ts'
import type { AgentEvent, AgentMessage } from '../../src/index.ts'

/** What is wrong with the order of a finished run's events: an empty list means nothing. */
export function grammarFaults(events: readonly AgentEvent[]): string[] {
  const grammar = new Grammar(events.length)
  events.forEach((event, index) => {
    grammar.position(event, index)
    grammar.turn(event)
    grammar.message(event)
    grammar.call(event)
  })
  return grammar.ended()
}

/** What has begun and not ended, and what was wrong so far. */
class Grammar {
  readonly #faults: string[] = []
  readonly #count: number
  readonly #messages = new Set<string>()
  readonly #tools = new Set<string>()
  readonly #approvals = new Set<string>()
  /** Calls whose work goes on beside the run, by its id. */
  readonly #background = new Map<string, string>()
  #turn = -1
  #lastTurn = -1
  #isCompacting = false
  #mayCompactBetweenTurns = false
  #wasRejected = false
  #runId = ''

  constructor(count: number) {
    this.#count = count
  }

  position(event: AgentEvent, index: number): void {
    if (index === 0) this.#runId = event.runId
    if (event.runId !== this.#runId) this.#faults.push(`${event.type} of another run`)
    if (event.seq !== index + 1) this.#faults.push(`seq ${event.seq} at position ${index}`)
    const isLast = index === this.#count - 1
    // A beforeLoop hook that says no, or throws, leaves it alone.
    const isAlone = isLast && event.type === 'agentEnd' && (event.status === 'rejected' || event.status === 'error')
    if ((event.type === 'agentStart') !== (index === 0) && !(index === 0 && isAlone))
      this.#faults.push(`${event.type} at position ${index}`)
    if ((event.type === 'agentEnd') !== isLast) this.#faults.push(`${event.type} at position ${index} of ${this.#count}`)
    if (event.type === 'agentStart') this.#mayCompactBetweenTurns = event.continuationKind.kind === 'compaction'
    if (this.#wasRejected && !this.#isOutOfBand(event) && !isNote(event) && (event.type !== 'agentEnd' || event.status !== 'rejected'))
      this.#faults.push(`${event.type} after inputRejected`)
    this.#wasRejected = event.type === 'inputRejected' || (this.#wasRejected && event.type !== 'agentEnd')
  }

  turn(event: AgentEvent): void {
    const { type } = event
    if (type === 'turnStart') {
      if (this.#turn !== -1) this.#faults.push('turnStart inside a turn')
      if (event.turnIndex !== this.#lastTurn + 1) this.#faults.push(`turn ${event.turnIndex} after turn ${this.#lastTurn}`)
      this.#turn = event.turnIndex
      this.#lastTurn = event.turnIndex
    }
    if (type === 'inputRejected' && this.#turn !== -1) this.#faults.push('inputRejected inside a turn')
    if (outsideOfTurns.has(type) || type === 'turnStart' || this.#isOutOfBand(event)) return
    const isCompaction = type === 'compactionStarted' || type === 'compactionEnded'
    if (this.#turn === -1 && !(isCompaction && this.#mayCompactBetweenTurns) && !betweenTurns(event)) {
      this.#faults.push(`${type} outside a turn`)
    }
    if (type === 'compactionStarted' || type === 'turnRequest') this.#nothingOpen(type)
    if (isCompaction) {
      if (this.#isCompacting !== (type === 'compactionEnded')) this.#faults.push(`${type} without its pair`)
      this.#isCompacting = type === 'compactionStarted'
    } else if (this.#isCompacting) this.#faults.push(`${type} inside a compaction`)
    if (type === 'turnEnd') {
      if (this.#turn !== event.turnIndex) this.#faults.push(`turnEnd ${event.turnIndex} inside turn ${this.#turn}`)
      this.#nothingOpen(type)
      this.#turn = -1
    }
  }

  message(event: AgentEvent): void {
    if (event.type === 'messageStart') this.#begin(this.#messages, event.messageId, event.type)
    if (event.type === 'messageUpdate' && !this.#messages.has(event.messageId)) this.#faults.push('messageUpdate outside its message')
    if (event.type === 'messageEnd') this.#close(this.#messages, event.messageId, event.type)
  }

  call(event: AgentEvent): void {
    const { type } = event
    if (type === 'toolExecutionStart') {
      if (this.#approvals.has(event.toolCallId)) this.#faults.push('toolExecutionStart before the approval was resolved')
      this.#begin(this.#tools, event.toolCallId, type)
    }
    if (type === 'toolExecutionUpdate' || type === 'progressMessage' || type === 'childEvent') {
      if (!this.#tools.has(event.toolCallId) && !this.#isOutOfBand(event)) this.#faults.push(`${type} outside its call`)
    }
    if (type === 'backgroundStart') {
      if (!this.#tools.has(event.toolCallId)) this.#faults.push('backgroundStart outside its call')
      if (this.#background.has(event.backgroundId)) this.#faults.push(`backgroundStart of ${event.backgroundId} twice`)
      this.#background.set(event.backgroundId, event.toolCallId)
    }
    if (type === 'backgroundEnd' && !this.#background.delete(event.backgroundId)) this.#faults.push('backgroundEnd without its start')
    if (type === 'toolExecutionEnd') this.#close(this.#tools, event.toolCallId, type)
    if (type === 'approvalRequested') {
      const { toolCallId, subAgent } = event
      if (subAgent === undefined && this.#tools.has(toolCallId)) this.#faults.push('approvalRequested for a call that runs')
      if (subAgent !== undefined && !this.#tools.has(subAgent.toolCallId) && !this.#isOutOfBand(event))
        this.#faults.push('approvalRequested outside its sub-agent')
      this.#begin(this.#approvals, askedBy(event), type)
    }
    if (type === 'approvalResolved') this.#close(this.#approvals, askedBy(event), type)
  }

  ended(): string[] {
    this.#nothingOpen('the end')
    if (this.#background.size > 0) this.#faults.push('something goes on beside the run at the end')
    if (this.#turn !== -1 || this.#isCompacting) this.#faults.push('a turn or a compaction is still open')
    return this.#faults
  }

  /** Whether an event is of what goes on beside the run: it may come at any time. */
  #isOutOfBand(event: AgentEvent): boolean {
    if (event.type === 'backgroundStart' || event.type === 'backgroundEnd') return true
    if (!('toolCallId' in event) || event.type === 'toolExecutionStart' || event.type === 'toolExecutionEnd') return false
    const callId = 'subAgent' in event && event.subAgent !== undefined ? event.subAgent.toolCallId : event.toolCallId
    return [...this.#background.values()].includes(callId)
  }

  #begin(set: Set<string>, id: string, what: string): void {
    if (set.has(id)) this.#faults.push(`${what} of ${id} twice`)
    set.add(id)
  }

  #close(set: Set<string>, id: string, what: string): void {
    if (!set.delete(id)) this.#faults.push(`${what} of ${id} without its start`)
  }

  #nothingOpen(when: string): void {
    const asked = [...this.#approvals].filter((id) => ![...this.#background.values()].some((call) => id.startsWith(`${call}/`)))
    if (this.#messages.size + this.#tools.size + asked.length > 0) this.#faults.push(`something is open at ${when}`)
  }
}

/** The ids of calls are unique within one loop only. */
function askedBy({ toolCallId, subAgent }: { toolCallId: string; subAgent?: SubAgentRef }): string {
  return subAgent === undefined ? toolCallId : `${subAgent.toolCallId}/${subAgent.loopId}/${toolCallId}`
}

const outsideOfTurns = new Set(['agentStart', 'agentEnd', 'inputRejected', 'parallelLoopStart', 'parallelLoopEnd'])

/** What the loop itself has to say comes between turns: the limit that stopped it, the calls that wait. */
function betweenTurns(event: AgentEvent): boolean {
  if (event.type !== 'messageStart' && event.type !== 'messageEnd') return false
  return event.message.role === 'user' || event.message.role === 'extension'
}

/** A message of the application: the report that nobody was told, say. */
function isNote(event: AgentEvent): boolean {
  return (event.type === 'messageStart' || event.type === 'messageEnd') && event.message.role === 'extension'
}

/** Tool calls of finished messages that have no result right after them; failed and aborted messages do not count. */
export function unansweredCalls(messages: readonly AgentMessage[]): string[] {
  const unanswered: string[] = []
  messages.forEach((message, index) => {
    if (message.role !== 'assistant' || message.stopReason === 'error' || message.stopReason === 'aborted') return
    const after = messages.slice(index + 1)
    const end = after.findIndex((later) => later.role === 'assistant' || later.role === 'user')
    const results = (end === -1 ? after : after.slice(0, end)).flatMap((later) => (later.role === 'toolResult' ? [later.toolCallId] : []))
    for (const block of message.content) if (block.type === 'toolCall' && !results.includes(block.id)) unanswered.push(block.id)
  })
  return unanswered
}
