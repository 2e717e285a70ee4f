import { toBase64 } from '../../../base/base64.ts'
import { sessionId as sessionIdShape } from '../../../contract/session/session.ts'
import { fits } from '../../../contract/shape/read.ts'
import { parseApprovalId } from '../../shared/client-input.ts'

/** A position in a session: the end of this loop. */
export interface SessionPlace {
  sessionId: string
  loopId: string
}

/** Id prefixes, one per object type. */
export type ReferenceKind = 'resp' | 'msg' | 'rs' | 'fc' | 'ig' | 'mcpr'

/**
 * Returns an id that encodes the object's session and position, so that no mapping needs to be stored. The id is not secret and grants no
 * access to the session.
 */
export function referenceTo(kind: ReferenceKind, { sessionId, loopId }: SessionPlace, ...rest: (string | number)[]): string {
  const tail = loopId.startsWith(`${sessionId}.`) ? loopId.slice(sessionId.length + 1) : loopId
  const bytes = new TextEncoder().encode(JSON.stringify([sessionId, tail, ...rest]))
  return `${kind}_${toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`
}

/** Parses an id of `referenceTo`, or `undefined` for any other text. */
export function placeOf(id: string): SessionPlace | undefined {
  const [sessionId, tail] = partsOf(id) ?? []
  if (typeof sessionId !== 'string' || typeof tail !== 'string') return undefined
  return { sessionId, loopId: `${sessionId}.${tail}` }
}

/** Data encoded in a response id. */
export interface NamedResponse extends SessionPlace {
  /** `seq` of the response's first event, and the number of earlier responses in the run. */
  seq: number
  answersBefore: number
  /** Agent name. */
  model: string
}

/** Parses a response id, or `undefined` for any other text. */
export function responseIn(id: string): NamedResponse | undefined {
  const place = id.startsWith('resp_') ? placeOf(id) : undefined
  const [, , seq, answersBefore, model] = partsOf(id) ?? []
  if (place === undefined || !fits(sessionIdShape, place.sessionId)) return undefined
  if (typeof seq !== 'number' || typeof answersBefore !== 'number' || typeof model !== 'string') return undefined
  return { ...place, seq, answersBefore, model }
}

/** Parses an approval-request id and returns the call reference, or `undefined` for any other text. */
export function approvalIn(id: string): ReturnType<typeof parseApprovalId> {
  const asked = partsOf(id)?.at(-1)
  return id.startsWith('mcpr_') && typeof asked === 'string' ? parseApprovalId(asked) : undefined
}

function partsOf(id: string): unknown[] | undefined {
  try {
    const coded = id.slice(id.indexOf('_') + 1)
    const binary = atob(coded.replaceAll('-', '+').replaceAll('_', '/'))
    const parts: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (char) => char.charCodeAt(0))))
    return Array.isArray(parts) ? parts : undefined
  } catch {
    return undefined
  }
}
