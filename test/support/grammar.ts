import type { AgentEvent, AgentMessage } from '../../src/index.ts'

/** What is wrong with the order of a finished run's events: an empty list means nothing. */
export function grammarFaults(events: readonly AgentEvent[]): string[] {
  const faults: string[] = []
  const open = { turn: -1, messages: new Set<string>(), tools: new Set<string>(), approvals: new Set<string>() }
  const close = (set: Set<string>, id: string, what: string) => {
    if (!set.delete(id)) faults.push(`${what} of ${id} without its start`)
  }
  events.forEach((event, index) => {
    if (event.seq !== index + 1) faults.push(`seq ${event.seq} at position ${index}`)
    if ((event.type === 'agentStart') !== (index === 0)) faults.push(`${event.type} at position ${index}`)
    if ((event.type === 'agentEnd') !== (index === events.length - 1)) faults.push(`${event.type} at position ${index} of ${events.length}`)
    if (event.type === 'turnStart') {
      if (open.turn !== -1) faults.push('turnStart inside a turn')
      open.turn = event.turnIndex
    }
    if (event.type === 'turnEnd') {
      if (open.turn !== event.turnIndex) faults.push(`turnEnd ${event.turnIndex} inside turn ${open.turn}`)
      if (open.messages.size + open.tools.size + open.approvals.size > 0) faults.push('turnEnd with something open')
      open.turn = -1
    }
    if (event.type === 'messageStart') open.messages.add(event.messageId)
    if (event.type === 'messageUpdate' && !open.messages.has(event.messageId)) faults.push('messageUpdate outside its message')
    if (event.type === 'messageEnd') close(open.messages, event.messageId, 'messageEnd')
    if (event.type === 'toolExecutionStart') open.tools.add(event.toolCallId)
    if (event.type === 'toolExecutionUpdate' && !open.tools.has(event.toolCallId)) faults.push('toolExecutionUpdate outside its call')
    if (event.type === 'progressMessage' && !open.tools.has(event.toolCallId)) faults.push('progressMessage outside its call')
    if (event.type === 'toolExecutionEnd') close(open.tools, event.toolCallId, 'toolExecutionEnd')
    if (event.type === 'approvalRequested') open.approvals.add(event.toolCallId)
    if (event.type === 'approvalResolved') close(open.approvals, event.toolCallId, 'approvalResolved')
  })
  if (open.messages.size + open.tools.size + open.approvals.size > 0 || open.turn !== -1) faults.push('something is still open')
  return faults
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
