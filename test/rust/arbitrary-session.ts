import fc from 'fast-check'
import type { JsonObject } from '../../src/contract/json.ts'
import type { LoopRecord, LoopStatus, Session } from '../../src/contract/session/session.ts'
import { usageOf } from '../session/tree.ts'
import { message } from './arbitrary.ts'

/** All the crate knows. */
export const crateEvents =
  `AgentStart AgentEnd TurnStart TurnRequest TurnEnd MessageStart MessageUpdate MessageEnd ToolExecutionStart ToolExecutionUpdate
  ToolExecutionEnd ProgressMessage InputRejected ParallelLoopStart ParallelLoopEnd CompactionStarted CompactionEnded PrunApplied RevertApplied`.split(
    /\s+/,
  )

/** The loops of a session in the crate's JSON. */
export function loopsIn(spec: JsonObject): JsonObject[] {
  const { loops } = spec
  return Array.isArray(loops) ? loops.map((entry) => Object(entry)) : []
}

/** Any tree that a recorder or a log may hold. */
export function arbitrarySession(): fc.Arbitrary<Session> {
  const at = fc.integer({ min: 0, max: 4_000_000_000_000 })
  const word = fc.string({ unit: 'grapheme' })
  const usage = fc.nat().map(usageOf)
  const messages = fc.array(message, { maxLength: 3 })
  // A turn's answer is of that turn, or says of none.
  const output = message.map((made) => {
    const { turnId: _, ...rest } = { turnId: undefined, ...made }
    return rest as typeof made // only an optional key is gone
  })
  const turns = fc.array(
    fc.record({
      turnId: fc.constant({ loopId: 'l', turnIndex: 0 }),
      triggeredBy: fc.constantFrom('user', 'subAgent', 'continuation', 'branch'),
      usage,
      inputMessages: messages,
      outputMessage: output,
      toolResults: messages,
      startedAt: at,
      endedAt: at,
    }),
    { maxLength: 2 },
  )
  const status = fc.constantFrom<LoopStatus>(
    'completed',
    'error',
    'aborted',
    'limit',
    'paused',
    'rejected',
    'running',
    'pending',
    'interrupted',
  )
  const required = {
    loopId: word,
    sessionId: word,
    agentId: word,
    startedAt: at,
    status,
    messages,
    turns,
    usage,
    childrenLoopIds: fc.array(word, { maxLength: 2 }),
  }
  const continuationKind = fc.oneof(
    fc.record({ kind: fc.constantFrom('initial', 'default', 'compaction') }),
    fc.record({ kind: fc.constantFrom('rerun', 'branch'), tag: word }),
  )
  const childLoopRefs = fc.array(fc.record({ toolCallId: word, toolName: word, childLoopId: word, childSessionId: word }), { maxLength: 2 })
  const optional = {
    parentLoopId: word,
    endedAt: at,
    rejection: word,
    error: fc.record({ code: word, message: word }),
    config: fc.record(
      { model: word, provider: word, thinkingLevel: fc.constantFrom('off', 'high'), maxTokens: fc.nat() },
      { requiredKeys: ['model', 'provider'] },
    ),
    metadata: fc.record({ k: word }),
    parallelGroup: fc.record(
      {
        allLoopIds: fc.array(word),
        selectedLoopId: word,
        selectedConfigIndex: fc.nat(),
        evaluationUsage: usage,
        reason: word,
        isSelected: fc.boolean(),
      },
      { requiredKeys: ['allLoopIds', 'selectedLoopId', 'selectedConfigIndex', 'evaluationUsage', 'isSelected'] },
    ),
    prunes: fc.array(fc.record({ id: word, at, messageIds: fc.array(word), tokensRemoved: fc.nat() })),
  }
  const loops = fc
    .tuple(
      fc.record({ ...required, continuationKind, childLoopRefs, events: fc.constant<LoopRecord['events']>([]) }),
      fc.record(optional, { requiredKeys: [] }),
    )
    .map(([all, some]) => ({ ...all, ...some }) as LoopRecord) // every field has a value of its type
  const formation = fc.oneof(
    fc.record({ type: fc.constantFrom('firstLoop', 'explicit'), at }),
    fc.record(
      { type: fc.constant('inactivityTimeout'), at, thresholdSecs: fc.nat(), previousSessionId: word },
      { requiredKeys: ['type', 'at', 'thresholdSecs'] },
    ),
  )
  const header = {
    sessionId: word,
    agentId: word,
    createdAt: at,
    lastActiveAt: at,
    formation,
    scope: fc.constantFrom('ephemeral', 'persistent'),
  }
  const parentSpawnRef = fc.record({ parentSessionId: word, parentLoopId: word, toolCallId: word, toolName: word })
  return fc
    .tuple(fc.record({ ...header, loops: fc.array(loops, { maxLength: 3 }) }), fc.record({ parentSpawnRef }, { requiredKeys: [] }))
    .map(([all, some]) => ({ ...all, ...some }) as Session) // every field has a value of its type
}
