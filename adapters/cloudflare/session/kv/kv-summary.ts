import { sessionStatus } from '../../../../src/contract/session/session.ts'
import type { SessionSummary } from '../../../../src/session.ts'
import { summaryPrefix } from './kv-key.ts'

/** Bytes of metadata for texts. KV allows 1,024 bytes, some of which times, counts and punctuation need. */
const maxMetadataBytes = 1024
/** Maximum metadata bytes for the agent id, as JSON. */
export const maxAgentIdBytes = 900

const encoder = new TextEncoder()

/** Returns the metadata for a summary. The title gets the remaining space. */
export function summaryMetadata({ sessionId: _, title = '', error: __, ...metadata }: SessionSummary): object {
  for (let shown = title; shown !== ''; shown = shorter(shown)) {
    const whole = { ...metadata, title: shown }
    if (bytesOf(whole) <= maxMetadataBytes) return whole
  }
  const { owner: _owner, ...rest } = metadata
  return bytesOf(metadata) <= maxMetadataBytes ? metadata : rest
}

/** Shortens a title by at least one character, without splitting characters. */
function shorter(title: string): string {
  const kept = [...title.replace(/…$/, '')].slice(0, -1).join('').trimEnd()
  return kept === '' ? '' : `${kept}…`
}

/** Returns the bytes of `value` as JSON. */
export function bytesOf(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length
}

/** Parses a key's metadata. Invalid metadata becomes an unreadable session. */
export function summaryFrom(name: string, metadata: unknown): SessionSummary {
  const sessionId = name.slice(summaryPrefix.length, -1)
  const fields: Record<string, unknown> = typeof metadata === 'object' && metadata !== null ? { ...metadata } : {}
  const { agentId, createdAt, lastActiveAt, owner, title, status: stands } = fields
  if (typeof agentId === 'string' && typeof createdAt === 'number' && typeof lastActiveAt === 'number') {
    const counts = { loops: countOf(fields.loops), messages: countOf(fields.messages) }
    const status = sessionStatus.words.find((word) => word === stands)
    return {
      sessionId,
      agentId,
      createdAt,
      lastActiveAt,
      ...counts,
      ...(typeof owner === 'string' && { owner }),
      ...(status && { status }),
      ...(typeof title === 'string' && { title }),
    }
  }
  const message = `The list entry of session ${sessionId} is unreadable. Open the session, or delete it.`
  return { sessionId, agentId: '', createdAt: 0, lastActiveAt: 0, loops: 0, messages: 0, error: { code: 'io', message } }
}

function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
