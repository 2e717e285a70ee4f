import { raceAbort } from '../base/abort.ts'
import { type AgentMessage, isLlmMessage, type Message, withId } from '../types/message.ts'
import type { LoopConfig } from './loop-config.ts'

/** What is sent of `entries` after `transformContext`, as entries and as messages. */
export interface TransformedEntries {
  entries: readonly AgentMessage[]
  messages: readonly Message[]
}

/**
 * Runs `transformContext` and `convertToLlm`. They get copies, so that what they change in place is sent but never gets into the history;
 * messages they did not change keep their identity, because what is encoded is remembered by it. Rejects with what they throw, or with the
 * signal's reason.
 */
export async function applyContextCallbacks(
  { transformContext, convertToLlm }: LoopConfig,
  history: readonly AgentMessage[],
  signal: AbortSignal,
): Promise<TransformedEntries> {
  const entries =
    transformContext === undefined
      ? history
      : (await onCopies(history, (copies) => raceAbort(transformContext(copies, signal), signal))).map(withId)
  const messages =
    convertToLlm === undefined ? entries.filter(isLlmMessage) : await onCopies(entries, (copies) => raceAbort(convertToLlm(copies), signal))
  return { entries, messages }
}

async function onCopies<T>(entries: readonly AgentMessage[], callback: (copies: AgentMessage[]) => Promise<readonly T[]>): Promise<T[]> {
  const originals = new Map<unknown, AgentMessage>()
  const copies = entries.map((entry) => {
    const copy = copyOf(entry)
    originals.set(copy, entry)
    return copy
  })
  const returned = await callback(copies)
  return returned.map((message) => {
    const original = originals.get(message)
    return isSame(message, original) ? original : message
  })
}

/** Of plain JSON; strings, which are all that is large, are shared. */
function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  const copy: T = Array.isArray(value) ? Object.assign([], value) : { ...value }
  for (const key in copy) copy[key] = copyOf(copy[key])
  return copy
}

function isSame<T>(value: T, other: unknown): other is T {
  if (Object.is(value, other)) return true
  if (typeof value !== 'object' || typeof other !== 'object' || value === null || other === null) return false
  const others = Object.entries(other)
  const own = Object.entries(value)
  return own.length === others.length && own.every(([key, part], at) => key === others[at]?.[0] && isSame(part, others[at]?.[1]))
}
