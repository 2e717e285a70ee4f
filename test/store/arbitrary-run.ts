import fc from 'fast-check'
import type { Content } from '../../src/contract/message/content.ts'
import { type AgentEvent, isTextUpdate } from '../../src/contract/run/event.ts'
import { agentEnd, agentStart, asRun, type EventBody, end, start, turnStart } from './events.ts'

interface Piece {
  kind: 'text' | 'thinking' | 'toolCall'
  deltas: string[]
}

const piece: fc.Arbitrary<Piece> = fc.record({
  kind: fc.constantFrom('text', 'thinking', 'toolCall'),
  deltas: fc.array(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
})

/** A whole run: messages of random blocks in random pieces, each tool call run with random updates. */
export const anyRun: fc.Arbitrary<AgentEvent[]> = fc
  .array(fc.tuple(fc.array(piece, { maxLength: 4 }), fc.nat(4)), { minLength: 1, maxLength: 4 })
  .map((messages) => asRun([agentStart, ...messages.flatMap(([pieces, updates], index) => turn(pieces, updates, index)), agentEnd()]))

function turn(pieces: Piece[], updates: number, index: number): EventBody[] {
  const id = `m${index}`
  const deltas = pieces.flatMap((one, at) => one.deltas.map((delta) => deltaOf(id, one.kind, at, delta)))
  const calls = pieces.flatMap((one, at) => (one.kind === 'toolCall' ? toolRun(callId(id, at), updates) : []))
  return [{ ...turnStart, turnIndex: index } as EventBody, start(id), ...deltas, end(id, contentOf(id, pieces)), ...calls]
}

function deltaOf(id: string, kind: Piece['kind'], at: number, delta: string): EventBody {
  const base = { type: 'messageUpdate', messageId: id } as const
  if (kind !== 'toolCall') return { ...base, delta: { type: kind, contentIndex: at, delta } }
  return { ...base, delta: { type: 'toolCallDelta', contentIndex: at, toolCallId: callId(id, at), toolName: 'tool', delta } }
}

function contentOf(id: string, pieces: Piece[]): Content[] {
  return pieces.map((one, at) => {
    const whole = one.deltas.join('')
    if (one.kind === 'text') return { type: 'text', text: whole }
    if (one.kind === 'thinking') return { type: 'thinking', thinking: whole }
    return { type: 'toolCall', id: callId(id, at), name: 'tool', arguments: {}, invalidArguments: whole }
  })
}

function toolRun(toolCallId: string, updates: number): EventBody[] {
  const call = { toolCallId, toolName: 'tool' }
  const result = (text: string) => ({ content: [{ type: 'text' as const, text }] })
  return [
    { type: 'toolExecutionStart', ...call, args: {} },
    ...Array.from({ length: updates }, (_, n): EventBody => ({ type: 'toolExecutionUpdate', ...call, partialResult: result(`${n}`) })),
    { type: 'toolExecutionEnd', ...call, result: result('done'), isError: updates === 3 },
  ]
}

function callId(messageId: string, at: number): string {
  return `${messageId}-call-${at}`
}

/** `events` as a slow reader gets them: where `merge` says so, neighbouring deltas of one block and updates of one call become one event. */
export function coalesce(events: readonly AgentEvent[], merge: readonly boolean[]): AgentEvent[] {
  const seen: AgentEvent[] = []
  for (const [index, event] of events.entries()) {
    const last = seen.at(-1)
    const merged = last !== undefined && merge[index % merge.length] === true ? mergeTwo(last, event) : undefined
    if (merged === undefined) seen.push(event)
    else seen[seen.length - 1] = merged
  }
  return seen
}

function mergeTwo(a: AgentEvent, b: AgentEvent): AgentEvent | undefined {
  if (a.type === 'toolExecutionUpdate' && b.type === 'toolExecutionUpdate' && a.toolCallId === b.toolCallId) return b
  if (a.type !== 'messageUpdate' || b.type !== 'messageUpdate' || a.messageId !== b.messageId) return undefined
  if (!isTextUpdate(a) || !isTextUpdate(b)) return undefined
  if (a.delta.type !== b.delta.type || a.delta.contentIndex !== b.delta.contentIndex) return undefined
  return { ...b, delta: { ...b.delta, delta: a.delta.delta + b.delta.delta }, fromSeq: a.fromSeq ?? a.seq }
}
