import type { StreamDelta } from '../../src/contract/model/request.ts'
import type { ProgressMessageEvent, ToolExecutionUpdateEvent } from '../../src/contract/run/call-event.ts'
import type { AgentEvent, ChildEvent, MessageUpdateEvent } from '../../src/contract/run/event.ts'
import type { TurnStartEvent } from '../../src/contract/run/turn-event.ts'

/** Makes the events of one run, numbered from 1. */
export class RunEvents {
  seq = 0

  /** A delta of text, of block `contentIndex` of message `messageId`. */
  text(delta: string, messageId = 'm1', contentIndex = 0): MessageUpdateEvent {
    return this.delta({ type: 'text', contentIndex, delta }, messageId)
  }

  delta(delta: StreamDelta, messageId = 'm1'): MessageUpdateEvent {
    return { ...this.#base(), type: 'messageUpdate', messageId, delta }
  }

  toolUpdate(toolCallId: string, text: string): ToolExecutionUpdateEvent {
    return {
      ...this.#base(),
      type: 'toolExecutionUpdate',
      toolCallId,
      toolName: 'tool',
      partialResult: { content: [{ type: 'text', text }] },
    }
  }

  /** Two kinds of events that never drop for an attached reader. */
  turn(): TurnStartEvent {
    return { ...this.#base(), type: 'turnStart', turnIndex: 0, triggeredBy: 'user' }
  }

  progress(text: string, toolCallId = 'c1'): ProgressMessageEvent {
    return { ...this.#base(), type: 'progressMessage', toolCallId, toolName: 'tool', text }
  }

  /** An event of a child loop, passed on by a call of this run. */
  child(event: AgentEvent): ChildEvent {
    return { ...this.#base(), type: 'childEvent', toolCallId: 'c1', toolName: 'helper', event }
  }

  #base() {
    this.seq++
    return { runId: 'r1', seq: this.seq, at: 1_760_000_000_000 + this.seq, sessionId: 's1', loopId: 'l1' }
  }
}

/** Everything a reader still gives, once its log is closed. */
export async function drain(reader: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const events: AgentEvent[] = []
  for await (const event of reader) events.push(event)
  return events
}

/** The text of all deltas, in order. */
export function textIn(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.type === 'messageUpdate' && 'delta' in event.delta ? event.delta.delta : '')).join('')
}
