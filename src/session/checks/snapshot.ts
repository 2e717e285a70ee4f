import { SessionError } from '../../contract/errors.ts'
import type { AgentSnapshot } from '../../contract/session/snapshot.ts'
import { type Check, list, object, oneOf, readJson, typed } from './check.ts'
import { checkHistory } from './message-json.ts'

const string = typed('string')
const number = typed('number')
const json = typed('object')
const span = object({ firstId: string, lastId: string, turns: number })
const history: Check = (value, path) => void checkHistory(value, path)
const section = object({ range: span, messages: history })
const counts: Check = (value, path) => {
  json(value, path)
  const record = value as Record<string, unknown> // just shown
  for (const name in record) number(record[name], `${path}.${name}`)
}
const tag = object({
  kind: oneOf('lesson|finding|outcome|checkpoint'),
  text: string,
  createdAtTurn: number,
  abandonedNodeIds: list(number),
})
/** A `RevertRecord`. */
export const revert = object({
  id: string,
  at: number,
  category: oneOf('failure|tangent|completion|stepSummary'),
  targetNodeId: number,
  abandonedNodeIds: list(number),
  tag,
})

/** A `CompactionOverlay`. */
export const overlay = object({
  id: string,
  createdAt: number,
  loopId: string,
  'keepFirst?': span,
  keepCompacted: section,
  'keepRecent?': section,
})

/** A `PruneRecord`. */
export const prune = object({ id: string, at: number, messageIds: list(string), 'memo?': string, tokensRemoved: number })

/** A `ContextState`. */
export const contextState = object({ 'overlay?': overlay, 'prunes?': list(prune), 'reverts?': list(revert) })

const shape = object({
  createdAt: number,
  agentId: string,
  sessionId: string,
  'lastLoopId?': string,
  loopCounts: counts,
  state: contextState,
  'settings?': object({
    systemPrompt: string,
    thinking: oneOf('off|minimal|low|medium|high'),
    'maxTokens?': number,
    'temperature?': number,
    'configId?': string,
  }),
})

/**
 * Reads what `JSON.stringify(agent.checkpoint())` wrote, for `agent.restore`. Throws `SessionError`: `invalidSnapshot` for another version,
 * `invalidMessages` that names the path for what does not fit. Unknown keys are kept.
 *
 * Source: docs/concepts/continuations-and-snapshots.md
 */
export function parseSnapshot(text: string): AgentSnapshot {
  return checkSnapshot(readJson(text))
}

/** As {@link parseSnapshot}, for a value that has been read already. */
export function checkSnapshot(value: unknown): AgentSnapshot {
  json(value, 'snapshot')
  const snapshot = value as AgentSnapshot // what follows is the proof
  if (snapshot.version !== 1) throw wrongVersion()
  shape(snapshot, 'snapshot')
  return { ...snapshot, messages: checkHistory(snapshot.messages, 'snapshot.messages') }
}

function wrongVersion(): SessionError {
  return new SessionError('invalidSnapshot', 'This is no snapshot of version 1. Pass the JSON of what agent.checkpoint() returned.')
}
