import type { AgentEvent, MessageUpdateEvent } from '../types/event.ts'

/** What must survive coalescing. */
export interface CoalesceOptions {
  /** The last `seq` each reader got, ascending: what lies on either side of a cursor stays apart. */
  cursors: readonly number[]
  /** Most characters of text in one coalesced event, so that none is copied more than a few times. */
  maxChars: number
  /** Whether a newer update of the same tool call is remembered. */
  isSuperseded: (update: AgentEvent & { type: 'toolExecutionUpdate' }) => boolean
}

/**
 * Fewer events that say the same: deltas of one block that follow each other become one, superseded tool updates go.
 *
 * **Contract**
 * - Pure: events that stay are the same objects in the same order; a joined one is new and covers `fromSeq` to `seq`.
 * - No joined event reaches across a cursor, so a reader gets each piece of text exactly once.
 * - Joined text is one flat string.
 */
export function coalesce(events: readonly AgentEvent[], options: CoalesceOptions): AgentEvent[] {
  const { cursors, maxChars } = options
  const kept: AgentEvent[] = []
  let run: MessageUpdateEvent[] = []
  let chars = 0
  let nextCursor = 0

  function flush(): void {
    const [first] = run
    if (first !== undefined) kept.push(run.length === 1 ? first : join(first, run))
    run = []
    chars = 0
  }

  /** Whether a reader stands after `last` and before `event`. */
  function isParted(last: MessageUpdateEvent, event: MessageUpdateEvent): boolean {
    let cursor = cursors[nextCursor]
    while (cursor !== undefined && cursor < last.seq) cursor = cursors[++nextCursor]
    return cursor !== undefined && cursor < event.seq
  }

  for (const event of events) {
    if (event.type === 'toolExecutionUpdate' && options.isSuperseded(event)) continue
    if (event.type !== 'messageUpdate') {
      flush()
      kept.push(event)
      continue
    }
    const last = run.at(-1)
    if (last !== undefined) {
      const fits = chars + event.delta.delta.length <= maxChars
      if (!fits || !isSameBlock(last, event) || isParted(last, event)) flush()
    }
    run.push(event)
    chars += event.delta.delta.length
  }
  flush()
  return kept
}

function isSameBlock(a: MessageUpdateEvent, b: MessageUpdateEvent): boolean {
  return (
    a.messageId === b.messageId &&
    a.delta.type === b.delta.type &&
    a.delta.contentIndex === b.delta.contentIndex &&
    (a.delta.type !== 'toolCallDelta' || b.delta.type !== 'toolCallDelta' || a.delta.toolCallId === b.delta.toolCallId)
  )
}

/** One event for a run of at least one; `first` is its first element. */
function join(first: MessageUpdateEvent, run: readonly MessageUpdateEvent[]): MessageUpdateEvent {
  const last = run.at(-1) ?? first
  const text: string[] = []
  for (const event of run) text.push(event.delta.delta)
  return { ...last, delta: { ...last.delta, delta: text.join('') }, fromSeq: first.fromSeq ?? first.seq }
}
