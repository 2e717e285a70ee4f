import { argumentsFault, parseArguments } from '../../../base/json/call-arguments.ts'
import type { ToolCallSlot } from './slots.ts'

/** Reads the arguments of a call that gets no more of them. `mayBeEmpty`: a call without any text has none. `hasStray`: there is text that may be its own. */
export function parseCall(slot: ToolCallSlot, mayBeEmpty: boolean, hasStray: boolean): void {
  const raw = slot.whole ?? slot.raw
  const parsed = parseArguments(raw.trim() === '' && mayBeEmpty ? '{}' : raw)
  const isCut = slot.isCut === true || hasStray
  if (isCut) slot.block.isCut = true
  if (isCut || parsed.fault !== undefined) slot.block.invalidArguments = raw
  else slot.block.arguments = parsed.arguments
}

/**
 * Arguments off the wire as text: services also send the value itself, or a piece of it. Empty for nothing. What JSON would write as something
 * else (`1e400`, `-0`), or not at all, becomes text that is none: no call runs with it.
 */
export function textOfArguments(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  const fault = argumentsFault(value)
  return fault === undefined ? JSON.stringify(value) : `(${fault})`
}
